//! Rows of a step taken from columns that are kept: nothing is decoded for them.

use arrow::array::{RecordBatch, UInt32Array};
use arrow::datatypes::DataType;

use super::batching::split_by_weight;
use super::compact_dictionary::canonical_column;
use super::read_task::{RowFilter, ScanContext};
use crate::StorageFailure;
use crate::decode::{KeptColumn, RowRange, take_rows};
use crate::filter::FoundRows;

/// Rows to be taken from columns that are kept.
pub(super) struct RowsToTake {
    /// In the order of the columns that are read.
    pub(super) columns: Vec<KeptColumn>,
    /// The wanted rows, counted within the row group.
    pub(super) places: UInt32Array,
}

impl ScanContext {
    /// Finds the wanted rows of a step, which fit a batch, in columns that are kept; `None` where
    /// these are not.
    pub(super) async fn kept_rows(
        &self,
        range: &RowRange,
    ) -> Result<Option<RowsToTake>, StorageFailure> {
        let Some(leaves) = self.kept_leaves() else { return Ok(None) };
        let columns = self.source.kept_columns(leaves, range).await?;
        Ok(columns.map(|columns| RowsToTake { columns, places: range.wanted_places() }))
    }

    /// The same of a few rows, where all of these columns are here; `None` where they may have to
    /// be read.
    pub(super) async fn few_kept_rows(&self, range: &RowRange, few: &[u64]) -> Option<RowsToTake> {
        let columns = self.source.columns_here(self.kept_leaves()?, range.group).await?;
        let place = |row| u32::try_from(range.rows.start + row).unwrap_or(u32::MAX);
        let places = self.places_in(range, few).map(place).collect();
        Some(RowsToTake { columns, places })
    }

    /// Columns of the file that are read; `None` where rows cannot be taken of what is kept.
    fn kept_leaves(&self) -> Option<&[usize]> {
        let leaves = &self.projection.leaves;
        self.source.is_kept_as_read(leaves).then_some(leaves)
    }

    /// Takes rows from columns that are kept. The batches are those of [`Self::decode`].
    pub(super) fn take_rows(
        &self,
        group: usize,
        kept: &RowsToTake,
    ) -> Result<Vec<RecordBatch>, StorageFailure> {
        let RowsToTake { columns, places } = kept;
        let fields = self.source.parquet.output.schema().fields();
        let take = |(column, &leaf): (&KeptColumn, &usize)| {
            let data_type = fields.get(leaf).map_or(&DataType::Null, |field| field.data_type());
            canonical_column(take_rows(&column.rows, places, data_type)?)
        };
        let columns = columns.iter().zip(&self.projection.leaves).map(take);
        let batches = columns
            .collect::<Result<Vec<_>, _>>()
            .and_then(|columns| self.projection.arrange(&columns, places.len()));
        let batch = batches.map_err(|error| {
            let why = format!("row group {group}: {error}");
            StorageFailure::damaged(&self.source.parquet.key, why)
        })?;
        Ok(split_by_weight(batch))
    }

    /// Places in `range` of rows by their numbers.
    pub(super) fn places_in(&self, range: &RowRange, rows: &[u64]) -> impl Iterator<Item = usize> {
        let start = self.source.parquet.start(range.group) + range.rows.start as u64;
        rows.iter().map(move |row| usize::try_from(row - start).unwrap_or(usize::MAX))
    }

    /// Numbers of the matches in `range`, where few are known.
    pub(super) fn few(&self, range: &RowRange) -> Option<&[u64]> {
        let RowFilter::Selection(FoundRows::Few(rows)) = &self.filter else { return None };
        let start = self.source.parquet.start(range.group);
        let [first, behind] = [range.rows.start, range.rows.end].map(|row| {
            let row = start + row as u64;
            rows.partition_point(|number| *number < row)
        });
        rows.get(first..behind)
    }
}
