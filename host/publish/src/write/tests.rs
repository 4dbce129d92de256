//! Bytes of the file that do not follow from rows, columns and words alone.

#![expect(clippy::unwrap_used, reason = "a test ends where one of its steps fails")]

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, StringArray};
use arrow::buffer::NullBuffer;
use yearbook_domain::{Column, ColumnRole, ColumnType};
use yearbook_scan::schema::stored_schema;

use super::*;

/// The file of one nullable column of texts.
fn file_of(texts: &StringArray) -> Vec<u8> {
    let columns = [Column::new("note", ColumnType::String, ColumnRole::Dimension)];
    let file = tempfile::NamedTempFile::new().unwrap();
    let mut writer = SnapshotWriter::new(
        file.reopen().unwrap(),
        &SnapshotFileMetadata {
            columns: &columns,
            sorted_by: &[],
            words: Vec::new(),
            compression: FileCompression::Fast,
        },
    )
    .unwrap();
    let texts: ArrayRef = Arc::new(texts.clone());
    let rows = RecordBatch::try_new(stored_schema(&columns), vec![texts]).unwrap();
    writer.append(&rows, true).unwrap();
    writer.finish().unwrap();
    std::fs::read(file.path()).unwrap()
}

#[test]
fn a_file_does_not_depend_on_a_validity_buffer_without_nulls_spec_9_3() {
    // Texts of which a page of the size limit holds less than a page of rows.
    let text = |row: usize| format!("{row:0>width$}", width = 60 + row % 97);
    let plain = StringArray::from_iter_values((0..PAGE_ROWS + 100).map(text));
    let marked = StringArray::new(
        plain.offsets().clone(),
        plain.values().clone(),
        Some(NullBuffer::new_valid(plain.len())),
    );
    assert!(marked.nulls().is_some());
    assert_eq!(file_of(&marked), file_of(&plain));
}
