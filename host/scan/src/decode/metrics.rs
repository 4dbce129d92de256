//! Counters of reading since the start, for operators and for tests.

use yearbook_counters::{Counter, ReadingSlot, counters};

counters! {
    /// Counters of a [`crate::Reader`] and its clones.
    #[derive(Debug, Default)]
    pub(crate) struct ReadMetrics;

    /// Work of a [`crate::Reader`] and its clones.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct ReadMetricsSnapshot {
        /// Scans begun.
        scans: Counter,
        /// Pages decoded for small reads; large ones keep none and are not counted.
        pages: Counter,
        /// Bytes of these pages once decoded.
        page_bytes: Counter,
        /// Rows of columns that were decoded whole to be kept.
        column_rows: Counter,
        /// Row groups that matches were looked for in.
        groups_searched: Counter,
        /// Row groups of these whose statistics and dictionaries showed that there is no match, so
        /// that no row was read.
        groups_ruled_out: Counter,
        /// Values of dictionaries that were tested.
        values_searched: Counter,
        /// Rows, decoded of any number of columns, that were tested.
        rows_searched: Counter,
        /// Decoded pages of small reads.
        kept_pages: CacheMetrics,
        /// Columns of row groups for reads of scattered rows.
        kept_columns: CacheMetrics,
        /// Dictionaries.
        kept_dictionaries: CacheMetrics,
        /// Footers and page indexes of stored files.
        kept_footers: CacheMetrics,
    }
}

counters! {
    /// Counters of looks into a cache.
    #[derive(Debug, Default)]
    pub(crate) struct CacheMetrics;

    /// Size and hit rate of a cache.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct CacheMetricsSnapshot {
        /// Found in memory.
        hits: Counter,
        /// Not found.
        misses: Counter,
        /// Bytes in memory now.
        bytes: ReadingSlot<u64>,
    }
}

impl CacheMetrics {
    /// Counts a look into memory.
    pub(crate) fn record_lookup(&self, found: bool) {
        if found { &self.hits } else { &self.misses }.increment();
    }
}
