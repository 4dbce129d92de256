//! Requests to a store on the network, each attempt by itself: one that is made again is there
//! twice.

use std::sync::atomic::{AtomicU64, Ordering};

/// Attempts so far, and those of them that were no use: 5xx, 429, or no answer.
#[derive(Debug, Default)]
pub(super) struct StoreRequestMetrics {
    sent: AtomicU64,
    failed: AtomicU64,
}

impl StoreRequestMetrics {
    /// Attempts, and those that failed.
    pub(super) fn read(&self) -> (u64, u64) {
        (self.sent.load(Ordering::Relaxed), self.failed.load(Ordering::Relaxed))
    }

    /// Counts an attempt that is about to be made.
    #[cfg(feature = "s3")]
    pub(super) fn count_sent(&self) {
        self.sent.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts an attempt that failed.
    #[cfg(feature = "s3")]
    pub(super) fn count_failed(&self) {
        self.failed.fetch_add(1, Ordering::Relaxed);
    }
}
