//! A stored file's footer and page indexes, decoded once and checked against the catalogue.

mod page_locations;

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use bytes::Bytes;
use parquet::DecodeResult;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::arrow::parquet_to_arrow_schema;
use parquet::basic::Encoding;
use parquet::errors::ParquetError;
use parquet::file::metadata::{
    ColumnChunkMetaData, PageIndexPolicy, ParquetMetaData, ParquetMetaDataOptions,
    ParquetMetaDataPushDecoder,
};
use yearbook_domain::{Snapshot, StoredFile};
use yearbook_storage::ObjectStorage;

use super::caller_workers::CallerWorkers;
use super::dictionary::validate_dictionary_page;
use super::fetch::fetch;
use super::kept_bytes::KeptBytes;
use crate::{StorageFailure, schema};

pub(crate) use page_locations::chunk_pages;

/// Bytes read from the end of a file at first: footer and page indexes of most files in one go.
const TAIL_BYTES: u64 = 64 << 10;

/// Files opened so far.
static NEXT_CACHE_ID: AtomicU64 = AtomicU64::new(0);

/// A column chunk: number of the opened file, row group, column of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ColumnChunkId {
    /// [`ParquetFile::number`].
    pub(crate) file: u64,
    /// Row group.
    pub(crate) group: usize,
    /// Column of the file.
    pub(crate) leaf: usize,
}

/// A file that is ready to be read.
pub(crate) struct ParquetFile {
    /// Unlike that of every other opened file: what names it in caches.
    pub(crate) number: u64,
    /// The stored file.
    pub(crate) file: StoredFile,
    /// Its key, for messages.
    pub(crate) key: String,
    /// Footer and page indexes.
    pub(crate) metadata: Arc<ParquetMetaData>,
    /// Decoding of columns for clients.
    pub(crate) output: ArrowReaderMetadata,
    /// Decoding of columns for a search: text as a dictionary where the file keeps it so
    /// throughout.
    pub(crate) filter: ArrowReaderMetadata,
    /// Columns of the file that the pattern is looked for in, ascending.
    pub(crate) dimensions: Vec<usize>,
    /// First row of each row group, and the number of rows.
    starts: Vec<u64>,
    /// Column of the file by position in the snapshot.
    leaves: Vec<usize>,
    /// Schema of all columns as clients get them, once one has asked.
    schema: OnceLock<SchemaRef>,
    /// Set for chunks that have no dictionary or whose dictionary has been checked, one after
    /// another in each row group.
    judged: Box<[AtomicBool]>,
    /// Bytes of columns as they are kept for reads of scattered rows: of chunks that were decoded
    /// what they took, and estimates of the others.
    kept_bytes: KeptBytes,
    /// Compressed bytes of each row group that such reads have read of it.
    scattered_bytes: Box<[AtomicU64]>,
}

impl ParquetFile {
    /// Number of rows.
    pub(crate) fn rows(&self) -> u64 {
        self.starts.last().copied().unwrap_or(0)
    }

    /// First row of row group `index` in the file; the number of rows past the last one.
    pub(crate) fn start(&self, index: usize) -> u64 {
        self.starts.get(index).copied().unwrap_or(self.rows())
    }

    /// The row group that holds `row`; the last one past the end.
    pub(crate) fn group_of(&self, row: u64) -> usize {
        let behind = self.starts.partition_point(|&start| start <= row);
        behind.saturating_sub(1).min(self.starts.len().saturating_sub(2))
    }

    /// Number of rows of row group `index`.
    pub(crate) fn rows_of(&self, index: usize) -> usize {
        usize::try_from(self.start(index + 1) - self.start(index)).unwrap_or(usize::MAX)
    }

    /// Compressed bytes of the columns `leaves` in row group `group`.
    pub(crate) fn compressed_bytes(&self, group: usize, leaves: &[usize]) -> u64 {
        let chunks = self.metadata.row_group(group);
        let bytes =
            |&leaf: &usize| u64::try_from(chunks.column(leaf).compressed_size()).unwrap_or(0);
        leaves.iter().map(bytes).sum()
    }

    /// The schema of all columns of the snapshot as clients get them: what `make` gave the first
    /// time.
    pub(crate) fn schema_or_make(
        &self,
        make: impl FnOnce() -> Result<SchemaRef, StorageFailure>,
    ) -> Result<&SchemaRef, StorageFailure> {
        if let Some(known) = self.schema.get() {
            return Ok(known);
        }
        let made = make()?;
        Ok(self.schema.get_or_init(|| made))
    }

    /// Checks those dictionaries of row group `group` that are among `got`, the bytes of `ranges`
    /// of the file, each once.
    pub(crate) fn validate_dictionaries(
        &self,
        group: usize,
        ranges: &[Range<u64>],
        got: &[Bytes],
    ) -> Result<(), ParquetError> {
        let chunks = self.metadata.row_group(group).columns();
        let judged = self.judged.iter().skip(group * chunks.len());
        for (leaf, (chunk, judged)) in chunks.iter().zip(judged).enumerate() {
            if judged.load(Ordering::Relaxed) {
                continue;
            }
            let (start, _) = chunk.byte_range();
            let mut parts = ranges.iter().zip(got);
            let Some((_, bytes)) = parts.find(|(range, _)| range.start == start) else { continue };
            let first_page = chunk_pages(&self.metadata, group, leaf).first();
            validate_dictionary_page(chunk, first_page, bytes.clone())?;
            judged.store(true, Ordering::Relaxed);
        }
        Ok(())
    }

