//! What reading has done since the start: for whoever watches the service.

use std::sync::atomic::{AtomicU64, Ordering};

use super::Reader;

/// What a [`Reader`] and its clones have done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadMetricsSnapshot {
    /// Scans begun.
    pub scans: u64,
    /// Pages decoded for small reads; large ones keep none and are not counted.
    pub pages: u64,
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

/// What is kept in memory, and how often it was of use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheMetricsSnapshot {
    /// Found in memory.
    pub hits: u64,
    /// Not found.
    pub misses: u64,
    /// Bytes in memory now.
    pub bytes: u64,
}

impl Reader {
    /// What reading has done so far.
    #[must_use]
    pub fn counts(&self) -> ReadMetricsSnapshot {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let effort = &self.kept.effort;
        let [pages, dictionaries, footers] = &effort.found;
        let kept = |found: &(AtomicU64, AtomicU64), bytes| CacheMetricsSnapshot {
            hits: read(&found.0),
            misses: read(&found.1),
            bytes,
        };
        let [page_bytes, dictionary_bytes] = self.kept.bytes();
        ReadMetricsSnapshot {
            scans: read(&effort.scans),
            pages: read(&effort.pages),
            groups_searched: read(&effort.groups),
            groups_ruled_out: read(&effort.ruled_out),
            values_searched: read(&effort.values),
            rows_searched: read(&effort.rows),
            kept_pages: kept(pages, page_bytes),
            kept_dictionaries: kept(dictionaries, dictionary_bytes),
            kept_footers: kept(footers, self.footers.weighted_size()),
        }
    }
}
