//! Small reads: a few rows of some columns, made of whole decoded pages that are kept for the next
//! one.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, DictionaryArray, RecordBatch};
use arrow::compute::{cast, concat};
use arrow::datatypes::{DataType, Int32Type};
use arrow::error::ArrowError;
use futures::{FutureExt as _, StreamExt as _, TryStreamExt as _, stream};
use parquet::arrow::ProjectionMask;
use parquet::errors::ParquetError;

use super::canonical::{clear_nulls, with_own_bits};
use super::file_source::FileSource;
use super::footer::{ColumnChunkId, is_dictionary_encoded};
use super::page_location::{PageLocation, pages_covering};
use super::row_range::RowRange;
use crate::StorageFailure;

/// Compressed bytes of the pages of a column that a small read takes from memory at most. A column
/// that needs more, the largest geometries as a rule, is decoded for the rows at hand and not kept.
const MAX_CACHED_READ_BYTES: u64 = 8 << 20;

/// Compressed bytes of a page that is decoded by itself, so that it is kept without its neighbours
/// and never copied: above it, starting a decoder costs little beside the decoding.
const LARGE_PAGE_BYTES: u64 = 64 << 10;

/// Runs that are read at once from a store behind a network, where each waits for an answer; from
/// a local folder they come one after another.
const CONCURRENT_RUNS: usize = 8;

/// Part of a column: rows of the row group, and the array that starts with the first of them.
struct PageSlice {
    rows: Range<usize>,
    array: Option<ArrayRef>,
    /// Number of the page under which it is kept; `None` if it is not.
    page: Option<usize>,
    /// Set for a page of more than [`LARGE_PAGE_BYTES`].
    is_large: bool,
}

impl PageSlice {
    /// The rows of it that are among `rows`.
    fn cut(&self, rows: &Range<usize>) -> Result<ArrayRef, ArrowError> {
        let array = self.array.as_ref().filter(|array| array.len() == self.rows.len());
        let array = array.ok_or_else(|| {
            let why = "a page has fewer rows than its index says".to_owned();
            ArrowError::InvalidArgumentError(why)
        })?;
        let wanted = intersection(&self.rows, rows);
        if wanted == self.rows {
            return Ok(Arc::clone(array));
        }
        Ok(array.slice(wanted.start - self.rows.start, wanted.len()))
    }
}

fn intersection(some: &Range<usize>, others: &Range<usize>) -> Range<usize> {
    some.start.max(others.start)..some.end.min(others.end)
}

/// A column of a small read: its parts, in the order of the rows.
pub(crate) struct CachedColumn {
    rows: Range<usize>,
    parts: Vec<PageSlice>,
}

impl CachedColumn {
    /// The column in `rows`, which lie in the rows that were asked for. Copied only where they are
    /// in several pages.
    pub(crate) fn slice(&self, rows: &Range<usize>) -> Result<ArrayRef, ArrowError> {
        if let [only] = self.parts.as_slice() {
            return only.cut(rows);
        }
        let overlaps = |part: &&PageSlice| part.rows.start < rows.end && rows.start < part.rows.end;
        let cut = self.parts.iter().filter(overlaps).map(|part| part.cut(rows));
        join(&cut.collect::<Result<Vec<_>, _>>()?)
    }

    /// The whole column.
    pub(crate) fn whole(&self) -> Result<ArrayRef, ArrowError> {
        self.slice(&self.rows)
    }

    /// Rows at which a large page begins, behind the first row: where batches end there, no page
    /// has to be copied.
    pub(crate) fn large_pages(&self) -> impl Iterator<Item = usize> {
        let inside = self.parts.iter().filter(|part| part.rows.start > self.rows.start);
        inside.filter(|part| part.is_large).map(|part| part.rows.start)
    }
}

