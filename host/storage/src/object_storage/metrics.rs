//! Counters of reads of stored files and of requests to a store on the network. Owns no policy:
//! nothing is decided by them.

use bytes::Bytes;
use yearbook_counters::{Counter, Metric as _, ReadingSlot, counters};

use crate::StorageFailure;

counters! {
    /// Counters of reads of stored files.
    #[derive(Debug, Default)]
    pub(super) struct StorageMetrics;

    /// Cost of stored files since the start. Reads are those of responses, not of publishing.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct StorageMetricsSnapshot {
        /// Reads, of one or several ranges each.
        reads: Counter,
        /// Bytes that they returned, whole blocks.
        bytes: Counter,
        /// Reads that failed: missing, damaged or refused.
        failures: Counter,
        /// Requests to a store on the network, publishing and every attempt included.
        requests: ReadingSlot<u64>,
        /// Requests that were answered by 5xx or 429, or not at all.
        failed_requests: ReadingSlot<u64>,
    }
}

impl StorageMetrics {
    /// Counts a read that ended as `outcome`.
    pub(super) fn count(&self, outcome: &Result<Vec<Bytes>, StorageFailure>) {
        self.reads.increment();
        match outcome {
            Ok(got) => self.bytes.add(got.iter().map(|bytes| bytes.len() as u64).sum()),
            Err(_) => self.failures.increment(),
        };
    }

    /// Counts so far, with those of `requests`.
    pub(super) fn read_with(&self, requests: &StoreRequestMetrics) -> StorageMetricsSnapshot {
        StorageMetricsSnapshot {
            requests: requests.sent.read(),
            failed_requests: requests.failed.read(),
            ..self.read()
        }
    }
}

/// Requests to a store on the network. Each attempt counts by itself: one that is made again is
/// there twice. `failed` are those without use: 5xx, 429, or no answer.
#[derive(Debug, Default)]
pub(super) struct StoreRequestMetrics {
    sent: Counter,
    failed: Counter,
}

#[cfg(feature = "s3")]
impl StoreRequestMetrics {
    /// Counts an attempt that is about to be made.
    pub(super) fn count_sent(&self) {
        self.sent.increment();
    }

    /// Counts an attempt that failed.
    pub(super) fn count_failed(&self) {
        self.failed.increment();
    }
}
