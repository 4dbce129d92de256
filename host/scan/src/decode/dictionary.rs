//! Dictionaries of stored text: decoded alone, without the pages that refer to them, and searched
//! as a whole.

use std::io::Cursor;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use arrow::array::{Array, ArrayRef, AsArray, StringArray};
use arrow::buffer::{BooleanBuffer, OffsetBuffer};
use bytes::Bytes;
use parquet::basic::Encoding;
use parquet::column::page::{Page, PageReader};
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::{ChunkReader, Length};
use parquet::file::serialized_reader::SerializedPageReader;

use crate::search_pattern::{CaseFolded, SearchPattern};

/// The distinct values of a column chunk that stores every value by its number.
pub(crate) struct ColumnDictionary {
    /// Text, in the order of the numbers.
    values: ArrayRef,
    /// The same folded, once somebody has searched it.
    folded: OnceLock<CaseFolded>,
}

impl ColumnDictionary {
    /// Values as they were decoded.
    pub(crate) fn new(values: ArrayRef) -> Self {
        Self { values, folded: OnceLock::new() }
    }

    /// The values, shared by everybody who reads this chunk.
    pub(crate) fn values(&self) -> &ArrayRef {
        &self.values
    }

    /// Values that contain `pattern`, one bit each; none when the values are not text.
    pub(crate) fn hits(&self, pattern: &SearchPattern) -> Option<BooleanBuffer> {
        let texts = self.values.as_string_opt::<i32>()?;
        let folded = self.folded.get_or_init(|| CaseFolded::new(texts));
        Some(pattern.hits(folded, texts.nulls()))
    }

    /// Bytes in memory, the folded copy counted before it is made.
    pub(crate) fn bytes(&self) -> usize {
        self.values.get_buffer_memory_size() * 2 + self.values.len() * size_of::<usize>()
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