impl FileSource {
    /// The columns `leaves` (ascending) in `rows` of row group `group`. Decodes the pages that are
    /// not in memory, whole, and all of it at once: only for rows that fit a batch.
    pub(crate) async fn columns(
        &self,
        group: usize,
        leaves: &[usize],
        rows: Range<usize>,
    ) -> Result<Vec<CachedColumn>, StorageFailure> {
        let mut columns: Vec<Vec<PageSlice>> = leaves
            .iter()
            .map(|&leaf| self.cached_parts(self.parquet.chunk_id(group, leaf), &rows))
            .collect();
        let runs = missing_runs(&columns);
        let reads = runs.iter().map(|(&(start, end), places)| {
            let wanted = places.iter().filter_map(|&place| leaves.get(place).copied());
            self.decode_columns(group, wanted.collect(), start..end)
        });
        // In boxes: most small reads decode nothing, and their future has no room for it then.
        let decoded = if self.files.is_local() {
            let mut decoded = Vec::with_capacity(runs.len());
            for read in reads {
                decoded.push(Box::pin(read).await?);
            }
            decoded
        } else {
            let reads = stream::iter(reads.collect::<Vec<_>>());
            reads.buffered(CONCURRENT_RUNS).try_collect::<Vec<_>>().boxed().await?
        };
        for (((start, end), places), arrays) in runs.into_iter().zip(decoded) {
            for (place, array) in places.into_iter().zip(arrays) {
                let (Some(parts), Some(&leaf)) = (columns.get_mut(place), leaves.get(place)) else {
                    continue;
                };
                for part in parts.iter_mut().filter(|part| {
                    part.array.is_none() && part.rows.start >= start && part.rows.end <= end
                }) {
                    self.cache.metrics.pages.increment();
                    let page = array.slice(part.rows.start - start, part.rows.len());
                    let bytes = page.to_data().get_slice_memory_size().unwrap_or(0);
                    self.cache.metrics.page_bytes.add(bytes as u64);
                    let chunk = self.parquet.chunk_id(group, leaf);
                    let page = self.part_alone(chunk, &page)?;
                    part.array = Some(self.cache_page(chunk, part.page, page));
                }
            }
        }
        let column = |parts| CachedColumn { rows: rows.clone(), parts };
        Ok(columns.into_iter().map(column).collect())
    }

    /// The parts of a chunk that make up `rows`, with what is in memory, and without what is not:
    /// whole pages.
    fn cached_parts(&self, chunk: ColumnChunkId, rows: &Range<usize>) -> Vec<PageSlice> {
        let pages = pages_covering(&self.parquet, chunk, rows);
        let bytes = pages.clone().map(|page| page.bytes).fold(0, u64::saturating_add);
        if pages.clone().next().is_none() || bytes > MAX_CACHED_READ_BYTES {
            let rows = rows.clone();
            return vec![PageSlice { rows, array: None, page: None, is_large: false }];
        }
        let values = OnceCell::new();
        let part = |PageLocation { page, rows: of_page, bytes }| {
            let wanted = intersection(&of_page, rows);
            let inside = wanted.start - of_page.start..wanted.end - of_page.start;
            let array = self.cache.rows_of_page(chunk, page, inside, &values);
            let rows = if array.is_some() { wanted } else { of_page };
            PageSlice { rows, array, page: Some(page), is_large: bytes > LARGE_PAGE_BYTES }
        };
        pages.map(part).collect()
    }

    /// All of `rows` of some columns.
    async fn decode_columns(
        &self,
        group: usize,
        leaves: Vec<usize>,
        rows: Range<usize>,
    ) -> Result<Vec<ArrayRef>, StorageFailure> {
        let mask = ProjectionMask::leaves(
            self.parquet.metadata.file_metadata().schema_descr(),
            leaves.iter().copied(),
        );
        let length = rows.len();
        let range = RowRange { group, rows, wanted: None };
        let cleared = |batch: RecordBatch| {
            let columns = batch.into_parts().1.into_iter().map(clear_nulls);
            Ok::<_, ParquetError>(columns.collect::<Result<Vec<_>, ArrowError>>()?)
        };
        let decoded = match self.reader(&self.parquet.output, mask, range, length).await? {
            Some(reader) => self.batch(group, reader, cleared).await?,
            None => None,
        };
        match decoded {
            Some((_, columns))
                if columns.len() == leaves.len()
                    && columns.iter().all(|column| column.len() == length) =>
            {
                Ok(columns)
            }
            _ => Err(StorageFailure::damaged(
                &self.parquet.key,
                format!("row group {group} has fewer rows than the footer says"),
            )),
        }
    }

