//! Memory that small reads and searches leave for the next ones: decoded pages and dictionaries.
//! All of it was checked when it was read, and none of it can become wrong, since a stored file is
//! never changed.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray};
use yearbook_cache::BlockingCache;

use super::dictionary::ColumnDictionary;
use super::footer::ColumnChunkId;
use super::metrics::ReadMetrics;

/// Bytes of decoded pages. A hundred rows of ten columns touch ten pages of some 30 kB, so these
/// are the pages of some 200 requests that have nothing in common; the dashboards that everybody
/// looks at are far fewer.
const PAGE_CACHE_BYTES: u64 = 64 << 20;

/// Bytes of a page that is kept at most, a sixteenth of all: pages of geometry have a quarter of a
/// mebibyte, and in files of older releases one mebibyte; a single geometry may be larger.
const MAX_CACHED_PAGE_BYTES: usize = 4 << 20;

/// Bytes of dictionaries, with their folded copies.
const DICTIONARY_CACHE_BYTES: u64 = 64 << 20;

/// Pages and dictionaries of all files, each within its bound.
pub(crate) struct PageCache {
    pages: BlockingCache<(ColumnChunkId, usize), ArrayRef>,
    dictionaries: BlockingCache<ColumnChunkId, Arc<ColumnDictionary>>,
    /// Counters of reading since the start.
    pub(crate) metrics: ReadMetrics,
}

impl PageCache {
    /// Nothing yet.
    pub(crate) fn new() -> Self {
        let page = |_: &(ColumnChunkId, usize), page: &ArrayRef| entry_weight(array_bytes(page));
        let dictionary = |_: &ColumnChunkId, dictionary: &Arc<ColumnDictionary>| {
            entry_weight(dictionary.bytes())
        };
        Self {
            pages: BlockingCache::weighted(PAGE_CACHE_BYTES, page),
            dictionaries: BlockingCache::weighted(DICTIONARY_CACHE_BYTES, dictionary),
            metrics: ReadMetrics::default(),
        }
    }

    /// A page decoded for clients, if it is here.
    pub(crate) fn page(&self, chunk: ColumnChunkId, page: usize) -> Option<ArrayRef> {
        let page = self.pages.get(&(chunk, page));
        self.metrics.kept_pages.record_lookup(page.is_some());
        page
    }

    /// Bytes of pages and dictionaries that are here.
    pub(crate) fn bytes(&self) -> [u64; 2] {
        [self.pages.weight(), self.dictionaries.weight()]
    }

    /// Keeps a page, unless it is large.
    pub(crate) fn insert_page(&self, chunk: ColumnChunkId, page: usize, array: ArrayRef) {
        if array_bytes(&array) <= MAX_CACHED_PAGE_BYTES {
            self.pages.insert((chunk, page), array);
        }
    }

    /// A dictionary, if it is here.
    pub(crate) fn dictionary(&self, chunk: ColumnChunkId) -> Option<Arc<ColumnDictionary>> {
        let dictionary = self.dictionaries.get(&chunk);
        self.metrics.kept_dictionaries.record_lookup(dictionary.is_some());
        dictionary
    }

    /// Keeps a dictionary; returns the one that was here already, if any, so that all share one.
    pub(crate) fn get_or_insert_dictionary(
        &self,
        chunk: ColumnChunkId,
        dictionary: ColumnDictionary,
    ) -> Arc<ColumnDictionary> {
        self.dictionaries.get_with(chunk, || Arc::new(dictionary))
    }
}

/// Bytes of an array without the dictionary that it shares with others.
fn array_bytes(array: &ArrayRef) -> usize {
    match array.as_any_dictionary_opt() {
        Some(keyed) => keyed.keys().get_buffer_memory_size(),
        None => array.get_buffer_memory_size(),
    }
}

/// With what an entry costs beside its bytes.
pub(super) fn entry_weight(bytes: usize) -> u32 {
    u32::try_from(bytes.saturating_add(256)).unwrap_or(u32::MAX)
}
