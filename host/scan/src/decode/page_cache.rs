//! Memory that small reads and searches leave for the next ones: decoded pages and dictionaries.
//! All of it was checked when it was read, and none of it can become wrong, since a stored file is
//! never changed.

use std::cell::OnceCell;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, DictionaryArray, NullArray};
use arrow::datatypes::{DataType, Int32Type};
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
    /// Those of a chunk with a dictionary hold numbers of its values and not the values.
    pages: BlockingCache<(ColumnChunkId, usize), ArrayRef>,
    dictionaries: BlockingCache<ColumnChunkId, Arc<ColumnDictionary>>,
    /// Counters of reading since the start.
    pub(crate) metrics: ReadMetrics,
}

impl PageCache {
    /// Nothing yet.
    pub(crate) fn new() -> Self {
        Self::with_dictionary_bytes(DICTIONARY_CACHE_BYTES)
    }

    /// The same with dictionaries of so many bytes.
    pub(crate) fn with_dictionary_bytes(bytes: u64) -> Self {
        let page = |_: &(ColumnChunkId, usize), page: &ArrayRef| {
            entry_weight(page.get_buffer_memory_size())
        };
        let dictionary = |_: &ColumnChunkId, dictionary: &Arc<ColumnDictionary>| {
            entry_weight(dictionary.bytes())
        };
        Self {
            pages: BlockingCache::weighted(PAGE_CACHE_BYTES, page),
            // Frequency would keep a large one out for which many small ones had to go, and with it
            // all pages that refer to it.
            dictionaries: BlockingCache::weighted_by_recency(bytes, dictionary),
            metrics: ReadMetrics::default(),
        }
    }

    /// Rows of a page decoded for clients, counted within it, if it is here, and so is the
    /// dictionary of its chunk, which `values` holds for the next page of the chunk.
    pub(crate) fn rows_of_page(
        &self,
        chunk: ColumnChunkId,
        page: usize,
        rows: Range<usize>,
        values: &OnceCell<Option<ArrayRef>>,
    ) -> Option<ArrayRef> {
        let page = self.pages.get(&(chunk, page)).filter(|page| rows.end <= page.len());
        let rows = page.and_then(|page| {
            rows_with_values(&page, rows, || {
                let find = || Some(Arc::clone(self.dictionaries.get(&chunk)?.values()));
                values.get_or_init(find).as_ref()
            })
        });
        self.metrics.kept_pages.record_lookup(rows.is_some());
        rows
    }

    /// All rows of a page.
    #[cfg(test)]
    fn page(
        &self,
        chunk: ColumnChunkId,
        page: usize,
        values: &OnceCell<Option<ArrayRef>>,
    ) -> Option<ArrayRef> {
        let rows = self.pages.get(&(chunk, page))?.len();
        self.rows_of_page(chunk, page, 0..rows, values)
    }

    /// Bytes of pages and dictionaries that are here.
    pub(crate) fn bytes(&self) -> [u64; 2] {
        [self.pages.weight(), self.dictionaries.weight()]
    }

    /// Keeps a page, unless it is large.
    pub(crate) fn insert_page(&self, chunk: ColumnChunkId, page: usize, array: ArrayRef) {
        if array.get_buffer_memory_size() <= MAX_CACHED_PAGE_BYTES {
            self.pages.insert((chunk, page), array);
        }
    }

    /// The same of a page whose dictionary is that of its chunk: one that goes is gone, whatever
    /// pages of it are here.
    pub(crate) fn insert_keys(
        &self,
        chunk: ColumnChunkId,
        page: usize,
        keyed: &DictionaryArray<Int32Type>,
    ) {
        let none = NullArray::new(keyed.values().len());
        self.insert_page(chunk, page, Arc::new(keyed.with_values(Arc::new(none))));
    }

    /// Waits until dictionaries that do not fit are gone.
    #[cfg(test)]
    pub(crate) fn settle(&self) {
        self.dictionaries.settle();
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

/// Rows of a page as it was before [`PageCache::insert_keys`]; `None` where its values are gone.
fn rows_with_values<'a>(
    page: &ArrayRef,
    rows: Range<usize>,
    values: impl FnOnce() -> Option<&'a ArrayRef>,
) -> Option<ArrayRef> {
    let keyed = page.as_dictionary_opt::<Int32Type>();
    let keyed = keyed.filter(|keyed| *keyed.values().data_type() == DataType::Null);
    let Some(keyed) = keyed else { return Some(page.slice(rows.start, rows.len())) };
    let values = values().filter(|values| values.len() == keyed.values().len())?;
    // Their numbers were checked when the page was kept; to check them again is most of a read.
    Some(Arc::new(keyed.slice(rows.start, rows.len()).with_values(Arc::clone(values))))
}

/// With what an entry costs beside its bytes.
pub(super) fn entry_weight(bytes: usize) -> u32 {
    u32::try_from(bytes.saturating_add(256)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use arrow::array::{Int32Array, StringArray};

    use super::*;

    #[test]
    fn pages_hold_no_dictionary_that_is_gone() {
        // Half a megabyte each.
        let texts = |group: usize| {
            let texts = (0..500).map(|text| format!("{group:04} {text:0995}"));
            Arc::new(StringArray::from_iter_values(texts)) as ArrayRef
        };
        let bytes = ColumnDictionary::new(texts(0)).bytes();
        let cache = PageCache::with_dictionary_bytes(2 * u64::from(entry_weight(bytes)));
        let chunks = (0..200).map(|group| ColumnChunkId { file: 0, group, leaf: 0 });
        let insert = |chunk: ColumnChunkId| {
            let values = ColumnDictionary::new(texts(chunk.group));
            let dictionary = cache.get_or_insert_dictionary(chunk, values);
            let keys = Int32Array::from_iter_values((0..500).rev());
            let keyed = DictionaryArray::try_new(keys, Arc::clone(dictionary.values())).unwrap();
            cache.insert_keys(chunk, 0, &keyed);
            if let Some(found) = cache.page(chunk, 0, &OnceCell::new()) {
                assert_eq!(found.to_data(), keyed.to_data(), "it is what it was");
            }
            cache.settle();
            Arc::downgrade(dictionary.values())
        };
        let dictionaries: Vec<_> = chunks.clone().map(insert).collect();
        (0..10).for_each(|_| cache.settle());
        // Memory of what has just gone is given back a moment later.
        let held = dictionaries.iter().filter(|dictionary| dictionary.strong_count() > 0).count();
        assert!(held <= 20, "{held} dictionaries are held, and two are counted");
        let pages =
            chunks.filter(|chunk| cache.page(*chunk, 0, &OnceCell::new()).is_some()).count();
        assert!((1..=2).contains(&pages), "{pages} pages have their values");
    }
}
