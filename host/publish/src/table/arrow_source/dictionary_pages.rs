//! Rows of a Parquet file that are decoded together: few where a dictionary has long texts, each of
//! which may stand in every row.

use std::collections::BTreeMap;
use std::fs::File;
use std::sync::Arc;

use parquet::basic::Type;
use parquet::column::page::{Page, PageReader};
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::serialized_reader::SerializedPageReader;

use super::BATCH_ROWS;

/// Bytes that texts of dictionaries take in a batch at most, unless it is a single row.
const MAX_TEXT_BYTES: usize = 128 << 20;

/// Rows of a batch. Reads the dictionaries of text columns and the heads of their other pages: what
/// the metadata of a file says of them binds nobody.
pub(super) fn batch_rows(file: File, metadata: &ParquetMetaData) -> Result<usize, ParquetError> {
    let file = Arc::new(file);
    let mut longest = BTreeMap::<usize, usize>::new();
    for group in metadata.row_groups() {
        let rows = usize::try_from(group.num_rows())?;
        for (position, chunk) in group.columns().iter().enumerate() {
            if chunk.column_type() != Type::BYTE_ARRAY {
                continue;
            }
            let text = longest.entry(position).or_default();
            let mut pages = SerializedPageReader::new(Arc::clone(&file), chunk, rows, None)?;
            // A dictionary may stand behind other pages. The library cannot look behind an index
            // page, which nobody writes: such a file is refused.
            while let Some(page) = pages.peek_next_page()? {
                if page.is_dict {
                    if let Some(Page::DictionaryPage { buf, .. }) = pages.get_next_page()? {
                        *text = longest_value(&buf).max(*text);
                    }
                } else {
                    pages.skip_next_page()?;
                }
            }
        }
    }
    let row: usize = longest.into_values().sum();
    Ok((MAX_TEXT_BYTES / row.max(1)).clamp(1, BATCH_ROWS))
}

/// Length of the longest of values that follow each other, each behind its length.
fn longest_value(mut values: &[u8]) -> usize {
    let mut longest = 0;
    while let Some((length, rest)) = values.split_first_chunk() {
        let length = usize::try_from(u32::from_le_bytes(*length)).unwrap_or(usize::MAX);
        longest = length.min(rest.len()).max(longest);
        values = rest.get(length..).unwrap_or_default();
    }
    longest
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use arrow::array::{ArrayRef, RecordBatch, StringArray};
    use parquet::arrow::ArrowWriter;
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

    use super::*;

    /// Rows of a batch of a file with two columns of 100 rows, all of which are `text`.
    fn rows_of(text: &str) -> usize {
        let column: ArrayRef = Arc::new(StringArray::from(vec![text; 100]));
        let batch = RecordBatch::try_from_iter([("x", Arc::clone(&column)), ("y", column)]);
        let batch = batch.unwrap();
        let file = tempfile::tempfile().unwrap();
        let written = file.try_clone().unwrap();
        let mut writer = ArrowWriter::try_new(written, batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        let builder = ParquetRecordBatchReaderBuilder::try_new(file.try_clone().unwrap()).unwrap();
        batch_rows(file, builder.metadata()).unwrap()
    }

    #[test]
    fn a_long_text_of_a_dictionary_makes_small_batches_contract_8() {
        assert_eq!(rows_of("short"), BATCH_ROWS);
        assert_eq!(rows_of(&"x".repeat(100_000)), MAX_TEXT_BYTES / 200_000);
    }

    #[test]
    fn the_longest_value_is_no_longer_than_what_is_there() {
        assert_eq!(longest_value(b""), 0);
        assert_eq!(longest_value(b"\x02\0\0\0ab\x01\0\0\0c"), 2);
        assert_eq!(longest_value(b"\x01\0\0\0a\xff\xff\xff\xffbcd"), 3);
    }
}
