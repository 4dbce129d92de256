//! The rows of an old version as far as a newer one does not tell them: what rows that stayed were
//! before they were revised, and rows that went since. They have numbers, so none is looked for.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, RecordBatch, UInt64Array};
use arrow::compute::{interleave, take_record_batch};
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use yearbook_sort::{SortError, gather};

use super::row_map::RowMap;

/// The rows of an old version in a window.
pub(super) struct OldRows {
    /// Their numbers in the old version.
    pub(super) window: Range<u64>,
    /// Places of those that stayed in the newer version.
    pub(super) map: RowMap,
    /// Schema of the old version.
    pub(super) schema: SchemaRef,
    /// Positions of the columns of `revisions`.
    pub(super) revised: Vec<usize>,
    /// Rows as they were before their first revision.
    pub(super) revisions: Vec<OldRowBatch>,
    /// Rows that went, as they were when they went.
    pub(super) gone: Vec<OldRowBatch>,
}

/// Rows with their numbers in the old version, from the beginning of the window on, ascending.
pub(super) struct OldRowBatch {
    pub(super) numbers: Vec<u32>,
    rows: RecordBatch,
}

impl OldRowBatch {
    /// The rows in `places` of `rows`, with their numbers.
    pub(super) fn take(
        rows: &RecordBatch,
        places: impl IntoIterator<Item = usize>,
        numbers: Vec<u32>,
    ) -> Result<Self, ArrowError> {
        let places = UInt64Array::from_iter_values(places.into_iter().map(|place| place as u64));
        Ok(Self { numbers, rows: take_record_batch(rows, &places)? })
    }

    pub(super) fn bytes(&self) -> usize {
        self.numbers.len() * size_of::<u32>() + self.rows.get_array_memory_size()
    }

    /// Gives up the rows from number `end` on; returns whether some are left.
    pub(super) fn truncate(&mut self, end: u64) -> Result<bool, ArrowError> {
        let left = self.numbers.partition_point(|number| u64::from(*number) < end);
        if left < self.numbers.len() {
            self.numbers.truncate(left);
            *self = Self::take(&self.rows, 0..left, std::mem::take(&mut self.numbers))?;
        }
        Ok(left > 0)
    }

    /// Places of the rows with `numbers`.
    fn places(&self, numbers: &Range<u64>) -> Range<usize> {
        // Most of hundreds of these are elsewhere: a search reads memory that nothing else does.
        let ends = self.numbers.first().zip(self.numbers.last());
        if ends.is_none_or(|(first, last)| {
            u64::from(*first) >= numbers.end || u64::from(*last) < numbers.start
        }) {
            return 0..0;
        }
        let behind = |end| self.numbers.partition_point(|number| u64::from(*number) < end);
        behind(numbers.start)..behind(numbers.end)
    }
}

impl OldRows {
    /// Returns whether the newer version, of `rows` rows, and those that went make the window.
    pub(super) fn is_complete(&self, rows: u64) -> bool {
        let gone = self.gone.iter().map(|gone| gone.numbers.len() as u64);
        let stayed = self.map.runs().iter().map(|run| run.rows);
        gone.chain(stayed).sum::<u64>() == self.window.end - self.window.start
            && self.map.is_ordered(rows)
    }

    /// Returns whether one of the rows `numbers`, which stayed, was revised.
    pub(super) fn is_revised(&self, numbers: &Range<u64>) -> bool {
        let numbers = self.in_window(numbers);
        self.revisions.iter().any(|rows| !rows.places(&numbers).is_empty())
    }

    /// The rows `numbers` of the old version: those that went, and of the others those of the newer
    /// version, which stand in `newer` with the number of the first row there.
    pub(super) fn rows(
        &self,
        numbers: Range<u64>,
        newer: Option<(&RecordBatch, u64)>,
    ) -> Result<RecordBatch, SortError> {
        let mut sources = Vec::new();
        let mut places = vec![None; place(numbers.end - numbers.start)];
        if let Some((rows, first)) = newer {
            sources.push(rows.clone());
            let mut at = numbers.start;
            while let Some(run) = self.map.next_run(at).filter(|run| run.older < numbers.end) {
                at = numbers.end.min(run.older + run.rows);
                for (there, row) in (place(run.newer - first)..).zip(run.older..at) {
                    places[place(row - numbers.start)] = Some((0, there));
                }
            }
        }
        let wanted = self.in_window(&numbers);
        for gone in &self.gone {
            let found = gone.places(&wanted);
            if !found.is_empty() {
                for there in found {
                    let row = u64::from(gone.numbers[there]) - wanted.start;
                    places[place(row)] = Some((sources.len(), there));
                }
                sources.push(gone.rows.clone());
            }
        }
        let missing = || ArrowError::ComputeError("an old row is nowhere".to_owned());
        let places = places.into_iter().collect::<Option<Vec<_>>>().ok_or_else(missing)?;
        let mut columns = gather(&sources, &places)?.columns().to_vec();
        let now = self.revised.iter().map(|position| Arc::clone(&columns[*position])).collect();
        let then = self.revise(now, numbers.start)?;
        for (position, then) in self.revised.iter().zip(then) {
            columns[*position] = then;
        }
        Ok(RecordBatch::try_new(Arc::clone(&self.schema), columns)?)
    }

    /// The columns that were revised as they were, of rows that follow each other from number
    /// `first` on; `now` is what they have become.
    pub(super) fn revise(
        &self,
        now: Vec<ArrayRef>,
        first: u64,
    ) -> Result<Vec<ArrayRef>, ArrowError> {
        let rows = now.first().map_or(0, Array::len);
        let wanted = self.in_window(&(first..first + rows as u64));
        let revisions = self.revisions.iter().map(|rows| (rows, rows.places(&wanted)));
        let revisions: Vec<_> = revisions.filter(|(_, found)| !found.is_empty()).collect();
        if revisions.is_empty() {
            return Ok(now);
        }
        let mut places: Vec<(usize, usize)> = (0..rows).map(|row| (0, row)).collect();
        for (source, (revision, found)) in (1..).zip(&revisions) {
            for there in found.clone() {
                let row = u64::from(revision.numbers[there]) - wanted.start;
                places[place(row)] = (source, there);
            }
        }
        let columns = now.iter().enumerate().map(|(column, now)| {
            let then = revisions.iter().map(|(rows, _)| rows.rows.column(column).as_ref());
            let sources: Vec<&dyn Array> = std::iter::once(now.as_ref()).chain(then).collect();
            interleave(&sources, &places)
        });
        columns.collect()
    }

    /// Numbers from the beginning of the window on.
    fn in_window(&self, numbers: &Range<u64>) -> Range<u64> {
        numbers.start - self.window.start..numbers.end - self.window.start
    }
}

/// A number of rows as a place among them.
pub(super) fn place(rows: u64) -> usize {
    usize::try_from(rows).unwrap_or(usize::MAX)
}
