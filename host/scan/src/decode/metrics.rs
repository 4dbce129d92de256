//! Counters of reading since the start, for operators and for tests.

use std::sync::atomic::{AtomicU64, Ordering};

/// Work of a [`crate::Reader`] and its clones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadMetricsSnapshot {
    /// Scans begun.
    pub scans: u64,
    /// Pages decoded for small reads; large ones keep none and are not counted.
    pub pages: u64,
    /// Bytes of these pages once decoded.
    pub page_bytes: u64,
    /// Row groups that a text was looked for in.
    pub groups_searched: u64,
    /// Those of them whose dictionaries told that it is not there, so that no row was read.
    pub groups_ruled_out: u64,
    /// Values of dictionaries in which a text was looked for.
    pub values_searched: u64,
    /// Rows in which a text was looked for.
    pub rows_searched: u64,
    /// Decoded pages of small reads.
    pub kept_pages: CacheMetricsSnapshot,
    /// Dictionaries.
    pub kept_dictionaries: CacheMetricsSnapshot,
    /// Footers and page indexes of stored files.
    pub kept_footers: CacheMetricsSnapshot,
}

/// Size and hit rate of a cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheMetricsSnapshot {
    /// Found in memory.
    pub hits: u64,
    /// Not found.
    pub misses: u64,
    /// Bytes in memory now.
    pub bytes: u64,
}

/// Counters of reading since the start.
#[derive(Debug, Default)]
pub(crate) struct ReadMetrics {
    /// Scans begun.
    pub(crate) scans: AtomicU64,
    /// Pages decoded for small reads.
    pub(crate) pages: AtomicU64,
    /// Bytes of these pages once decoded.
    pub(crate) page_bytes: AtomicU64,
    /// Row groups that a pattern was looked for in.
    pub(crate) groups: AtomicU64,
    /// Row groups of those whose dictionaries tell that it is not there.
    pub(crate) ruled_out: AtomicU64,
    /// Pages, dictionaries and footers that were in memory when they were wanted, and that were
    /// not.
    pub(crate) found: [(AtomicU64, AtomicU64); 3],
    /// Dictionary values in which a pattern was looked for.
    pub(crate) values: AtomicU64,
    /// Rows decoded, of any number of columns, to look for a pattern in them.
    pub(crate) rows: AtomicU64,
}

/// Places in [`ReadMetrics::found`].
pub(super) const PAGE_LOOKUPS: usize = 0;
pub(super) const DICTIONARY_LOOKUPS: usize = 1;
pub(crate) const FOOTER_LOOKUPS: usize = 2;

impl ReadMetrics {
    /// Adds to a count.
    pub(crate) fn add(count: &AtomicU64, more: usize) {
        count.fetch_add(more as u64, Ordering::Relaxed);
    }

    /// Counts a look into memory.
    pub(crate) fn record_lookup(&self, place: usize, found: bool) {
        let (hits, misses) = &self.found[place];
        Self::add(if found { hits } else { misses }, 1);
    }
}