    /// Part of what was decoded at once, as if it had been decoded alone: which of its neighbours
    /// were decoded with it is decided by what was in memory.
    fn part_alone(
        &self,
        chunk: ColumnChunkId,
        part: &ArrayRef,
    ) -> Result<ArrayRef, StorageFailure> {
        let of_chunk = self.parquet.metadata.row_group(chunk.group).column(chunk.leaf);
        let alone = match part.data_type() {
            // It has a dictionary of all that was decoded.
            DataType::Dictionary(_, values) if !is_dictionary_encoded(of_chunk) => {
                cast(part, values).and_then(|texts| cast(&texts, part.data_type()))
            }
            _ => with_own_bits(Arc::clone(part)),
        };
        alone.map_err(|error| {
            let why = format!("row group {}: {error}", chunk.group);
            StorageFailure::damaged(&self.parquet.key, why)
        })
    }

    /// Keeps a page for the next read; returns it with the dictionary that all pages of its chunk
    /// share.
    fn cache_page(&self, chunk: ColumnChunkId, page: Option<usize>, array: ArrayRef) -> ArrayRef {
        let Some(page) = page else { return array };
        let of_chunk = self.parquet.metadata.row_group(chunk.group).column(chunk.leaf);
        let shared = array
            .as_dictionary_opt::<Int32Type>()
            .filter(|_| is_dictionary_encoded(of_chunk))
            .and_then(|keyed| {
                let dictionary = self.shared_dictionary(chunk, keyed.values());
                let values = Arc::clone(dictionary.values());
                DictionaryArray::try_new(keyed.keys().clone(), values).ok()
            });
        match shared {
            Some(shared) => {
                self.cache.insert_keys(chunk, page, &shared);
                Arc::new(shared)
            }
            None => {
                self.cache.insert_page(chunk, page, Arc::clone(&array));
                array
            }
        }
    }
}

/// Rows that have to be decoded, as long runs as there are and large pages alone, each with the
/// places of the columns that lack them.
fn missing_runs(columns: &[Vec<PageSlice>]) -> BTreeMap<(usize, usize), Vec<usize>> {
    let mut runs: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
    for (place, parts) in columns.iter().enumerate() {
        let together = |left: &PageSlice, right: &PageSlice| {
            left.array.is_none() == right.array.is_none() && !left.is_large && !right.is_large
        };
        for run in parts.chunk_by(together) {
            if let [first, ..] = run
                && let [.., last] = run
                && first.array.is_none()
            {
                runs.entry((first.rows.start, last.rows.end)).or_default().push(place);
            }
        }
    }
    runs
}

/// Parts of a column as one.
fn join(cut: &[ArrayRef]) -> Result<ArrayRef, ArrowError> {
    if let [only] = cut {
        return Ok(Arc::clone(only));
    }
    let joined = |parts: &[ArrayRef]| {
        concat(&parts.iter().map(|array| &**array).collect::<Vec<&dyn Array>>())
    };
    let keyed: Vec<_> =
        cut.iter().filter_map(|array| array.as_dictionary_opt::<Int32Type>()).collect();
    let Some(first) = keyed.first().filter(|_| keyed.len() == cut.len()) else {
        return joined(cut);
    };
    // Keys alone are joined where the dictionary is the same, which may have come into memory anew.
    let values = first.values();
    if keyed.iter().all(|other| Arc::ptr_eq(other.values(), values) || other.values() == values) {
        let keys: Vec<&dyn Array> = keyed.iter().map(|keyed| keyed.keys() as &dyn Array).collect();
        let keys = concat(&keys)?.as_primitive::<Int32Type>().clone();
        return Ok(Arc::new(DictionaryArray::try_new(keys, Arc::clone(values))?));
    }
    // What dictionaries of parts are joined to is decided by their rows alone.
    let texts = cut.iter().map(|part| cast(part, values.data_type()));
    let texts = joined(&texts.collect::<Result<Vec<_>, ArrowError>>()?)?;
    cast(&texts, first.data_type())
}
