//! Rows by their numbers, in any order: read forwards, a batch at a time, and permuted.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, RecordBatch};
use arrow::buffer::BooleanBuffer;
use arrow::compute::{cast, interleave};
use arrow::datatypes::DataType;
use arrow::error::ArrowError;
use parquet::errors::ParquetError;

use crate::StorageFailure;
use crate::batches::{RowBatches, split_by_weight};
use crate::decode::{FileSource, Projection, RowRange};

/// Reads rows by their numbers.
pub(super) struct NumberedRows {
    batches: RowBatches,
}

impl NumberedRows {
    /// Reader of the columns of `projection`, for about `rows` rows in all.
    pub(super) fn new(source: FileSource, projection: Projection, rows: u64) -> Self {
        Self { batches: RowBatches::new(source, projection, rows) }
    }

    /// Returns true where the store is local.
    pub(super) fn is_local(&self) -> bool {
        self.batches.source().files.is_local()
    }

    /// Rows that are read at once.
    pub(super) fn batch_rows(&self) -> usize {
        self.batches.batch_rows()
    }

    /// The rows `numbers`, each of which comes once, in this order: one batch, in slices.
    pub(super) async fn read(&self, numbers: &[u64]) -> Result<Vec<RecordBatch>, StorageFailure> {
        let mut ascending = numbers.to_vec();
        ascending.sort_unstable();
        let source = self.batches.source();
        let (mut read, mut rows) = (Vec::new(), 0);
        let mut rest = ascending.as_slice();
        let mut group = 0;
        while let Some(&first) = rest.first() {
            group = source.parquet.group_of(first);
            let start = source.parquet.start(group);
            let here = rest.partition_point(|&row| row < source.parquet.start(group + 1));
            let (of_group, behind) = rest.split_at(here.max(1));
            let batches = self.batches.read(row_range(group, start, of_group)).await?;
            rows += batches.iter().map(RecordBatch::num_rows).sum::<usize>();
            read.extend(batches);
            rest = behind;
        }
        if rows != numbers.len() {
            let why = format!("{} rows are wanted of it, and {rows} are there", numbers.len());
            return Err(StorageFailure::damaged(&source.parquet.key, why));
        }
        let places: Vec<usize> = numbers
            .iter()
            .map(|number| ascending.partition_point(|other| other < number))
            .collect();
        let job = move || Ok::<_, ParquetError>(split_by_weight(permute(&read, &places)?));
        source.run_on_worker(group, job).await
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

/// The rows at `places` of `batches`, one behind the other. Dictionaries hold the values of these
/// rows in the order in which they first come, so what is made depends on the rows alone.
fn permute(batches: &[RecordBatch], places: &[usize]) -> Result<RecordBatch, ArrowError> {
    let Some(schema) = batches.first().map(RecordBatch::schema) else {
        return Err(ArrowError::InvalidArgumentError("no row is wanted".to_owned()));
    };
    let mut starts = Vec::with_capacity(batches.len());
    let mut start = 0;
    for batch in batches {
        starts.push(start);
        start += batch.num_rows();
    }
    let place = |&place: &usize| {
        let batch = starts.partition_point(|&start| start <= place).saturating_sub(1);
        (batch, place - starts.get(batch).copied().unwrap_or(0))
    };
    let places: Vec<(usize, usize)> = places.iter().map(place).collect();
    let column = |index: usize| -> Result<ArrayRef, ArrowError> {
        let plain = |batch: &RecordBatch| match batch.column(index).data_type() {
            DataType::Dictionary(_, values) => cast(batch.column(index), values),
            _ => Ok(Arc::clone(batch.column(index))),
        };
        let parts = batches.iter().map(plain).collect::<Result<Vec<_>, _>>()?;
        let parts: Vec<&dyn Array> = parts.iter().map(|part| &**part).collect();
        cast(&interleave(&parts, &places)?, schema.field(index).data_type())
    };
    let columns = (0..schema.fields().len()).map(column).collect::<Result<Vec<_>, _>>()?;
    RecordBatch::try_new(schema, columns)
}
