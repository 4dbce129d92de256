//! Bytes of bodies in flight: rendered or read, and not yet sent to a client. Counting never waits,
//! since counted bytes are in memory already; [`CallerShare`] waits before more are made.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Notify;
use tokio::sync::futures::Notified;

use crate::caller_share::CallerShare;

/// The bytes that all bodies together may hold.
pub struct ByteBudget {
    total: usize,
    used: AtomicUsize,
    /// Notified when bytes are freed while all are used up.
    freed: Notify,
}

/// Bytes in memory, counted until this is dropped.
pub struct ByteLease {
    holder: CallerShare,
    bytes: usize,
}

impl ByteBudget {
    pub(crate) fn new(total: usize) -> Arc<Self> {
        Arc::new(Self { total, used: AtomicUsize::new(0), freed: Notify::new() })
    }

    /// Returns the size of the budget, bytes.
    #[must_use]
    pub fn total(&self) -> usize {
        self.total
    }

    /// Returns the bytes in flight now. Bodies that have begun may exceed the total by what each
    /// needs to go on.
    #[must_use]
    pub fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    pub(crate) fn free(&self) -> usize {
        self.total.saturating_sub(self.used())
    }

    pub(crate) fn count(&self, bytes: usize) {
        self.used.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(crate) fn release(&self, bytes: usize) {
        // Nobody waits for the budget while there is some.
        if self.used.fetch_sub(bytes, Ordering::Relaxed) >= self.total {
            self.freed.notify_waiters();
        }
    }

    pub(crate) fn wait_for_release(&self) -> Notified<'_> {
        self.freed.notified()
    }
}

impl ByteLease {
    pub(crate) fn new(holder: CallerShare, bytes: usize) -> Self {
        holder.count(bytes);
        Self { holder, bytes }
    }
}

impl Drop for ByteLease {
    fn drop(&mut self) {
        self.holder.release_bytes(self.bytes);
    }
}
