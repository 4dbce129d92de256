//! Counters by a small key, made when they are first counted: a table of fixed size without locks.

use std::sync::atomic::{AtomicU64, Ordering};

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
    /// What there was no room for.
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

    /// What was added where no room was left.
    pub(crate) fn overflow(&self) -> u64 {
        self.others.load(Ordering::Relaxed)
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
}