    /// The chunk of column `leaf` of the file in row group `group`.
    pub(crate) fn chunk_id(&self, group: usize, leaf: usize) -> ColumnChunkId {
        ColumnChunkId { file: self.number, group, leaf }
    }

    /// The column of the file that holds column `position` of the snapshot.
    pub(crate) fn column_index(&self, position: usize) -> Result<usize, StorageFailure> {
        let found = self.leaves.get(position).copied();
        found.ok_or_else(|| {
            StorageFailure::damaged(&self.key, format!("the plan asks for column {position}"))
        })
    }

    /// The column of the file called `name`.
    pub(crate) fn column_index_by_name(&self, name: &str) -> Result<usize, StorageFailure> {
        find_column(&self.metadata, name)
            .ok_or_else(|| StorageFailure::damaged(&self.key, format!("it has no column {name}")))
    }

    /// Bytes of the columns `leaves` of the file as they are kept for reads of scattered rows,
    /// about.
    pub(crate) fn kept_bytes(&self, leaves: &[usize]) -> u64 {
        self.kept_bytes.sum(leaves)
    }

    /// The same of all columns, with the rows of the values of some: `bytes` of column `leaf` of
    /// row group `group` among them, which is remembered.
    pub(crate) fn all_kept_bytes(&self, group: usize, leaf: usize, bytes: u64) -> u64 {
        let leaves: Vec<usize> = (0..self.metadata.row_group(group).num_columns()).collect();
        let places = self.kept_bytes.add_places(group, leaf, bytes);
        self.kept_bytes.sum(&leaves).saturating_add(places)
    }

    /// Remembers the bytes that column `leaf` of row group `group` takes.
    pub(crate) fn record_kept_bytes(&self, group: usize, leaf: usize, bytes: u64) {
        self.kept_bytes.record(group, leaf, bytes);
    }

    /// Counts `bytes` that a read of scattered rows needs of row group `group`; returns true once
    /// there are `enough`.
    pub(crate) fn count_scattered(&self, group: usize, bytes: u64, enough: u64) -> bool {
        let Some(counted) = self.scattered_bytes.get(group) else { return false };
        counted.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes) >= enough
    }

    /// Begins to count anew.
    pub(crate) fn restart_scattered(&self, group: usize) {
        if let Some(counted) = self.scattered_bytes.get(group) {
            counted.store(0, Ordering::Relaxed);
        }
    }

    /// Bytes held in memory, about.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.metadata.memory_size()
            + self.starts.len() * 8
            + self.leaves.len() * 1024
            + self.judged.len()
            + (2 * self.judged.len() + self.scattered_bytes.len()) * 8
    }
}

/// Reads and decodes the footer of a snapshot's file.
pub(crate) async fn open(
    files: &ObjectStorage,
    workers: &CallerWorkers,
    snapshot: &Snapshot,
) -> Result<ParquetFile, StorageFailure> {
    let metadata = read_metadata(files, workers, &snapshot.file, None).await?;
    validate(snapshot, ObjectStorage::key(&snapshot.file), metadata)
}

/// Reads and decodes the footer of `file` and its page indexes, of which nothing is checked.
pub(crate) async fn read_metadata(
    files: &ObjectStorage,
    workers: &CallerWorkers,
    file: &StoredFile,
    options: Option<Arc<ParquetMetaDataOptions>>,
) -> Result<Arc<ParquetMetaData>, StorageFailure> {
    let key = ObjectStorage::key(file);
    let damaged = |error: ParquetError| {
        StorageFailure::damaged(&ObjectStorage::key(file), format!("footer: {error}"))
    };
    let panicked =
        |_| StorageFailure::damaged(&ObjectStorage::key(file), "decoding its footer panicked");
    let mut decoder = ParquetMetaDataPushDecoder::try_new(file.bytes)
        .map_err(damaged)?
        .with_metadata_options(options)
        .with_page_index_policy(PageIndexPolicy::Optional);
    let tail = file.bytes.saturating_sub(TAIL_BYTES)..file.bytes;
    let mut wanted: Vec<_> = std::iter::once(tail).collect();
    loop {
        let got = fetch(files, workers, file, &wanted).await?;
        decoder.push_ranges(std::mem::take(&mut wanted), got).map_err(damaged)?;
        let (rest, result) = workers
            .run(move || {
                let result = decoder.try_decode();
                (decoder, result)
            })
            .await
            .map_err(panicked)?;
        decoder = rest;
        match result.map_err(damaged)? {
            DecodeResult::Data(metadata) => return Ok(Arc::new(metadata)),
            DecodeResult::NeedsData(ranges) => wanted = ranges,
            DecodeResult::Finished => {
                return Err(StorageFailure::damaged(&key, "its footer ends early"));
            }
        }
    }
}

