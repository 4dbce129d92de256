//! Rows by their numbers, in any order: read forwards, some MiB at a time, and permuted batch by
//! batch.

use std::collections::VecDeque;
use std::ops::Range;

use arrow::array::{Array, ArrayRef, RecordBatch, UInt64Array};
use arrow::buffer::BooleanBuffer;
use arrow::compute::{cast, concat, take};
use arrow::datatypes::{DataType, SchemaRef};
use arrow::error::ArrowError;
use parquet::errors::ParquetError;

use super::budget::{SelectionBudget, SelectionPermit};
use crate::StorageFailure;
use crate::batches::{RowBatches, cut_by_weight};
use crate::decode::{FileSource, Projection, RowRange};

/// Bytes of rows that are read before the first of them is sent, or one row. Rows in another order
/// lie anywhere in the file, which is read once for so many.
const READ_BYTES: u64 = 16 << 20;

/// Reads rows by their numbers.
pub(super) struct NumberedRows {
    batches: RowBatches,
    budget: SelectionBudget,
    /// Rows of the batch that was begun and not read to its end, since its rows are large.
    begun: usize,
}

/// Rows that were read, and how they are sent.
pub(super) struct ReadRows {
    /// One of their row groups.
    group: usize,
    /// In the order of the file.
    rows: RecordBatch,
    /// Places in `rows`, a batch each.
    batches: VecDeque<UInt64Array>,
    /// None for rows of one batch.
    _room: Option<SelectionPermit>,
}

impl NumberedRows {
    /// Reader of the columns of `projection`, for about `rows` rows in all.
    pub(super) fn new(
        source: FileSource,
        projection: Projection,
        rows: u64,
        budget: &SelectionBudget,
    ) -> Self {
        let batches = RowBatches::new(source, projection, rows);
        Self { batches, budget: budget.clone(), begun: 0 }
    }

    /// Returns true where the store is local.
    pub(super) fn is_local(&self) -> bool {
        self.batches.source().files.is_local()
    }

    /// Schema of rows with their numbers; `None` if those are not sent.
    pub(super) fn numbered_schema(&self) -> Option<SchemaRef> {
        self.batches.numbered_schema()
    }

    /// The failure of a file whose rows cannot be numbered.
    pub(super) fn damaged(&self, error: &ArrowError) -> StorageFailure {
        StorageFailure::damaged(&self.batches.source().parquet.key, error.to_string())
    }

    /// Reads the first rows of `block`, whose numbers each come once, and takes them off it. Where
    /// a batch of them ends is decided by the rows, whatever is read at once.
    pub(super) async fn read(
        &mut self,
        block: &mut VecDeque<u64>,
    ) -> Result<ReadRows, StorageFailure> {
        let of_batch = self.batches.batch_rows();
        let batch = if self.begun > 0 { self.begun } else { of_batch }.min(block.len());
        let room = if self.begun > 0 { None } else { self.spare_room(block.len()) };
        let mut rows = room.as_ref().map_or(batch, |(rows, _)| *rows);
        loop {
            let numbers: Vec<u64> = block.iter().take(rows).copied().collect();
            if let Some((group, read)) = self.read_forwards(&numbers).await? {
                block.drain(..rows);
                self.begun = batch.saturating_sub(rows);
                let room = room.filter(|_| rows > batch).map(|(_, room)| room);
                return self.arrange(group, read, numbers, room).await;
            }
            rows = if rows > batch { (rows / 2 / of_batch).max(1) * of_batch } else { rows / 2 };
        }
    }

    /// Room for more than one batch of `left` rows, and rows of whole batches that it is enough
    /// for.
    fn spare_room(&self, left: usize) -> Option<(usize, SelectionPermit)> {
        let of_batch = self.batches.batch_rows();
        let fit = READ_BYTES / self.batches.row_bytes().max(1);
        let rows = usize::try_from(fit).unwrap_or(usize::MAX) / of_batch * of_batch;
        let rows = rows.min(left);
        let room = (rows > of_batch).then(|| self.budget.take_spare(READ_BYTES))??;
        Some((rows, room))
    }

    /// Reads rows in the order of the file; `None` where they are several and too large.
    async fn read_forwards(
        &self,
        numbers: &[u64],
    ) -> Result<Option<(usize, Vec<RecordBatch>)>, StorageFailure> {
        let mut ascending = numbers.to_vec();
        ascending.sort_unstable();
        let source = self.batches.source();
        let mut read = Vec::new();
        let mut rest = ascending.as_slice();
        let mut group = 0;
        let mut room = if numbers.len() > 1 { READ_BYTES } else { u64::MAX };
        while let Some(&first) = rest.first() {
            group = source.parquet.group_of(first);
            let start = source.parquet.start(group);
            let here = rest.partition_point(|&row| row < source.parquet.start(group + 1));
            let (of_group, behind) = rest.split_at(here.max(1));
            let range = row_range(group, start, of_group);
            let Some(batches) = self.batches.read(range, &mut room).await? else {
                return Ok(None);
            };
            read.extend(batches);
            rest = behind;
        }
        Ok(Some((group, read)))
    }

