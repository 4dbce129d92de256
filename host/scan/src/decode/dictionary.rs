//! Dictionaries of stored text: decoded alone, without the pages that refer to them, and searched
//! as a whole.

use std::io::Cursor;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use arrow::array::{Array, ArrayRef, AsArray, StringArray};
use arrow::buffer::OffsetBuffer;
use bytes::Bytes;
use parquet::basic::{Encoding, Type};
use parquet::column::page::{Page, PageReader};
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::page_index::offset_index::PageLocation;
use parquet::file::reader::{ChunkReader, Length};
use parquet::file::serialized_reader::SerializedPageReader;

use crate::search_pattern::CaseFolded;

/// The distinct values of a column chunk that stores every value by its number.
pub(crate) struct ColumnDictionary {
    /// Text, in the order of the numbers.
    values: ArrayRef,
    /// The same folded, once somebody has searched it.
    folded: OnceLock<CaseFolded>,
    /// Numbers of the texts, least text first, once somebody has looked for one.
    order: OnceLock<Vec<u32>>,
}

impl ColumnDictionary {
    /// Values as they were decoded.
    pub(crate) fn new(values: ArrayRef) -> Self {
        Self { values, folded: OnceLock::new(), order: OnceLock::new() }
    }

    /// The values, shared by everybody who reads this chunk.
    pub(crate) fn values(&self) -> &ArrayRef {
        &self.values
    }

    /// The same as text; `None` when they are not text.
    pub(crate) fn texts(&self) -> Option<&StringArray> {
        self.values.as_string_opt::<i32>()
    }

    /// The same folded; `None` when they are not text.
    pub(crate) fn folded(&self) -> Option<&CaseFolded> {
        let texts = self.texts()?;
        Some(self.folded.get_or_init(|| CaseFolded::new(texts)))
    }

    /// Numbers of the texts, least text first, so that thousands are searched by halves; none where
    /// they are not text.
    pub(crate) fn order(&self) -> &[u32] {
        self.order.get_or_init(|| {
            let Some(texts) = self.texts() else { return Vec::new() };
            // Those of a key come in two runs at most, which takes little.
            let mut order: Vec<u32> = (0..).take(texts.len()).collect();
            order.sort_by_key(|place| texts.value(*place as usize));
            order
        })
    }

    /// Bytes in memory, the folded copy and the order counted before they are made.
    pub(crate) fn bytes(&self) -> usize {
        let each = size_of::<usize>() + size_of::<u32>();
        self.values.get_buffer_memory_size() * 2 + self.values.len() * each
    }
}

/// Bytes of a chunk's dictionary in its file: those before the first page of data.
pub(super) fn dictionary_page_range(chunk: &ColumnChunkMetaData) -> Range<u64> {
    let (start, length) = chunk.byte_range();
    let data = u64::try_from(chunk.data_page_offset()).unwrap_or(start);
    start..data.clamp(start, start.saturating_add(length))
}

/// The values on a dictionary page, which begins at offset `start` of the file.
pub(super) fn decode_dictionary_page(
    chunk: &ColumnChunkMetaData,
    start: u64,
    bytes: Bytes,
) -> Result<StringArray, ParquetError> {
    let mut pages =
        SerializedPageReader::new(Arc::new(FileSlice { start, bytes }), chunk, 0, None)?;
    match pages.get_next_page()? {
        Some(Page::DictionaryPage {
            buf,
            num_values,
            encoding: Encoding::PLAIN | Encoding::PLAIN_DICTIONARY,
            ..
        }) => decode_plain_texts(&buf, num_values),
        _ => Err(ParquetError::General("its dictionary is not where the footer says".to_owned())),
    }
}

/// Checks the dictionary page of a chunk whose first page of data is `first_page`, none where the
/// file has no index of pages: the Parquet reader makes room for as many values as the
/// dictionary says that it has, and divides by them. `bytes` begin where the chunk does.
///
/// # Errors
///
/// The page cannot be read, or has not as many bytes as its values need.
pub(super) fn validate_dictionary_page(
    chunk: &ColumnChunkMetaData,
    first_page: Option<&PageLocation>,
    bytes: Bytes,
) -> Result<(), ParquetError> {
    let (start, _) = chunk.byte_range();
    let slice = Arc::new(FileSlice { start, bytes });
    let locations = first_page.map(|page| vec![page.clone()]);
    let mut pages = SerializedPageReader::new(slice, chunk, 0, locations)?;
    let Some(Page::DictionaryPage { buf, num_values, .. }) = pages.get_next_page()? else {
        return Ok(());
    };
    let values = usize::try_from(num_values).unwrap_or(usize::MAX);
    let fits = values.saturating_mul(plain_value_bytes(chunk)) <= buf.len();
    if !fits || (values == 0 && !buf.is_empty()) {
        let message = format!("a dictionary of {} bytes says {values} values", buf.len());
        return Err(ParquetError::General(message));
    }
    Ok(())
}

