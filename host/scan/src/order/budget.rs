//! Room for what selections hold while rows are found, bounded over all scans together.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::Notify;

use crate::StorageFailure;

/// Bytes that selections hold, over all scans (`limits.selection_bytes`). Default 256 MiB.
pub(crate) const SELECTION_BUDGET_BYTES: u64 = 256 << 20;

/// Room for the state of selections. Who waits for it holds none, and nobody queues: what is free
/// goes to whoever it is enough for, so that one who wants much keeps nobody else waiting.
#[derive(Clone)]
pub(crate) struct SelectionBudget {
    room: Arc<Room>,
}

struct Room {
    total: u64,
    taken: AtomicU64,
    freed: Notify,
}

/// Room that is taken until this is dropped.
pub(crate) struct SelectionPermit {
    room: Arc<Room>,
    bytes: u64,
}

impl SelectionBudget {
    /// Room for `bytes`.
    pub(crate) fn new(bytes: u64) -> Self {
        let (taken, freed) = (AtomicU64::new(0), Notify::new());
        Self { room: Arc::new(Room { total: bytes, taken, freed }) }
    }

    /// Waits for room for `bytes`. The request's deadline bounds the wait.
    ///
    /// # Errors
    /// [`StorageFailure::SelectionTooLarge`] at once where that is more than all of it.
    pub(crate) async fn take(&self, bytes: u64) -> Result<SelectionPermit, StorageFailure> {
        let room = &self.room;
        loop {
            let freed = room.freed.notified();
            match room.add(bytes, bytes, room.total) {
                Ok(()) => return Ok(SelectionPermit { room: Arc::clone(room), bytes }),
                Err(StorageFailure::SelectionBusy) => freed.await,
                Err(failure) => return Err(failure),
            }
        }
    }

    /// Room for `bytes` that are held for as long as a client reads, where half of all room stays
    /// free: slow clients keep no selection from being found.
    pub(super) fn take_spare(&self, bytes: u64) -> Option<SelectionPermit> {
        let room = Arc::clone(&self.room);
        room.add(bytes, bytes, room.total / 2).ok()?;
        Some(SelectionPermit { room, bytes })
    }

    /// All room, free or taken.
    pub(crate) fn total(&self) -> u64 {
        self.room.total
    }

    /// Bytes that are free now.
    #[cfg(test)]
    pub(crate) fn free(&self) -> u64 {
        self.room.total - self.room.taken.load(Ordering::SeqCst)
    }
}

impl Room {
    /// Takes `bytes` more, of the first `most`, for one that then holds `all`.
    fn add(&self, bytes: u64, all: u64, most: u64) -> Result<(), StorageFailure> {
        if all > self.total {
            return Err(StorageFailure::SelectionTooLarge);
        }
        let fits = |taken: u64| taken.checked_add(bytes).filter(|taken| *taken <= most);
        let added = self.taken.fetch_update(Ordering::SeqCst, Ordering::SeqCst, fits);
        added.map(drop).map_err(|_| StorageFailure::SelectionBusy)
    }
}

impl SelectionPermit {
    /// Has room for `bytes`, of what is free now where that is more than before.
    ///
    /// # Errors
    /// [`StorageFailure::SelectionTooLarge`] where that is more than all of it,
    /// [`StorageFailure::SelectionBusy`] where others hold it: who holds some does not wait.
    pub(super) fn grow_to(&mut self, bytes: u64) -> Result<(), StorageFailure> {
        if bytes > self.bytes {
            self.room.add(bytes - self.bytes, bytes, self.room.total)?;
            self.bytes = bytes;
        }
        Ok(())
    }
}

impl Drop for SelectionPermit {
    fn drop(&mut self) {
        self.room.taken.fetch_sub(self.bytes, Ordering::SeqCst);
        self.room.freed.notify_waiters();
    }
}
