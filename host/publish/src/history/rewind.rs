//! Changes taken back: rows of a version in their order, where what came since is left out and what
//! went is put back in its place. Versions have the same columns and the same order, in which no
//! two rows of one version are alike.

use std::collections::VecDeque;
use std::sync::Arc;

use arrow::array::{AsArray as _, RecordBatch, UInt32Array, UInt64Array};
use arrow::compute::kernels::cmp::not_distinct;
use arrow::compute::{interleave_record_batch, take_record_batch};
use arrow::datatypes::{DataType, Field, Schema};
use arrow::error::ArrowError;
use arrow::row::Rows;
use yearbook_domain::Column;
use yearbook_domain::changes::HistorySegment;
use yearbook_scan::Reader;
use yearbook_scan::schema::unchecked_schema;
use yearbook_sort::{
    BlockLimits, ExternalSorter, KeyEncoder, OrderedReader, SortError, SortedRows,
};
use yearbook_workers::Workers;

use super::STAGE;
use super::events::{Event, read_changes};
use crate::error::PublishError;
use crate::publish::stages::{run_on_worker, sort_error};

/// Column behind those of the rows: what happened to it. No stored column has such a name.
const EVENT: &str = "#event";

/// Blocks of changes that are looked at before it is known what becomes of them.
const MAX_AHEAD: usize = 4;

/// Everything that changed in a segment, in the order of the table, what happened first to a row
/// first.
pub(super) struct SegmentChanges {
    rows: SortedRows,
    /// Positions of the columns by which the table is sorted.
    order: Vec<usize>,
}

impl SegmentChanges {
    /// Reads the changes of `segment` to rows with `columns`, which are sorted by those in the
    /// positions `order`, within `budget` bytes.
    pub(super) async fn read(
        workers: &Arc<Workers>,
        reader: &Reader,
        (columns, order): (&[Column], Vec<usize>),
        segment: &HistorySegment,
        budget: usize,
    ) -> Result<Self, PublishError> {
        let fields = unchecked_schema(columns).fields().iter().cloned().collect::<Vec<_>>();
        let width = fields.len();
        let event = Arc::new(Field::new(EVENT, DataType::UInt64, false));
        let schema = Arc::new(Schema::new([fields, vec![event]].concat()));
        let sorted_by = [order.as_slice(), &[width]].concat();
        let sorter = ExternalSorter::new(Arc::clone(&schema), &sorted_by, budget);
        let mut sorter = sorter.map_err(sort_error(STAGE))?;
        let take = move |sorter: &mut ExternalSorter, rows: &RecordBatch, events: &[Event]| {
            let columns = [rows.columns(), &[Event::encode_all(events)]].concat();
            sorter.add(RecordBatch::try_new(Arc::clone(&schema), columns)?)
        };
        sorter = read_changes(workers, reader, columns, segment, sorter, take).await?;
        let rows = run_on_worker(workers, STAGE, move || sorter.finish()).await?;
        Ok(Self { rows: rows.map_err(sort_error(STAGE))?, order })
    }

    /// Positions of the columns by which the table is sorted.
    pub(super) fn order(&self) -> &[usize] {
        &self.order
    }
}

/// Merge of rows in order with what changed of them since.
pub(super) struct Rewinder {
    keys: KeyEncoder,
    changes: OrderedReader,
    /// The block at hand, and those behind it that were looked at.
    blocks: VecDeque<ChangedRows>,
    /// Key of the row whose changes were looked at last.
    done: Vec<u8>,
}

/// Rows that only were revised.
pub(super) struct RevisedRows {
    /// The rows as they were, in the order of the table.
    pub(super) rows: RecordBatch,
    /// Positions of the columns that were revised.
    pub(super) columns: Vec<usize>,
}

/// A block of changes.
struct ChangedRows {
    rows: RecordBatch,
    events: UInt64Array,
    keys: Rows,
    next: usize,
    /// Place among the sources of the rows being put together.
    source: Option<usize>,
}

