//! How much of stored files all scans together hold in memory while they decode it.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Bytes fetched and not yet decoded, over all scans. Default 128 MiB: row groups of some eighty
/// tables of ordinary width, sixteen of the largest that a step may have.
pub(crate) const FETCH_BUDGET_BYTES: u64 = 128 << 20;

/// What a permit stands for: semaphores count to 2^32 at once.
const PERMIT_BYTES: u64 = 1 << 10;

/// Room for fetched bytes. Nobody waits for it, since those who hold it may be waiting for clients:
/// who gets none fetches as little at a time as will do.
#[derive(Clone)]
pub(crate) struct FetchBudget(Arc<Semaphore>);

/// Room that is taken until this is dropped.
pub(crate) struct BudgetPermit {
    _permit: OwnedSemaphorePermit,
}

impl FetchBudget {
    /// Room for `bytes`.
    pub(crate) fn new(bytes: u64) -> Self {
        let units =
            usize::try_from(bytes / PERMIT_BYTES).unwrap_or(usize::MAX).min(Semaphore::MAX_PERMITS);
        Self(Arc::new(Semaphore::new(units)))
    }

    /// Room for `bytes`, if there is so much.
    pub(crate) fn take(&self, bytes: u64) -> Option<BudgetPermit> {
        let units = u32::try_from(bytes.div_ceil(PERMIT_BYTES)).ok()?;
        Arc::clone(&self.0)
            .try_acquire_many_owned(units)
            .ok()
            .map(|permit| BudgetPermit { _permit: permit })
    }
}
