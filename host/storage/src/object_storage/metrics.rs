//! Counters of reads of stored files and of requests to a store on the network. Owns no policy:
//! nothing is decided by them.

use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;

use crate::StorageFailure;

/// Cost of stored files since the start. Reads are those of responses, not of publishing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StorageMetricsSnapshot {
    /// Reads, of one or several ranges each.
    pub reads: u64,
    /// Bytes that they returned, whole blocks.
    pub bytes: u64,
    /// Reads that failed: missing, damaged or refused.
    pub failures: u64,
    /// Requests to a store on the network, publishing and every attempt included.
    pub requests: u64,
    /// Those that were answered by 5xx or 429, or not at all.
    pub failed_requests: u64,
}

#[derive(Debug, Default)]
pub(super) struct StorageMetrics {
    reads: AtomicU64,
    bytes: AtomicU64,
    failures: AtomicU64,
}

impl StorageMetrics {
    /// Counts a read that ended as `outcome`.
    pub(super) fn count(&self, outcome: &Result<Vec<Bytes>, StorageFailure>) {
        self.reads.fetch_add(1, Ordering::Relaxed);
        match outcome {
            Ok(got) => self
                .bytes
                .fetch_add(got.iter().map(|bytes| bytes.len() as u64).sum(), Ordering::Relaxed),
            Err(_) => self.failures.fetch_add(1, Ordering::Relaxed),
        };
    }

    pub(super) fn read(&self, requests: &StoreRequestMetrics) -> StorageMetricsSnapshot {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let (requests, failed_requests) = requests.read();
        StorageMetricsSnapshot {
            reads: read(&self.reads),
            bytes: read(&self.bytes),
            failures: read(&self.failures),
            requests,
            failed_requests,
        }
    }
}

/// Requests to a store on the network. Each attempt counts by itself: one that is made again is
/// there twice. `failed` are those without use: 5xx, 429, or no answer.
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
