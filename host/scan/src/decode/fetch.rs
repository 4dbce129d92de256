//! Bytes of stored files on their way into memory: fetched on a worker where the store is local, so
//! that reading and decoding are one thread's work, and bounded over all scans together.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use yearbook_domain::StoredFile;
use yearbook_storage::ObjectStorage;

use super::caller_workers::CallerWorkers;
use crate::StorageFailure;

/// Bytes of several ranges: [`ObjectStorage::get_ranges`].
pub(crate) async fn fetch(
    files: &ObjectStorage,
    workers: &CallerWorkers,
    file: &StoredFile,
    ranges: &[Range<u64>],
) -> Result<Vec<Bytes>, StorageFailure> {
    if !files.is_local() {
        return files.get_ranges(file, ranges).await;
    }
    let (files, stored, ranges) = (files.clone(), file.clone(), ranges.to_vec());
    let done = workers.run(move || files.get_ranges_blocking(&stored, &ranges)).await;
    done.map_err(|_| StorageFailure::damaged(&ObjectStorage::key(file), "reading it panicked"))?
}

/// Bytes fetched and not yet decoded, over all scans. Default 128 MiB: row groups of some eighty
/// tables of ordinary width, sixteen of the largest that a step may have.
pub(crate) const FETCH_BUDGET_BYTES: u64 = 128 << 20;

/// Bytes of one permit: semaphores count to 2^32 at once.
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
