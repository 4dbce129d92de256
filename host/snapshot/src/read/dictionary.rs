//! Dictionaries of stored text: read alone, without the pages that refer to them, and searched as a
//! whole.

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

use super::fetch::fetch;
use super::page_cache::ColumnChunkId;
use super::search_pattern::{CaseFolded, SearchPattern};
use super::{FileSource, is_dictionary_encoded};
use crate::StorageFailure;

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

    /// Which values contain `needle`; none when the values are not text.
    pub(crate) fn hits(&self, needle: &SearchPattern) -> Option<BooleanBuffer> {
        let texts = self.values.as_string_opt::<i32>()?;
        let folded = self.folded.get_or_init(|| CaseFolded::new(texts));
        Some(needle.hits(folded, texts.nulls()))
    }

    /// Bytes in memory, the folded copy counted before it is made.
    pub(crate) fn bytes(&self) -> usize {
        self.values.get_buffer_memory_size() * 2 + self.values.len() * size_of::<usize>()
    }
}

impl FileSource {
    /// The dictionaries of those of `leaves` that are [`dictionary_only`] in row group `group`;
    /// those that are not in memory are read, and nothing else is.
    pub(crate) async fn load_dictionaries(
        &self,
        group: usize,
        leaves: &[usize],
    ) -> Result<Vec<Option<Arc<ColumnDictionary>>>, StorageFailure> {
        let chunks = self.opened.metadata.row_group(group);
        let mut found = Vec::with_capacity(leaves.len());
        let mut absent = Vec::new();
        for &leaf in leaves {
            let known = self.kept.dictionary(self.opened.chunk_id(group, leaf));
            if known.is_none() && is_dictionary_encoded(chunks.column(leaf)) {
                absent.push((found.len(), leaf));
            }
            found.push(known);
        }
        if absent.is_empty() {
            return Ok(found);
        }
        let ranges: Vec<_> =
            absent.iter().map(|(_, leaf)| dictionary_page_range(chunks.column(*leaf))).collect();
        let got = fetch(&self.files, &self.workers, &self.opened.file, &ranges).await?;
        let parts: Vec<_> = absent
            .iter()
            .zip(ranges)
            .zip(got)
            .map(|((&(_, leaf), range), bytes)| (leaf, range.start, bytes))
            .collect();
        let opened = Arc::clone(&self.opened);
        let job = move || {
            let chunks = opened.metadata.row_group(group);
            parts
                .into_iter()
                .map(|(leaf, start, bytes)| {
                    decode_dictionary_page(chunks.column(leaf), start, bytes)
                })
                .collect::<Result<Vec<_>, _>>()
        };
        let decoded = self.run_on_worker(group, job).await?;
        for (&(place, leaf), values) in absent.iter().zip(decoded) {
            let kept = self.kept.get_or_insert_dictionary(
                self.opened.chunk_id(group, leaf),
                ColumnDictionary::new(Arc::new(values)),
            );
            if let Some(found) = found.get_mut(place) {
                *found = Some(kept);
            }
        }
        Ok(found)
    }

    /// The dictionary of a chunk of which `decoded` are the values, the same one for everybody.
    pub(crate) fn shared_dictionary(
        &self,
        chunk: ColumnChunkId,
        decoded: &ArrayRef,
    ) -> Arc<ColumnDictionary> {
        let known =
            self.kept.dictionary(chunk).filter(|known| known.values().len() == decoded.len());
        known.unwrap_or_else(|| {
            self.kept.get_or_insert_dictionary(chunk, ColumnDictionary::new(Arc::clone(decoded)))
        })
    }
}

/// Where the dictionary of a chunk lies in its file: before the first page of data.
fn dictionary_page_range(chunk: &ColumnChunkMetaData) -> Range<u64> {
    let (start, length) = chunk.byte_range();
    let data = u64::try_from(chunk.data_page_offset()).unwrap_or(start);
    start..data.clamp(start, start.saturating_add(length))
}

/// The values on a dictionary page, which begins at offset `start` of the file.
fn decode_dictionary_page(
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