impl Rewinder {
    /// Begins before the first row.
    pub(super) fn new(changes: &SegmentChanges) -> Result<Self, SortError> {
        let rows = &changes.rows;
        let all = (0..rows.schema().fields().len()).collect();
        Ok(Self {
            keys: KeyEncoder::new(rows.schema(), &changes.order)?,
            changes: rows.read(all, BlockLimits::FILE)?,
            blocks: VecDeque::new(),
            done: Vec::new(),
        })
    }

    /// The next rows of the newer version, as they were in the older one.
    pub(super) fn rewind(&mut self, rows: &RecordBatch) -> Result<RecordBatch, SortError> {
        let Some(last) = rows.num_rows().checked_sub(1) else { return Ok(rows.clone()) };
        let last = encode(&self.keys, &rows.slice(last, 1))?;
        let last = last.row(0);
        if self.next_change()?.is_none_or(|change| change.keys.row(change.next) > last) {
            return Ok(rows.clone());
        }
        let own = encode(&self.keys, rows)?;
        let mut sources = vec![rows.clone()];
        let mut places = Vec::with_capacity(rows.num_rows());
        let mut row = 0;
        if let Some(block) = self.blocks.front_mut() {
            block.source = None;
        }
        while let Some(change) = self.next_change()?
            && change.keys.row(change.next) <= last
        {
            let key = change.keys.row(change.next);
            while row < own.num_rows() && own.row(row) < key {
                places.push((0, row));
                row += 1;
            }
            // It came since, or has come back.
            row += usize::from(row < own.num_rows() && own.row(row) == key);
            if change.was_there() {
                let source = *change.source.get_or_insert_with(|| {
                    sources.push(change.rows.clone());
                    sources.len() - 1
                });
                places.push((source, change.next));
            }
            self.finish_change();
        }
        places.extend((row..own.num_rows()).map(|row| (0, row)));
        Ok(interleave_record_batch(&sources.iter().collect::<Vec<_>>(), &places)?)
    }

    /// Behind the last row of the newer version: some of the rows that went; `None` at their end.
    pub(super) fn next_rest(&mut self) -> Result<Option<RecordBatch>, SortError> {
        let mut went: Option<(RecordBatch, Vec<u32>)> = None;
        while let Some(change) = self.next_change()? {
            if change.was_there() {
                // At the end of a block there is enough.
                if went.is_some() && change.source.is_none() {
                    break;
                }
                change.source = Some(0);
                let (_, places) = went.get_or_insert_with(|| (change.rows.clone(), Vec::new()));
                places.push(u32::try_from(change.next).unwrap_or(u32::MAX));
            }
            self.finish_change();
        }
        let Some((rows, places)) = went else { return Ok(None) };
        Ok(Some(take_record_batch(&rows, &UInt32Array::from(places))?))
    }

    /// Returns whether a row that changed comes up to the one with `key`, or at all.
    pub(super) fn has_change_until(&mut self, key: Option<&[u8]>) -> Result<bool, SortError> {
        let is_until = |change: &mut ChangedRows| {
            key.is_none_or(|key| change.keys.row(change.next).as_ref() <= key)
        };
        Ok(self.next_change()?.is_some_and(is_until))
    }

