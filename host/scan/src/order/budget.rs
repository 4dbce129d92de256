//! Room for what selections hold while rows are found, bounded over all scans together and for each
//! caller.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use yearbook_shares::CallerShare;

use crate::StorageFailure;

/// Bytes that selections hold, over all scans (`limits.selection_bytes`). Default 256 MiB.
pub(crate) const SELECTION_BUDGET_BYTES: u64 = 256 << 20;

/// Room for the state of selections of one caller. Who waits for it holds none, and nobody queues:
/// what is free goes to whoever it is enough for, so that one who wants much keeps nobody else
/// waiting.
#[derive(Clone)]
pub(crate) struct SelectionBudget {
    room: Arc<Room>,
    holder: CallerShare,
}

/// Room of all callers.
struct Room {
    total: usize,
    /// Bytes that are taken; what each caller holds of them changes under this lock alone.
    taken: Mutex<usize>,
    freed: Notify,
}

/// Room that is taken until this is dropped.
pub(crate) struct SelectionPermit {
    budget: SelectionBudget,
    bytes: usize,
}

impl SelectionBudget {
    /// Room for `bytes`, for nobody in particular.
    pub(crate) fn new(bytes: u64) -> Self {
        let (taken, freed) = (Mutex::new(0), Notify::new());
        let room = Arc::new(Room { total: size(bytes), taken, freed });
        Self { room, holder: CallerShare::default() }
    }

    /// The same room on the account of `holder`.
    pub(crate) fn for_caller(&self, holder: &CallerShare) -> Self {
        Self { room: Arc::clone(&self.room), holder: holder.clone() }
    }

    /// The account.
    pub(crate) fn holder(&self) -> &CallerShare {
        &self.holder
    }

    /// Waits for room for `bytes`. The request's deadline bounds the wait.
    ///
    /// # Errors
    /// [`StorageFailure::SelectionTooLarge`] at once where that is more than a caller can have.
    pub(crate) async fn take(&self, bytes: u64) -> Result<SelectionPermit, StorageFailure> {
        let bytes = size(bytes);
        loop {
            let freed = self.room.freed.notified();
            match self.add(bytes, bytes) {
                Ok(()) => return Ok(SelectionPermit { budget: self.clone(), bytes }),
                Err(StorageFailure::SelectionBusy) => freed.await,
                Err(failure) => return Err(failure),
            }
        }
    }

    /// Room for `bytes` that are held for as long as a client reads, where half of all room and of
    /// the caller's share stays free: slow clients keep no selection from being found.
    pub(crate) fn take_spare(&self, bytes: u64) -> Option<SelectionPermit> {
        let (bytes, total) = (size(bytes), self.room.total);
        let mut taken = self.room.lock();
        let left = self.holder.selection_room(total).checked_sub(bytes)?;
        if left < self.holder.share_of(total) / 2 {
            return None;
        }
        self.count(&mut taken, bytes, total / 2).ok()?;
        Some(SelectionPermit { budget: self.clone(), bytes })
    }

    /// All room, free or taken.
    pub(crate) fn total(&self) -> u64 {
        self.room.total as u64
    }

    /// Bytes that are free now.
    #[cfg(test)]
    pub(crate) fn free(&self) -> u64 {
        (self.room.total - *self.room.lock()) as u64
    }

    /// Takes `bytes` more for a selection that then holds `all`: of the caller's share, or of the
    /// first half of all room where the caller holds nothing else.
    fn add(&self, bytes: usize, all: usize) -> Result<(), StorageFailure> {
        let (total, half) = (self.room.total, self.room.total / 2);
        if all > self.holder.share_of(total).max(half) {
            return Err(StorageFailure::SelectionTooLarge);
        }
        let mut taken = self.room.lock();
        if bytes <= self.holder.selection_room(total) {
            self.count(&mut taken, bytes, total)
        } else if self.holder.selection_bytes() <= all - bytes {
            self.count(&mut taken, bytes, half)
        } else {
            Err(StorageFailure::SelectionBusy)
        }
    }

    /// Counts `bytes` among the first `most` of all room.
    fn count(&self, taken: &mut usize, bytes: usize, most: usize) -> Result<(), StorageFailure> {
        let all = taken.checked_add(bytes).filter(|all| *all <= most);
        *taken = all.ok_or(StorageFailure::SelectionBusy)?;
        self.holder.count_selection(bytes);
        Ok(())
    }
}

impl Room {
    /// Nothing under the lock can fail half-way.
    fn lock(&self) -> MutexGuard<'_, usize> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SelectionPermit {
    /// Has room for `bytes`, of what is free now where that is more than before.
    ///
    /// # Errors
    /// [`StorageFailure::SelectionTooLarge`] where that is more than a caller can have,
    /// [`StorageFailure::SelectionBusy`] where others hold it: who holds some does not wait.
    pub(crate) fn grow_to(&mut self, bytes: u64) -> Result<(), StorageFailure> {
        let bytes = size(bytes);
        if bytes > self.bytes {
            self.budget.add(bytes - self.bytes, bytes)?;
            self.bytes = bytes;
        }
        Ok(())
    }
}

impl Drop for SelectionPermit {
    fn drop(&mut self) {
        let room = &self.budget.room;
        let mut taken = room.lock();
        *taken = taken.saturating_sub(self.bytes);
        self.budget.holder.release_selection(self.bytes);
        drop(taken);
        room.freed.notify_waiters();
    }
}

fn size(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}
