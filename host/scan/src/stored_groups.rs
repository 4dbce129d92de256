//! Row groups as a file stores them, to be copied into another file: neither decoded nor encoded.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, ParquetMetaDataOptions};
use parquet::file::statistics::Statistics;
use yearbook_domain::{Snapshot, StoredFile};
use yearbook_storage::ObjectStorage;

use crate::decode::{CallerWorkers, fetch, read_metadata, validate_locations};
use crate::{Reader, StorageFailure};

/// The row groups of a file.
pub struct StoredGroups {
    files: ObjectStorage,
    workers: CallerWorkers,
    file: StoredFile,
    metadata: Arc<ParquetMetaData>,
}

/// A row group of a file.
pub struct StoredGroup {
    metadata: Arc<ParquetMetaData>,
    index: usize,
    /// Bytes of each column; `None` for those that were left out.
    columns: Vec<Option<Bytes>>,
}

/// Place of a column in its file, its bytes, and what the footer says of them.
pub type StoredChunk<'a> = (u64, &'a Bytes, ColumnCloseResult);

impl Reader {
    /// Opens the row groups of the file of `snapshot`.
    ///
    /// # Errors
    /// A [`StorageFailure`] that names the stored file.
    pub async fn stored_groups(&self, snapshot: &Snapshot) -> Result<StoredGroups, StorageFailure> {
        let (files, workers) = (self.files(), self.workers());
        let file = snapshot.file.clone();
        // Unlike a reader, a copy needs everything that the footer says.
        let options = ParquetMetaDataOptions::new().with_encoding_stats_as_mask(false);
        let metadata = read_metadata(files, &workers, &file, Some(Arc::new(options))).await?;
        validate_locations(&file, &metadata)?;
        Ok(StoredGroups { files: files.clone(), workers, file, metadata })
    }
}

impl StoredGroups {
    /// Returns the rows of each row group.
    pub fn windows(&self) -> impl Iterator<Item = Range<u64>> {
        let groups = self.metadata.row_groups().iter();
        groups.scan(0, |behind, group| {
            let start = *behind;
            *behind += u64::try_from(group.num_rows()).unwrap_or(0);
            Some(start..*behind)
        })
    }

    /// Reads row group `index`, which there is, without the columns `left_out` of the file.
    ///
    /// # Errors
    /// A [`StorageFailure`] that names the stored file.
    pub async fn read(
        &self,
        index: usize,
        left_out: &[usize],
    ) -> Result<StoredGroup, StorageFailure> {
        let chunks = self.metadata.row_group(index).columns();
        let is_read = |column: &usize| !left_out.contains(column);
        let ranges = (0..chunks.len()).filter(is_read).map(|column| {
            let (start, length) = chunks[column].byte_range();
            start..start + length
        });
        let ranges: Vec<_> = ranges.collect();
        let mut read = fetch(&self.files, &self.workers, &self.file, &ranges).await?.into_iter();
        let bytes = |column| if is_read(&column) { read.next() } else { None };
        let columns = (0..chunks.len()).map(bytes).collect();
        Ok(StoredGroup { metadata: Arc::clone(&self.metadata), index, columns })
    }
}

impl StoredGroup {
    /// Returns the number of its rows.
    #[must_use]
    pub fn rows(&self) -> u64 {
        u64::try_from(self.metadata.row_group(self.index).num_rows()).unwrap_or(0)
    }

    /// Returns for each column its bytes, with the place in the file at which they begin and what
    /// the footer says of them; `None` for those that were left out.
    ///
    /// # Errors
    /// [`ParquetError`] for a footer that contradicts itself.
    pub fn columns(&self) -> Result<Vec<Option<StoredChunk<'_>>>, ParquetError> {
        let columns = self.columns.iter().enumerate();
        columns
            .map(|(leaf, bytes)| bytes.as_ref().map(|bytes| self.column(leaf, bytes)).transpose())
            .collect()
    }

    fn column<'a>(
        &'a self,
        leaf: usize,
        bytes: &'a Bytes,
    ) -> Result<StoredChunk<'a>, ParquetError> {
        let chunk = self.metadata.row_group(self.index).column(leaf);
        let pages = self.metadata.page_index();
        let close = ColumnCloseResult {
            bytes_written: bytes.len() as u64,
            rows_written: self.rows(),
            metadata: with_old_bounds(chunk)?,
            bloom_filter: None,
            column_index: pages.and_then(|pages| pages.column_index(self.index, leaf)).cloned(),
            offset_index: pages.and_then(|pages| pages.offset_index(self.index, leaf)).cloned(),
        };
        Ok((chunk.byte_range().0, bytes, close))
    }
}

/// Metadata of a column as its footer has them: where bounds have a sign they are repeated for old
/// readers, which is lost when a footer is read.
fn with_old_bounds(chunk: &ColumnChunkMetaData) -> Result<ColumnChunkMetaData, ParquetError> {
    let signed = chunk.column_descr().sort_order().is_signed();
    let statistics = match chunk.statistics() {
        Some(Statistics::Int64(bounds)) => {
            Statistics::Int64(bounds.clone().with_backwards_compatible_min_max(signed))
        }
        Some(Statistics::Double(bounds)) => {
            Statistics::Double(bounds.clone().with_backwards_compatible_min_max(signed))
        }
        _ => return Ok(chunk.clone()),
    };
    chunk.clone().into_builder().set_statistics(statistics).build()
}