    /// Takes the rows that changed up to the one with `key`, where all of them were there all the
    /// time and only their numbers or truth values were others; `None`, and they stay, where they
    /// were not or are too many.
    pub(super) fn take_revised(&mut self, key: &[u8]) -> Result<Option<RevisedRows>, SortError> {
        let Some(first) = self.next_change()?.map(|change| change.next) else { return Ok(None) };
        // The first change of each row and the last, by block and row.
        let mut found: Vec<[(usize, usize); 2]> = Vec::new();
        let (mut block, mut row) = (0, first);
        loop {
            if block == self.blocks.len() {
                if block == MAX_AHEAD {
                    return Ok(None);
                }
                if !self.read_block()? {
                    break;
                }
            }
            let changed = &self.blocks[block];
            if row == changed.keys.num_rows() {
                (block, row) = (block + 1, 0);
                continue;
            }
            let at = changed.keys.row(row);
            if at.as_ref() > key {
                break;
            }
            match found.last_mut() {
                Some([(of, first), last]) if self.blocks[*of].keys.row(*first) == at => {
                    *last = (block, row);
                }
                _ => found.push([(block, row); 2]),
            }
            row += 1;
        }
        let event = |(block, row): (usize, usize)| self.blocks[block].event(row);
        let is_revised = |[first, last]: &[(usize, usize); 2]| {
            matches!((event(*first), event(*last)), (Event::Went(_), Event::Came(_)))
        };
        if !found.iter().all(is_revised) {
            return Ok(None);
        }
        let sources: Vec<&RecordBatch> = self.blocks.iter().map(|block| &block.rows).collect();
        let of = |which: usize| {
            let places: Vec<_> = found.iter().map(|places| places[which]).collect();
            interleave_record_batch(&sources, &places)
        };
        let (before, after) = (of(0)?, of(1)?);
        let Some(columns) = revised_columns(&before, &after)? else { return Ok(None) };
        while self.has_change_until(Some(key))? {
            self.finish_change();
        }
        Ok(Some(RevisedRows { rows: before, columns }))
    }

    /// The first change of the next row that changed.
    fn next_change(&mut self) -> Result<Option<&mut ChangedRows>, SortError> {
        loop {
            if let Some(block) = self.blocks.front_mut() {
                while block.next < block.keys.num_rows()
                    && block.keys.row(block.next).as_ref() == self.done
                {
                    block.next += 1;
                }
            }
            if self.blocks.front().is_some_and(|block| block.next < block.keys.num_rows()) {
                return Ok(self.blocks.front_mut());
            }
            self.blocks.pop_front();
            if self.blocks.is_empty() && !self.read_block()? {
                return Ok(None);
            }
        }
    }

    /// Reads one more block; returns false at the end.
    fn read_block(&mut self) -> Result<bool, SortError> {
        let Some(next) = self.changes.next_block()? else { return Ok(false) };
        self.blocks.push_back(ChangedRows::new(&next.rows, &self.keys)?);
        Ok(true)
    }

    /// Leaves out whatever else happened to the row that changed.
    fn finish_change(&mut self) {
        if let Some(block) = self.blocks.front() {
            self.done.clear();
            self.done.extend_from_slice(block.keys.row(block.next).as_ref());
        }
    }
}

impl ChangedRows {
    fn new(rows: &RecordBatch, keys: &KeyEncoder) -> Result<Self, SortError> {
        let columns = rows.num_columns().saturating_sub(1);
        let events = rows.columns().last().and_then(|events| events.as_primitive_opt());
        let none = || ArrowError::SchemaError("a change has no event".to_owned());
        let events = events.cloned().ok_or_else(none)?;
        let keys = encode(keys, rows)?;
        let rows = rows.project(&(0..columns).collect::<Vec<_>>())?;
        Ok(Self { rows, events, keys, next: 0, source: None })
    }

    /// Returns true where the row at hand was there before the first change.
    fn was_there(&self) -> bool {
        matches!(self.event(self.next), Event::Went(_))
    }

    fn event(&self, row: usize) -> Event {
        Event::decode(self.events.value(row))
    }
}

/// Columns in which two tables of the same rows differ; `None` where one of them has text, whose
/// lengths decide where row groups end.
fn revised_columns(
    before: &RecordBatch,
    after: &RecordBatch,
) -> Result<Option<Vec<usize>>, ArrowError> {
    let mut revised = Vec::new();
    for (position, (one, other)) in before.columns().iter().zip(after.columns()).enumerate() {
        if not_distinct(one, other)?.has_false() {
            if one.data_type() == &DataType::Utf8 {
                return Ok(None);
            }
            revised.push(position);
        }
    }
    Ok(Some(revised))
}

/// The keys of rows, which have some.
pub(super) fn encode(keys: &KeyEncoder, rows: &RecordBatch) -> Result<Rows, ArrowError> {
    let none = || ArrowError::SchemaError("a table without a key has no order".to_owned());
    keys.encode(rows)?.ok_or_else(none)
}
