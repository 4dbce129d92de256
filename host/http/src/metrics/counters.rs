//! Counters without locks: by a small key, by name, and durations in buckets. Never touches the
//! text of metrics.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Counters that there is room for, a power of two: thirteen routes with the statuses, plans and
/// formats that occur come to some hundreds. 64 KiB.
const SLOTS: usize = 4096;

/// Places that are looked at for a key.
const PROBES: usize = 64;

/// A key that is never asked for marks a free slot.
const FREE: u64 = 0;

/// The table.
#[derive(Debug)]
pub(crate) struct CounterTable {
    slots: Box<[(AtomicU64, AtomicU64)]>,
    /// Count of the keys that there was no room for.
    others: AtomicU64,
}

impl Default for CounterTable {
    fn default() -> Self {
        let slots = (0..SLOTS).map(|_| (AtomicU64::new(FREE), AtomicU64::new(0))).collect();
        Self { slots, others: AtomicU64::new(0) }
    }
}

impl CounterTable {
    /// Adds one to the counter of `key`, which is not zero.
    pub(crate) fn add(&self, key: u64) {
        // The upper bits of a product by an odd number depend on all bits of the key (Knuth, 6.4).
        let first = usize::try_from(key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32).unwrap_or(0);
        for probe in 0..PROBES {
            let (found, count) = &self.slots[(first + probe) % SLOTS];
            let mut taken = found.load(Ordering::Relaxed);
            if taken == FREE {
                taken = found
                    .compare_exchange(FREE, key, Ordering::Relaxed, Ordering::Relaxed)
                    .err()
                    .unwrap_or(key);
            }
            if taken == key {
                count.fetch_add(1, Ordering::Relaxed);
                return;
            }
        }
        self.others.fetch_add(1, Ordering::Relaxed);
    }

    /// Every key with its count, by key.
    pub(crate) fn all(&self) -> Vec<(u64, u64)> {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let mut all: Vec<(u64, u64)> = self
            .slots
            .iter()
            .map(|(key, count)| (read(key), read(count)))
            .filter(|(key, _)| *key != FREE)
            .collect();
        all.sort_unstable();
        all
    }

    /// Returns the count of the keys that there was no room for.
    pub(crate) fn overflow(&self) -> u64 {
        self.others.load(Ordering::Relaxed)
    }
}

/// Name of every name that there is no room for.
const OTHER: &str = "other";

/// Up to `N` - 1 names in the order in which they were first seen; every further one is [`OTHER`].
#[derive(Debug)]
pub(crate) struct NameTable<const N: usize>([OnceLock<Box<str>>; N]);

impl<const N: usize> Default for NameTable<N> {
    fn default() -> Self {
        Self([const { OnceLock::new() }; N])
    }
}

impl<const N: usize> NameTable<N> {
    /// The number of `name`, below `N`.
    pub(crate) fn number(&self, name: &str) -> usize {
        self.0
            .iter()
            .take(N - 1)
            .position(|slot| &**slot.get_or_init(|| name.into()) == name)
            .unwrap_or(N - 1)
    }

    /// The name with that number.
    pub(crate) fn name(&self, number: usize) -> &str {
        self.0.get(number).and_then(OnceLock::get).map_or(OTHER, |name| name)
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_lost_whoever_counts_and_however_many_keys_there_are() {
        let series = CounterTable::default();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (1..=2 * SLOTS as u64).for_each(|key| series.add(key)));
            }
        });
        let all = series.all();
        assert!(all.len() <= SLOTS && all.len() > SLOTS / 2, "{}", all.len());
        assert_eq!(
            all.iter().map(|(_, count)| count).sum::<u64>() + series.overflow(),
            8 * SLOTS as u64
        );
        assert!(all.is_sorted_by(|one, other| one.0 < other.0), "a key has one counter");
    }

    #[test]
    fn a_name_beyond_the_bound_is_other() {
        let names = NameTable::<3>::default();
        assert_eq!(["a", "b", "a", "c", "d"].map(|name| names.number(name)), [0, 1, 0, 2, 2]);
        assert_eq!([0, 1, 2].map(|number| names.name(number)), ["a", "b", "other"]);
    }
}
