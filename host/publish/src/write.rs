//! The stored form of a snapshot: one Parquet file, a pure function of the ordered table and its
//! words. The same input makes the same bytes: no clock, no randomness.

mod writer_properties;

use std::collections::BTreeMap;
use std::fs::File;
use std::sync::Arc;

use arrow::array::{Array as _, ArrayRef, MutableArrayData, RecordBatch, make_array};
use arrow::datatypes::SchemaRef;
use bytes::buf::Reader;
use bytes::{Buf as _, Bytes};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::{
    ArrowColumnWriter, ArrowRowGroupWriterFactory, ArrowWriterOptions, compute_leaves,
};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::reader::{ChunkReader, Length};
use parquet::file::writer::SerializedFileWriter;
use yearbook_domain::Column;
use yearbook_scan::StoredGroup;
use yearbook_scan::schema::stored_schema;

use writer_properties::PAGE_ROWS;

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
    writer: SerializedFileWriter<File>,
    groups: ArrowRowGroupWriterFactory,
    schema: SchemaRef,
    /// Columns of the row group in progress; none between two.
    group: Vec<ArrowColumnWriter>,
    /// Rows of it that were written.
    group_rows: usize,
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
        let (writer, groups) = writer.into_serialized_writer()?;
        Ok(Self { writer, groups, schema, group: Vec::new(), group_rows: 0 })
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
        if self.group.is_empty() {
            self.group =
                self.groups.create_column_writers(self.writer.flushed_row_groups().len())?;
        }
        // The writer looks whether a page is full some rows at a time, from the first that it is
        // given on: a row group has the same pages only where what it is given ends with them.
        let mut passed = 0;
        while passed < rows.num_rows() {
            let room = PAGE_ROWS - self.group_rows % PAGE_ROWS;
            let page = rows.slice(passed, room.min(rows.num_rows() - passed));
            let mut columns = self.group.iter_mut();
            for (field, array) in self.schema.fields().iter().zip(page.columns()) {
                let array = without_empty_validity(array)?;
                for (leaf, column) in compute_leaves(field, &array)?.iter().zip(&mut columns) {
                    column.write(leaf)?;
                }
            }
            passed += page.num_rows();
            self.group_rows += page.num_rows();
        }
        if ends_group { self.end_group().map(Some) } else { Ok(None) }
    }

    /// Appends a row group of another file with the same columns as it is, but for the columns that
    /// were revised.
    pub(crate) fn copy(&mut self, copied: &CopiedGroup) -> Result<(), ParquetError> {
        let index = self.writer.flushed_row_groups().len();
        let encoders = self.groups.create_column_writers(index)?;
        let mut group = self.writer.next_row_group()?;
        let fields = self.schema.fields().iter();
        let columns = copied.group.columns()?.into_iter().zip(encoders).zip(fields).enumerate();
        for (position, ((stored, mut encoder), field)) in columns {
            if let Some((start, bytes, column)) = stored {
                group.append_column(&PlacedBytes { start, bytes }, column)?;
                continue;
            }
            let revised = copied.revised.get(&position);
            for leaf in revised.map_or(Ok(Vec::new()), |values| compute_leaves(field, values))? {
                encoder.write(&leaf)?;
            }
            encoder.close()?.append_to_row_group(&mut group)?;
        }
        group.close().map(drop)
    }

    /// Adds words to the footer that are not known before the rows.
    pub(crate) fn add_words(&mut self, key: &str, words: String) {
        self.writer.append_key_value_metadata(KeyValue::new(key.to_owned(), words));
    }

    /// Writes the footer.
    pub(crate) fn finish(mut self) -> Result<(), ParquetError> {
        if !self.group.is_empty() {
            self.end_group()?;
        }
        self.writer.close().map(drop)
    }

    fn end_group(&mut self) -> Result<u64, ParquetError> {
        self.group_rows = 0;
        let mut written = self.writer.next_row_group()?;
        for column in self.group.drain(..) {
            column.close()?.append_to_row_group(&mut written)?;
        }
        Ok(u64::try_from(written.close()?.compressed_size()).unwrap_or(0))
    }
}

/// `array` without a validity buffer that marks no null, which a part of an array with nulls has:
/// the writer ends pages of such an array elsewhere than those of one that never had any.
fn without_empty_validity(array: &ArrayRef) -> Result<ArrayRef, ParquetError> {
    let is_empty = array.nulls().is_some_and(|nulls| nulls.null_count() == 0);
    if !is_empty {
        return Ok(Arc::clone(array));
    }
    let values = array.to_data();
    let mut copied = MutableArrayData::new(vec![&values], false, values.len());
    copied.try_extend(0, 0, values.len())?;
    Ok(make_array(copied.freeze()))
}

/// A row group that another file has encoded.
pub(crate) struct CopiedGroup {
    /// Its columns, but for those that were revised.
    pub(crate) group: StoredGroup,
    /// All values of the columns that were, by position.
    pub(crate) revised: BTreeMap<usize, ArrayRef>,
}

/// Bytes of a file from a place in it on.
struct PlacedBytes<'a> {
    start: u64,
    bytes: &'a Bytes,
}

impl PlacedBytes<'_> {
    fn rest(&self, start: u64) -> Result<Bytes, ParquetError> {
        let skipped =
            start.checked_sub(self.start).and_then(|skipped| usize::try_from(skipped).ok());
        let skipped = skipped.filter(|skipped| *skipped <= self.bytes.len());
        let skipped = skipped.ok_or_else(|| ParquetError::EOF(format!("no byte {start}")))?;
        Ok(self.bytes.slice(skipped..))
    }
}

impl Length for PlacedBytes<'_> {
    fn len(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }
}

impl ChunkReader for PlacedBytes<'_> {
    type T = Reader<Bytes>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        Ok(self.rest(start)?.reader())
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        let bytes = self.rest(start)?;
        let end = || ParquetError::EOF(format!("no {length} bytes behind byte {start}"));
        (length <= bytes.len()).then(|| bytes.slice(..length)).ok_or_else(end)
    }
}

#[cfg(test)]
mod tests;
