//! Durations in buckets, counted without a lock.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Upper bounds of buckets, microseconds: from what a cached answer takes to what the slowest
/// clients have patience for.
pub(crate) const BOUNDS_US: [u64; 17] = [
    250,
    500,
    1_000,
    2_500,
    5_000,
    10_000,
    25_000,
    50_000,
    100_000,
    250_000,
    500_000,
    1_000_000,
    2_500_000,
    5_000_000,
    10_000_000,
    60_000_000,
    600_000_000,
];

/// Observed durations.
#[derive(Debug, Default)]
pub(crate) struct Histogram {
    buckets: [AtomicU64; BOUNDS_US.len() + 1],
    sum_us: AtomicU64,
}

impl Histogram {
    /// Adds a duration.
    pub(crate) fn observe(&self, time: Duration) {
        let us = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let bucket = BOUNDS_US.iter().position(|bound| us <= *bound).unwrap_or(BOUNDS_US.len());
        self.buckets[bucket].fetch_add(1, Ordering::Relaxed);
        self.sum_us.fetch_add(us, Ordering::Relaxed);
    }

    /// Counts of each bucket, and the sum.
    pub(crate) fn read(&self) -> ([u64; BOUNDS_US.len() + 1], Duration) {
        let counts = self.buckets.each_ref().map(|count| count.load(Ordering::Relaxed));
        (counts, Duration::from_micros(self.sum_us.load(Ordering::Relaxed)))
    }
}
