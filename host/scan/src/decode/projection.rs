//! Columns of a file that are read, and their way into batches of the output schema.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use parquet::arrow::ProjectionMask;

use super::footer::ParquetFile;
use crate::StorageFailure;

/// Columns of a file that are read, and their order in batches of the output schema.
pub(crate) struct Projection {
    /// Schema of the batches, in the order asked for.
    pub(crate) schema: SchemaRef,
    /// The same with numbers of rows behind it, where they are sent.
    pub(crate) numbered: Option<SchemaRef>,
    /// Columns of the file that are read, ascending.
    pub(crate) leaves: Vec<usize>,
    /// For each output column, its place among `leaves`.
    order: Vec<usize>,
}

impl Projection {
    /// Columns of `opened` by their position in its snapshot.
    pub(crate) fn new(
        parquet: &ParquetFile,
        columns: &[usize],
        schema: SchemaRef,
    ) -> Result<Self, StorageFailure> {
        let wanted = columns
            .iter()
            .map(|&column| parquet.column_index(column))
            .collect::<Result<Vec<_>, _>>()?;
        let mut leaves = wanted.clone();
        leaves.sort_unstable();
        leaves.dedup();
        let order =
            wanted.iter().map(|leaf| leaves.partition_point(|other| other < leaf)).collect();
        Ok(Self { schema, numbered: None, leaves, order })
    }

    /// The same with numbers of rows, where `numbered` is the schema with them.
    pub(crate) fn with_numbers(self, numbered: Option<SchemaRef>) -> Self {
        Self { numbered, ..self }
    }

    /// Schema of the batches of a scan.
    pub(crate) fn sent_schema(&self) -> SchemaRef {
        Arc::clone(self.numbered.as_ref().unwrap_or(&self.schema))
    }

    /// The same as the decoder wants it.
    pub(crate) fn mask(&self, parquet: &ParquetFile) -> ProjectionMask {
        ProjectionMask::leaves(
            parquet.metadata.file_metadata().schema_descr(),
            self.leaves.iter().copied(),
        )
    }

    /// `columns`, which are in the order of [`Projection::leaves`], in output order.
    pub(crate) fn in_order<'a, T>(&self, columns: &'a [T]) -> impl Iterator<Item = &'a T> {
        self.order.iter().filter_map(|&index| columns.get(index))
    }

    /// A batch in output order and schema of decoded `columns`, which are in the order of
    /// [`Projection::leaves`]. Fails where the file holds a null that the catalog denies.
    pub(crate) fn arrange(
        &self,
        columns: &[ArrayRef],
        rows: usize,
    ) -> Result<RecordBatch, ArrowError> {
        let columns = self.in_order(columns).cloned().collect();
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &options)
    }
}
