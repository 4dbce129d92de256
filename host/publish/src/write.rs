//! The stored form of a snapshot: one Parquet file, a pure function of the ordered table and its
//! words. The same input makes the same bytes: no clock, no randomness.

mod writer_properties;

use std::fs::File;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::errors::ParquetError;
use yearbook_domain::Column;
use yearbook_scan::schema::stored_schema;

/// Content of the file beside the rows.
pub(crate) struct SnapshotFileMetadata<'a> {
    /// With `few_values` decided.
    pub(crate) columns: &'a [Column],
    /// Positions of the columns by which rows are sorted.
    pub(crate) sorted_by: &'a [usize],
    /// Key-value metadata: the credit and the ids, so that they survive the file
    /// (contract-3-credit-in-files).
    pub(crate) words: Vec<(&'static str, String)>,
    /// Compression of its pages.
    pub(crate) compression: FileCompression,
}

/// Compression of a file, by how it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileCompression {
    /// Every request reads it: what decodes fastest.
    Fast,
    /// Few requests read it, and it is kept for long: what is smallest.
    Small,
}

/// A snapshot file being written.
pub(crate) struct SnapshotWriter {
    writer: ArrowWriter<File>,
    schema: SchemaRef,
}

impl SnapshotWriter {
    /// Starts the file.
    pub(crate) fn new(
        file: File,
        description: &SnapshotFileMetadata<'_>,
    ) -> Result<Self, ParquetError> {
        let schema = stored_schema(description.columns);
        let options = ArrowWriterOptions::new()
            .with_properties(writer_properties::writer_properties(description))
            // The types of Parquet say the same; it is a tenth of a file of a few changes.
            .with_skip_arrow_metadata(description.compression == FileCompression::Small);
        let writer = ArrowWriter::try_new_with_options(file, Arc::clone(&schema), options)?;
        Ok(Self { writer, schema })
    }

    /// Appends rows that have been checked; `ends_group` closes the row group behind them, and its
    /// bytes are returned.
    pub(crate) fn append(
        &mut self,
        rows: &RecordBatch,
        ends_group: bool,
    ) -> Result<Option<u64>, ParquetError> {
        // The rows were held as nullable until they had been checked; the file says what was found.
        let rows = RecordBatch::try_new(Arc::clone(&self.schema), rows.columns().to_vec())?;
        self.writer.write(&rows)?;
        if !ends_group {
            return Ok(None);
        }
        self.writer.flush()?;
        let group = self.writer.flushed_row_groups().last();
        Ok(group.and_then(|group| u64::try_from(group.compressed_size()).ok()))
    }

    /// Writes the footer.
    pub(crate) fn finish(self) -> Result<(), ParquetError> {
        self.writer.close().map(drop)
    }
}
