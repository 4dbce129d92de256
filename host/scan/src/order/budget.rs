//! Room for what selections hold: keys, counts and masks of rows, bounded over all scans together.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Bytes that selections hold, over all scans (`limits.selection_bytes`). Default 256 MiB.
pub(crate) const SELECTION_BUDGET_BYTES: u64 = 256 << 20;

/// Bytes of one permit: semaphores count to 2^32 at once.
const PERMIT_BYTES: u64 = 1 << 10;

/// Room for the state of selections. It is taken whole before the first row is read, so that no
/// scan waits for more while it holds some.
#[derive(Clone)]
pub(crate) struct SelectionBudget {
    room: Arc<Semaphore>,
    /// Permits of all the room.
    total: u32,
}

/// Room that is taken until this is dropped.
pub(crate) struct SelectionPermit {
    permit: Option<OwnedSemaphorePermit>,
}

impl SelectionPermit {
    /// Gives back what is above `bytes`.
    pub(super) fn shrink(&mut self, bytes: u64) {
        let Some(permit) = &mut self.permit else { return };
        let kept = usize::try_from(bytes.div_ceil(PERMIT_BYTES)).unwrap_or(usize::MAX);
        drop(permit.split(permit.num_permits().saturating_sub(kept)));
    }
}

impl SelectionBudget {
    /// Room for `bytes`.
    pub(crate) fn new(bytes: u64) -> Self {
        let most = u32::try_from(Semaphore::MAX_PERMITS).unwrap_or(u32::MAX);
        let total = u32::try_from(bytes / PERMIT_BYTES).unwrap_or(u32::MAX).min(most);
        Self { room: Arc::new(Semaphore::new(usize::try_from(total).unwrap_or(0))), total }
    }

    /// Waits for room for `bytes`, or for all of it where that is less. The request's deadline
    /// bounds the wait.
    pub(crate) async fn take(&self, bytes: u64) -> SelectionPermit {
        let wanted = u32::try_from(bytes.div_ceil(PERMIT_BYTES)).unwrap_or(u32::MAX);
        let permit = Arc::clone(&self.room).acquire_many_owned(wanted.min(self.total)).await;
        // Fails for a closed semaphore alone, and nothing closes it.
        SelectionPermit { permit: permit.ok() }
    }

    /// Bytes that are free now.
    #[cfg(test)]
    pub(crate) fn free(&self) -> u64 {
        self.room.available_permits() as u64 * PERMIT_BYTES
    }
}