/// Checks whether the file is what the catalog says it is.
fn validate(
    snapshot: &Snapshot,
    key: String,
    metadata: Arc<ParquetMetaData>,
) -> Result<ParquetFile, StorageFailure> {
    let mut starts = vec![0];
    for group in metadata.row_groups() {
        let rows = u64::try_from(group.num_rows()).map_err(|_| {
            StorageFailure::damaged(&key, "a row group has a negative number of rows")
        })?;
        starts.push(starts.last().copied().unwrap_or(0) + rows);
    }
    let rows = starts.last().copied().unwrap_or(0);
    if rows != snapshot.rows {
        return Err(StorageFailure::damaged(
            &key,
            format!("it has {rows} rows, the catalog says {}", snapshot.rows),
        ));
    }
    validate_locations(&snapshot.file, &metadata)?;
    let leaf = |name: &str| {
        find_column(&metadata, name)
            .ok_or_else(|| StorageFailure::damaged(&key, format!("it has no column {name}")))
    };
    let leaves =
        snapshot.columns.iter().map(|column| leaf(&column.name)).collect::<Result<Vec<_>, _>>()?;
    let mut dimensions =
        snapshot.dimensions.iter().map(|name| leaf(name)).collect::<Result<Vec<_>, _>>()?;
    dimensions.sort_unstable();
    dimensions.dedup();
    let reading = |types: &dyn Fn(usize, &DataType) -> DataType| {
        let damaged =
            |error: ParquetError| StorageFailure::damaged(&key, format!("its columns: {error}"));
        let stored = parquet_to_arrow_schema(metadata.file_metadata().schema_descr(), None)
            .map_err(damaged)?;
        let fields = stored.fields().iter().enumerate();
        let fields = fields.map(|(leaf, field)| {
            Field::new(field.name(), types(leaf, field.data_type()), field.is_nullable())
        });
        let options = ArrowReaderOptions::new()
            .with_schema(Arc::new(Schema::new(fields.collect::<Vec<_>>())));
        ArrowReaderMetadata::try_new(Arc::clone(&metadata), options).map_err(damaged)
    };
    // A column that the catalog does not know is left as it is; it is never read.
    let output = reading(&|leaf, stored| {
        let position = leaves.iter().position(|&other| other == leaf);
        position
            .and_then(|position| snapshot.columns.get(position))
            .map_or_else(|| stored.clone(), schema::output_type)
    })?;
    let filter = reading(&|leaf, stored| {
        let throughout =
            metadata.row_groups().iter().all(|group| is_dictionary_encoded(group.column(leaf)));
        if stored == &DataType::Utf8 && throughout { schema::dictionary() } else { stored.clone() }
    })?;
    let judged = metadata.row_groups().iter().enumerate().flat_map(|(group, of_group)| {
        let metadata = &metadata;
        of_group.columns().iter().enumerate().map(move |(leaf, chunk)| {
            let first = chunk_pages(metadata, group, leaf).first();
            let first = first.and_then(|page| u64::try_from(page.offset).ok());
            AtomicBool::new(first == Some(chunk.byte_range().0))
        })
    });
    let judged = judged.collect();
    let groups = metadata.num_row_groups();
    let kept_bytes = KeptBytes::estimate(&metadata, filter.schema());
    let scattered_bytes = (0..groups).map(|_| AtomicU64::new(0)).collect();
    let number = NEXT_CACHE_ID.fetch_add(1, Ordering::Relaxed);
    Ok(ParquetFile {
        number,
        file: snapshot.file.clone(),
        key,
        metadata,
        output,
        filter,
        dimensions,
        starts,
        leaves,
        schema: OnceLock::new(),
        judged,
        kept_bytes,
        scattered_bytes,
    })
}

/// Checks whether everything that `metadata` names lies in `file`.
pub(crate) fn validate_locations(
    file: &StoredFile,
    metadata: &ParquetMetaData,
) -> Result<(), StorageFailure> {
    let fault = page_locations::fault(metadata, file.bytes);
    fault.map_or(Ok(()), |fault| Err(StorageFailure::damaged(&ObjectStorage::key(file), fault)))
}

/// Returns whether every value of a column chunk stands in its dictionary page.
pub(crate) fn is_dictionary_encoded(chunk: &ColumnChunkMetaData) -> bool {
    let only =
        |encoding| chunk.page_encoding_stats_mask().is_some_and(|mask| mask.is_only(encoding));
    chunk.dictionary_page_offset().is_some()
        && (only(Encoding::RLE_DICTIONARY) || only(Encoding::PLAIN_DICTIONARY))
}

fn find_column(metadata: &ParquetMetaData, name: &str) -> Option<usize> {
    metadata
        .file_metadata()
        .schema_descr()
        .columns()
        .iter()
        .position(|column| column.path().parts() == [name])
}
