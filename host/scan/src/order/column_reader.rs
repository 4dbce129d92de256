//! Some columns of some rows, folded batch by batch.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::DataType;
use arrow::error::ArrowError;
use parquet::arrow::ProjectionMask;
use parquet::errors::ParquetError;
use parquet::file::metadata::RowGroupMetaData;

use crate::StorageFailure;
use crate::decode::{FileSource, ParquetFile, RowRange};

/// Rows decoded at a time at most.
const BATCH_ROWS: usize = 8192;

/// Bytes decoded at a time, by the averages of a row group, or one row.
const BATCH_BYTES: u64 = 4 << 20;

/// Bytes of a key that a value takes beside its text.
const FIXED_BYTES: i64 = 9;

/// Columns of a file that are read for what they say of a row.
#[derive(Clone)]
pub(super) struct ColumnReader {
    /// Columns of the file, ascending.
    leaves: Arc<[usize]>,
}

impl ColumnReader {
    /// Reader of `columns` of the file; of its first one where there are none, for the number of
    /// rows.
    pub(super) fn new(columns: impl Iterator<Item = usize>) -> Self {
        let mut leaves: Vec<usize> = columns.collect();
        leaves.sort_unstable();
        leaves.dedup();
        if leaves.is_empty() {
            leaves.push(0);
        }
        Self { leaves: leaves.into() }
    }

    /// Columns of the file that are read.
    pub(super) fn leaves(&self) -> &[usize] {
        &self.leaves
    }

    /// Bytes of a row of these columns as a key, by the averages of the file.
    pub(super) fn mean_bytes(&self, parquet: &ParquetFile) -> u64 {
        let groups = parquet.metadata.row_groups().iter().map(|group| self.group_bytes(group));
        groups.fold(0, u64::saturating_add).div_ceil(parquet.rows().max(1))
    }

    /// Bytes of the rows of `group` as keys.
    fn group_bytes(&self, group: &RowGroupMetaData) -> u64 {
        let chunk = |leaf: &usize| {
            let text = group.column(*leaf).unencoded_byte_array_data_bytes();
            let bytes = text.map_or(0, |bytes| bytes.saturating_add(bytes / 16));
            let fixed = group.num_rows().saturating_mul(FIXED_BYTES);
            u64::try_from(bytes.saturating_add(fixed)).unwrap_or(0)
        };
        self.leaves.iter().map(chunk).fold(0, u64::saturating_add)
    }

    /// Rows of `group` that are decoded at a time.
    fn batch_rows(&self, group: &RowGroupMetaData) -> usize {
        let rows = u64::try_from(group.num_rows()).unwrap_or(0);
        let fit = BATCH_BYTES.saturating_mul(rows) / self.group_bytes(group).max(1);
        usize::try_from(fit).unwrap_or(BATCH_ROWS).clamp(1, BATCH_ROWS)
    }

    /// Place of column `leaf` of the file in the batches.
    pub(super) fn place(&self, leaf: usize) -> usize {
        self.leaves.partition_point(|&other| other < leaf)
    }

    /// The type in which column `leaf` of the file arrives.
    pub(super) fn data_type(parquet: &ParquetFile, leaf: usize) -> DataType {
        let fields = parquet.filter.schema().fields();
        fields.get(leaf).map_or(DataType::Null, |field| field.data_type().clone())
    }

    /// Folds the wanted rows of `range` into `state`, on a worker.
    pub(super) async fn fold<S: Send + 'static>(
        &self,
        source: &FileSource,
        range: RowRange,
        mut state: S,
        step: impl Fn(S, &RecordBatch) -> Result<S, ArrowError> + Clone + Send + 'static,
    ) -> Result<S, StorageFailure> {
        let parquet = &source.parquet;
        let (group, schema) = (range.group, parquet.metadata.file_metadata().schema_descr());
        let wanted = range.wanted.as_ref().map_or(range.rows.len(), |rows| rows.count_set_bits());
        let mask = ProjectionMask::leaves(schema, self.leaves.iter().copied());
        let rows = self.batch_rows(parquet.metadata.row_group(group));
        let Some(mut reader) = source.reader(&parquet.filter, mask, range, rows).await? else {
            return Ok(state);
        };
        let mut seen = 0;
        while seen < wanted {
            let step = step.clone();
            let fold = move |batch: RecordBatch| {
                Ok::<_, ParquetError>((step(state, &batch)?, batch.num_rows()))
            };
            let Some((rest, (folded, rows))) = source.batch(group, reader, fold).await? else {
                let why = format!("row group {group} has fewer rows than the footer says");
                return Err(StorageFailure::damaged(&parquet.key, why));
            };
            (reader, state, seen) = (rest, folded, seen + rows);
        }
        Ok(state)
    }
}
