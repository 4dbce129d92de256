//! Who may begin: a response gets its place among the instances at once, waits for it a bounded time in a bounded
//! queue, or is told that the host is at capacity.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::OwnedSemaphorePermit;

use crate::sandbox::Sandbox;
use crate::tally::Tally;

/// There is no place for a response.
pub(crate) struct Full;

impl Sandbox {
    /// A place for the response of an encoder, at once or within `sandbox.queue_ms`.
    ///
    /// # Errors
    /// [`Full`] when there is none, or when so many wait already that waiting is in vain.
    pub(crate) async fn place(&self, tally: &Tally) -> Result<OwnedSemaphorePermit, Full> {
        if self.workers.load().fresh >= self.limits.backlog.saturating_mul(self.workers.threads()) {
            return Err(Full);
        }
        if self.memory.has_room()
            && let Ok(permit) = Arc::clone(&self.instances).try_acquire_owned()
        {
            return Ok(permit);
        }
        let _waiting = tally.waits();
        let _queued = Queued::join(&self.waiting, self.limits.queue)?;
        let place = async {
            let permit = Arc::clone(&self.instances).acquire_owned().await;
            self.memory.room().await;
            permit
        };
        tokio::time::timeout(self.limits.patience(), place).await.map_err(|_| Full)?.map_err(|_| Full)
    }
}

/// A place in a queue, given back when it is dropped.
struct Queued<'a>(&'a AtomicUsize);

impl<'a> Queued<'a> {
    fn join(waiting: &'a AtomicUsize, limit: usize) -> Result<Self, Full> {
        let queued = Self(waiting);
        if waiting.fetch_add(1, Ordering::Relaxed) < limit { Ok(queued) } else { Err(Full) }
    }
}

impl Drop for Queued<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