/// Bytes that a value of a chunk has at least in Parquet's plain encoding.
fn plain_value_bytes(chunk: &ColumnChunkMetaData) -> usize {
    match chunk.column_type() {
        Type::BOOLEAN => 0,
        Type::INT32 | Type::FLOAT | Type::BYTE_ARRAY => 4,
        Type::INT64 | Type::DOUBLE => 8,
        Type::INT96 => 12,
        Type::FIXED_LEN_BYTE_ARRAY => {
            usize::try_from(chunk.column_descr().type_length()).unwrap_or(0)
        }
    }
}

/// Texts in Parquet's plain encoding: each behind its length, four bytes.
fn decode_plain_texts(mut bytes: &[u8], values: u32) -> Result<StringArray, ParquetError> {
    let short = || ParquetError::EOF("a dictionary ends early".to_owned());
    let mut text = Vec::with_capacity(bytes.len());
    let mut lengths = Vec::new();
    for _ in 0..values {
        let (length, rest) = bytes.split_first_chunk::<4>().ok_or_else(short)?;
        let length = usize::try_from(u32::from_le_bytes(*length)).map_err(|_| short())?;
        let (value, rest) = rest.split_at_checked(length).ok_or_else(short)?;
        text.extend_from_slice(value);
        lengths.push(length);
        bytes = rest;
    }
    Ok(StringArray::try_new(OffsetBuffer::from_lengths(lengths), text.into(), None)?)
}

/// A few bytes of a file, for a reader that asks by offsets of the file.
struct FileSlice {
    start: u64,
    bytes: Bytes,
}

impl FileSlice {
    fn from(&self, offset: u64) -> Result<Bytes, ParquetError> {
        let skipped =
            offset.checked_sub(self.start).and_then(|skipped| usize::try_from(skipped).ok());
        let within = skipped.filter(|skipped| *skipped <= self.bytes.len());
        within
            .map(|skipped| self.bytes.slice(skipped..))
            .ok_or_else(|| ParquetError::EOF("a dictionary ends early".to_owned()))
    }
}

impl Length for FileSlice {
    fn len(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }
}

impl ChunkReader for FileSlice {
    type T = Cursor<Bytes>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        self.from(start).map(Cursor::new)
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        let mut bytes = self.from(start)?;
        if bytes.len() < length {
            return Err(ParquetError::EOF("a dictionary ends early".to_owned()));
        }
        bytes.truncate(length);
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use arrow::array::{Int64Array, RecordBatch};
    use parquet::arrow::ArrowWriter;
    use parquet::file::metadata::ParquetMetaDataReader;

    use super::*;

    /// In a header of Thrift's compact protocol: field 7, a dictionary's header, whose field 1 is
    /// the number of values, three in zigzag.
    const THREE_VALUES: [u8; 3] = [0x4c, 0x15, 6];

    /// Checks the first chunk of a file, of three values, once it says that it has `said`.
    fn validate_saying(values: ArrayRef, said: u8) -> Result<(), ParquetError> {
        let table = RecordBatch::try_from_iter([("column", values)]).unwrap();
        let mut writer = ArrowWriter::try_new(vec![], table.schema(), None).unwrap();
        writer.write(&table).unwrap();
        let mut file = writer.into_inner().unwrap();
        let mut reader = ParquetMetaDataReader::new();
        reader.try_parse(&Bytes::from(file.clone())).unwrap();
        let metadata = reader.finish().unwrap();
        let chunk = metadata.row_group(0).column(0);
        let start = usize::try_from(chunk.byte_range().0).unwrap();
        let count = file.windows(3).position(|bytes| bytes == THREE_VALUES).unwrap() + 2;
        file[count] = said << 1;
        let first_page = PageLocation {
            offset: chunk.data_page_offset(),
            compressed_page_size: 0,
            first_row_index: 0,
        };
        let bytes = Bytes::from(file).slice(start..);
        let unindexed = validate_dictionary_page(chunk, None, bytes.clone());
        let indexed = validate_dictionary_page(chunk, Some(&first_page), bytes);
        assert_eq!(indexed.is_ok(), unindexed.is_ok());
        indexed
    }

    #[test]
    fn a_dictionary_says_as_many_values_as_it_has_bytes_for() {
        let texts = || Arc::new(StringArray::from(vec!["a", "b", "c", "a"])) as ArrayRef;
        let integers = || Arc::new(Int64Array::from(vec![1, 2, 3, 1])) as ArrayRef;
        for column in [texts, integers] {
            assert!(validate_saying(column(), 3).is_ok());
            for said in [0, 4, 60] {
                assert!(validate_saying(column(), said).is_err(), "{said}");
            }
        }
    }
}
