//! Lives of rows, told from what happened to them. Equal rows cannot be told apart, so of several
//! the one that came last is taken to go first.

use arrow::array::{AsArray, PrimitiveArray, RecordBatch, UInt32Array};
use arrow::compute::{concat_batches, take_record_batch};
use arrow::datatypes::UInt64Type;
use arrow::error::ArrowError;
use yearbook_sort::{BlockLimits, SortError};

use super::dated_rows::{DatedRows, Life};
use super::events::{Event, NAMES, SortedEvents};
use crate::diff::fingerprints::join;

/// Blocking: tells every life of the rows of `events`, and returns where they went. `starts` are
/// the first versions of the segments, oldest first.
pub(super) fn tell_lives(events: SortedEvents, starts: Vec<u64>) -> Result<DatedRows, SortError> {
    let SortedEvents { rows, mut sink } = events;
    let width = rows.schema().fields().len();
    let columns: Vec<usize> = (0..width - NAMES.len()).collect();
    let mut reader = rows.read((0..width).collect(), BlockLimits::FILE)?;
    let mut group = EqualRows::new(starts);
    let mut hash: Option<u128> = None;
    // The last row of the block before, which may be told of once more.
    let mut carried: Option<RecordBatch> = None;
    while let Some(block) = reader.next_block()? {
        let numbers = |name: usize| -> Result<&PrimitiveArray<UInt64Type>, SortError> {
            let column = block.rows.columns().get(columns.len() + name);
            let found = column.and_then(|column| column.as_primitive_opt());
            found.ok_or_else(|| ArrowError::SchemaError("an event has no number".to_owned()).into())
        };
        let (high, low, happened) = (numbers(0)?, numbers(1)?, numbers(2)?);
        let rows = block.rows.project(&columns)?;
        // Row 0 is the last one of the block before.
        let before = carried.unwrap_or_else(|| rows.slice(0, 1));
        let table = concat_batches(&rows.schema(), [&before, &rows])?;
        let mut places = Vec::new();
        let mut lives = Vec::new();
        for (place, row) in (0_u32..).zip(0..rows.num_rows()) {
            let own = join(high.value(row), low.value(row));
            if hash.replace(own).is_some_and(|other| other != own) {
                group.end(&mut lives);
                places.resize(lives.len(), place);
            }
            group.take(Event::decode(happened.value(row)), &mut lives);
            places.resize(lives.len(), place + 1);
        }
        send(&mut sink, &table, places, &lives)?;
        carried = Some(rows.slice(rows.num_rows() - 1, 1));
    }
    if let Some(row) = carried {
        let mut lives = Vec::new();
        group.end(&mut lives);
        send(&mut sink, &row, vec![0; lives.len()], &lives)?;
    }
    Ok(sink)
}

fn send(
    sink: &mut DatedRows,
    table: &RecordBatch,
    places: Vec<u32>,
    lives: &[Life],
) -> Result<(), SortError> {
    if lives.is_empty() {
        return Ok(());
    }
    sink.take(&take_record_batch(table, &UInt32Array::from(places))?, lives)
}

/// Rows that are equal and there at some moment, by the version with which each came.
#[derive(Default)]
struct Open(Vec<(Option<u64>, u64)>);

impl Open {
    fn add(&mut self, from: Option<u64>) {
        match self.0.last_mut() {
            Some((last, count)) if *last == from => *count += 1,
            _ => self.0.push((from, 1)),
        }
    }

    fn take(&mut self) -> Option<Option<u64>> {
        let (from, count) = self.0.last_mut()?;
        let from = *from;
        *count -= 1;
        if *count == 0 {
            self.0.pop();
        }
        Some(from)
    }
}

/// Equal rows, followed through the versions.
struct EqualRows {
    starts: Vec<u64>,
    /// Position of the segment that is followed.
    segment: usize,
    /// Rows that were there at the end of the segment before, and of which nothing was heard since.
    carried: Open,
    /// Rows that came in this segment.
    came: Open,
    /// Rows that went with a version. Where others came with it, only columns changed that are not
    /// looked at, and nothing happened.
    going: Open,
    going_with: u64,
    /// Rows that were there at its end.
    ended: Open,
}

impl EqualRows {
    fn new(starts: Vec<u64>) -> Self {
        let (carried, came, going, ended) = Default::default();
        Self { starts, segment: 0, carried, came, going, going_with: 0, ended }
    }

    /// Hears of the next event.
    fn take(&mut self, event: Event, lives: &mut Vec<Life>) {
        let segment = match event {
            Event::Went(version) | Event::Ended(version) | Event::Came(version) => {
                self.starts.partition_point(|start| *start < version).saturating_sub(1)
            }
            Event::Lasts => self.starts.len().saturating_sub(1),
        };
        let version = match event {
            Event::Went(version) | Event::Came(version) => Some(version),
            Event::Ended(_) | Event::Lasts => None,
        };
        if version != Some(self.going_with) {
            self.drop_going(lives);
        }
        while self.segment < segment {
            self.next_segment(lives);
        }
        match event {
            Event::Went(version) => {
                let from = self.take_one();
                self.going.add(from);
                self.going_with = version;
            }
            Event::Came(version) => {
                let stayed = self.going.take();
                self.came.add(stayed.unwrap_or(Some(version)));
            }
            Event::Ended(_) => {
                let from = self.take_one();
                self.ended.add(from);
            }
            Event::Lasts => {
                let from = self.take_one();
                lives.push(Life { from, to: None });
            }
        }
    }

    /// Tells what is left, for other rows follow.
    fn end(&mut self, lives: &mut Vec<Life>) {
        self.drop_going(lives);
        while self.segment + 1 < self.starts.len() {
            self.next_segment(lives);
        }
        self.drop_carried(lives);
        (self.came, self.ended) = Default::default();
        self.segment = 0;
    }

    /// The version with which a row came that is there now.
    fn take_one(&mut self) -> Option<u64> {
        let known = self.came.take().or_else(|| self.carried.take());
        // Otherwise it was there when the segment began.
        known.unwrap_or_else(|| self.start().filter(|_| self.segment > 0))
    }

    fn next_segment(&mut self, lives: &mut Vec<Life>) {
        self.drop_carried(lives);
        self.carried = std::mem::take(&mut self.ended);
        self.came = Open::default();
        self.segment += 1;
    }

    fn drop_going(&mut self, lives: &mut Vec<Life>) {
        let to = Some(self.going_with);
        while let Some(from) = self.going.take() {
            lives.push(Life { from, to });
        }
    }

    /// Rows of the segment before that are not there in this one went when it began.
    fn drop_carried(&mut self, lives: &mut Vec<Life>) {
        let to = self.start();
        while let Some(from) = self.carried.take() {
            lives.push(Life { from, to });
        }
    }

    fn start(&self) -> Option<u64> {
        self.starts.get(self.segment).copied()
    }
}
