//! Linear memory of all guests together, within `sandbox.total_memory_bytes`. A new response waits
//! while three quarters are taken; the last quarter is left to those that have begun, whose memory
//! still grows.

use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Notify;

/// Memory that all instances of a sandbox hold.
pub(crate) struct MemoryBudget {
    held: AtomicUsize,
    total: usize,
    /// Signal that there is room again.
    freed: Notify,
}

impl MemoryBudget {
    pub(crate) fn new(total: usize) -> Self {
        Self { held: AtomicUsize::new(0), total, freed: Notify::new() }
    }

    /// Bytes held now.
    pub(crate) fn used(&self) -> usize {
        self.held.load(Ordering::Relaxed)
    }

    /// Counts so many bytes more; false, and not counted, when there is no more to have.
    pub(crate) fn take(&self, bytes: usize) -> bool {
        let within = |held: usize| held.checked_add(bytes).filter(|held| *held <= self.total);
        self.held.fetch_update(Ordering::Relaxed, Ordering::Relaxed, within).is_ok()
    }

    /// Counts bytes that were taken as free again.
    pub(crate) fn give_back(&self, bytes: usize) {
        let before = self.held.fetch_sub(bytes, Ordering::Relaxed);
        if !self.has_room_at(before) && self.has_room_at(before.saturating_sub(bytes)) {
            self.freed.notify_waiters();
        }
    }

    /// Returns whether a response may begin.
    pub(crate) fn has_room(&self) -> bool {
        self.has_room_at(self.used())
    }

    /// Waits until a response may begin.
    pub(crate) async fn wait_for_room(&self) {
        loop {
            // Listens before it looks, so that room made in between is not missed.
            let freed = self.freed.notified();
            if self.has_room() {
                return;
            }
            freed.await;
        }
    }

    fn has_room_at(&self, held: usize) -> bool {
        held <= self.total - self.total / 4
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_last_quarter_is_for_those_that_have_begun() {
        let memory = MemoryBudget::new(100);
        assert!(memory.take(75) && memory.has_room());
        assert!(memory.take(1) && !memory.has_room());
        assert!(
            !memory.take(25) && memory.used() == 76,
            "more than all is refused and not counted"
        );
        assert!(memory.take(24) && memory.used() == 100);
        memory.give_back(25);
        assert!(memory.has_room());
    }

    #[tokio::test]
    async fn whoever_waits_goes_on_when_memory_is_given_back() {
        let memory = Arc::new(MemoryBudget::new(100));
        assert!(memory.take(90));
        let waiting = tokio::spawn({
            let memory = Arc::clone(&memory);
            async move { memory.wait_for_room().await }
        });
        tokio::time::sleep(Duration::from_millis(20)).await;
        memory.give_back(5);
        tokio::time::sleep(Duration::from_millis(20)).await;
        assert!(!waiting.is_finished(), "85 of 100 are still taken");
        memory.give_back(10);
        assert!(tokio::time::timeout(Duration::from_secs(10), waiting).await.is_ok());
    }
}
