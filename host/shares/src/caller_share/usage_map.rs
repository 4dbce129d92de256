//! Entries of callers by key or address, and when those that nobody holds are dropped.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use tokio::sync::Notify;

use super::CallerUsage;
use crate::processor_time::RecentProcessorTime;

/// Entries before those that nobody holds are looked for.
const EVICTION_THRESHOLD: usize = 1_024;

/// Entries of all callers of one kind.
pub(super) struct UsageMap<K> {
    all: HashMap<K, Arc<CallerUsage>>,
    sweep_at: usize,
}

impl<K> Default for UsageMap<K> {
    fn default() -> Self {
        Self { all: HashMap::new(), sweep_at: EVICTION_THRESHOLD }
    }
}

impl<K: Hash + Eq> UsageMap<K> {
    /// Callers that have an entry.
    pub(super) fn callers(&self) -> impl Iterator<Item = &Arc<CallerUsage>> {
        self.all.values()
    }

    /// Returns the entry called `id`, a new one with a share of `percent` where there is none.
    pub(super) fn get_or_insert<Q>(
        &mut self,
        id: &Q,
        own: impl FnOnce(&Q) -> K,
        percent: u32,
    ) -> Arc<CallerUsage>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        if let Some(caller) = self.all.get(id) {
            return Arc::clone(caller);
        }
        if self.all.len() >= self.sweep_at {
            self.all.retain(|_, caller| Arc::strong_count(caller) > 1);
            // Twice what is in use, so that each entry is looked at a bounded number of times.
            self.sweep_at = EVICTION_THRESHOLD.max(self.all.len() * 2);
        }
        let (held, waiting) = (Default::default(), Default::default());
        let caller = Arc::new(CallerUsage {
            percent,
            held,
            waiting,
            bytes: AtomicUsize::new(0),
            selection_bytes: AtomicUsize::new(0),
            processor: RecentProcessorTime::default(),
            freed: Notify::new(),
        });
        self.all.insert(own(id), Arc::clone(&caller));
        caller
    }
}

#[cfg(test)]
mod tests {
    use super::super::{CallerRegistry, SharePercent, lock};
    use super::*;

    #[test]
    fn entries_that_nobody_holds_are_forgotten() {
        let callers = CallerRegistry::new(SharePercent { key: 25, address: 50 }, 1 << 20);
        let held = callers.holder(Some("held"), None);
        let lease = held.lease(7);
        for number in 0..10 * EVICTION_THRESHOLD {
            drop(callers.holder(Some(&number.to_string()), None));
        }
        assert!(lock(&callers.keys).callers().count() <= EVICTION_THRESHOLD + 1);
        assert_eq!(
            callers.holder(Some("held"), None).room(),
            (1 << 18) - 7,
            "who holds something keeps its entry"
        );
        drop(lease);
    }
}