    /// Batches of the rows `numbers`, which were read.
    async fn arrange(
        &self,
        group: usize,
        read: Vec<RecordBatch>,
        numbers: Vec<u64>,
        room: Option<SelectionPermit>,
    ) -> Result<ReadRows, StorageFailure> {
        let source = self.batches.source();
        let rows: usize = read.iter().map(RecordBatch::num_rows).sum();
        if rows != numbers.len() {
            let why = format!("{} rows are wanted of it, and {rows} are there", numbers.len());
            return Err(StorageFailure::damaged(&source.parquet.key, why));
        }
        let of_batch = self.batches.batch_rows();
        let job = move || {
            let rows = join(read)?;
            let mut ascending = numbers.clone();
            ascending.sort_unstable();
            let place = |number: &u64| ascending.partition_point(|other| other < number);
            let places: Vec<usize> = numbers.iter().map(place).collect();
            let mut batches = VecDeque::new();
            let mut start = 0;
            for end in cut_by_weight(&rows, &places, of_batch) {
                let places = places.get(start..end).unwrap_or_default();
                batches.push_back(places.iter().map(|place| *place as u64).collect());
                start = end;
            }
            Ok::<_, ParquetError>(ReadRows { group, rows, batches, _room: room })
        };
        source.run_on_worker(group, job).await
    }

    /// The next batch of rows that were read; `None` at their end.
    pub(super) async fn next_batch(
        &self,
        read: &mut ReadRows,
    ) -> Result<Option<RecordBatch>, StorageFailure> {
        let Some(places) = read.batches.pop_front() else { return Ok(None) };
        let rows = read.rows.clone();
        let job = move || Ok::<_, ParquetError>(permute(&rows, &places)?);
        self.batches.source().run_on_worker(read.group, job).await.map(Some)
    }
}

/// The rows of a row group, which begins at row `start` of the file: `numbers`, ascending.
fn row_range(group: usize, start: u64, numbers: &[u64]) -> RowRange {
    let local = |row: &u64| usize::try_from(row.saturating_sub(start)).unwrap_or(usize::MAX);
    let rows = Range {
        start: numbers.first().map_or(0, local),
        end: numbers.last().map_or(0, |last| local(last) + 1),
    };
    let mut unseen = numbers.iter().map(local).peekable();
    let is_wanted = |index: usize| unseen.next_if_eq(&(rows.start + index)).is_some();
    let all = numbers.len() == rows.len();
    let wanted = (!all).then(|| BooleanBuffer::collect_bool(rows.len(), is_wanted));
    RowRange { group, rows, wanted }
}

/// The rows of `batches` as one batch, column by column, so that little is held twice.
fn join(batches: Vec<RecordBatch>) -> Result<RecordBatch, ArrowError> {
    let [first, _, ..] = batches.as_slice() else {
        let none = || ArrowError::InvalidArgumentError("no row is wanted".to_owned());
        return batches.into_iter().next().ok_or_else(none);
    };
    let schema = first.schema();
    let columns = |batch: RecordBatch| batch.into_parts().1.into_iter();
    let mut parts: Vec<_> = batches.into_iter().map(columns).collect();
    let column = |_: usize| {
        let parts: Vec<ArrayRef> = parts.iter_mut().filter_map(Iterator::next).collect();
        concat(&parts.iter().map(|part| &**part as &dyn Array).collect::<Vec<_>>())
    };
    let columns = (0..schema.fields().len()).map(column).collect::<Result<Vec<_>, _>>()?;
    RecordBatch::try_new(schema, columns)
}

/// The rows at `places` of `rows`. Dictionaries hold the values of these rows in the order in which
/// they first come, so what is made depends on the rows alone.
fn permute(rows: &RecordBatch, places: &UInt64Array) -> Result<RecordBatch, ArrowError> {
    let column = |column: &ArrayRef| -> Result<ArrayRef, ArrowError> {
        let wanted = take(column, places, None)?;
        match column.data_type() {
            DataType::Dictionary(_, values) => cast(&cast(&wanted, values)?, column.data_type()),
            _ => Ok(wanted),
        }
    };
    let columns = rows.columns().iter().map(column).collect::<Result<Vec<_>, _>>()?;
    RecordBatch::try_new(rows.schema(), columns)
}
