//! Counts of deliveries since the start of the process. Label values come from a fixed set.

use yearbook_counters::{Counter, Metric as _};
use yearbook_domain::words;

/// Outcome of an attempt to deliver a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryOutcome {
    /// The address took it.
    Delivered,
    /// It did not; there will be another attempt.
    Retried,
    /// It did not, and is told of nothing any more.
    Ended,
}

words! {
    DeliveryOutcome { Delivered = "delivered", Retried = "retried", Ended = "ended" }
}

/// The counts.
#[derive(Debug, Default)]
pub(crate) struct DeliveryMetrics([Counter; DeliveryOutcome::ALL.len()]);

impl DeliveryMetrics {
    pub(crate) fn count(&self, outcome: DeliveryOutcome) {
        self.0[outcome as usize].increment();
    }

    pub(crate) fn read(&self, outcome: DeliveryOutcome) -> u64 {
        self.0[outcome as usize].read()
    }
}
