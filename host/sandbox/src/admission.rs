//! Who may begin: a response gets its place among the instances at once, waits for it a bounded
//! time in a bounded queue, or is told that the host is at capacity.

use std::sync::atomic::{AtomicUsize, Ordering};

use yearbook_shares::{AcquireError, CallerShare, SlotPermit};

use crate::metrics::PluginMetrics;
use crate::sandbox::Sandbox;

impl Sandbox {
    /// A place for the response of an encoder on the account of `holder`, at once or within
    /// `sandbox.queue_ms`.
    ///
    /// # Errors
    /// [`AcquireError`] when there is none, or when so many wait already that waiting is in vain.
    pub(crate) async fn place(
        &self,
        tally: &PluginMetrics,
        holder: &CallerShare,
    ) -> Result<SlotPermit, AcquireError> {
        if self.workers.load().fresh >= self.limits.backlog.saturating_mul(self.workers.threads()) {
            return Err(AcquireError::AllTaken);
        }
        if self.memory.has_room()
            && let Ok(permit) = self.instances.try_acquire(holder)
        {
            return Ok(permit);
        }
        let _waiting = tally.start_waiting();
        let _queued = QueueSlot::join(&self.waiting, self.limits.queue)?;
        let place = async {
            let permit = self.instances.acquire(holder, false).await?;
            self.memory.wait_for_room().await;
            Ok(permit)
        };
        match tokio::time::timeout(self.limits.queue_timeout(), place).await {
            Ok(placed) => placed,
            Err(_) => Err(self.instances.reason(holder)),
        }
    }
}

/// A place in a queue, given back when it is dropped.
struct QueueSlot<'a>(&'a AtomicUsize);

impl<'a> QueueSlot<'a> {
    fn join(waiting: &'a AtomicUsize, limit: usize) -> Result<Self, AcquireError> {
        let queued = Self(waiting);
        if waiting.fetch_add(1, Ordering::Relaxed) < limit {
            Ok(queued)
        } else {
            Err(AcquireError::AllTaken)
        }
    }
}

impl Drop for QueueSlot<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
