//! Keeps workers free of a plugin that ran into its deadline a moment ago: a loop holds a worker
//! until it is stopped, and a crowd of requests for it would hold all. For a while such a plugin
//! has one call at a time (decision 0141). Whether it may serve at all is for others to decide.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use yearbook_engine::Trap;

/// Time for which a plugin that was stopped has one call at a time.
const LIMITED_FOR: Duration = Duration::from_secs(10);

/// The calls of one release.
pub(crate) struct SlowPluginLimiter {
    born: Instant,
    /// End of the probation, milliseconds after `born`; 0: there is none.
    until: AtomicU64,
    single: Arc<Semaphore>,
    /// Calls that wait for their turn.
    waiting: AtomicUsize,
}

/// One that waits, until it is dropped.
struct QueuedCall<'a>(&'a AtomicUsize);

impl Drop for QueuedCall<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl SlowPluginLimiter {
    pub(crate) fn new() -> Self {
        Self {
            born: Instant::now(),
            until: AtomicU64::new(0),
            single: Arc::new(Semaphore::new(1)),
            waiting: AtomicUsize::new(0),
        }
    }

    /// Waits for this plugin's turn, where it has one call at a time. Whoever makes the call keeps
    /// what is returned until the call's end, whatever becomes of the client.
    pub(crate) async fn acquire(&self) -> Option<OwnedSemaphorePermit> {
        if self.until.load(Ordering::Relaxed) <= self.elapsed_ms() {
            return None;
        }
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let _waits = QueuedCall(&self.waiting);
        Arc::clone(&self.single).acquire_owned().await.ok()
    }

    /// Number of calls that wait for their turn.
    pub(crate) fn queued(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    /// Learns what stopped a call.
    pub(crate) fn stopped(&self, trap: &Trap) {
        if matches!(trap, Trap::Cpu(_) | Trap::Wall(_)) {
            self.until.store(
                self.elapsed_ms().saturating_add(milliseconds(LIMITED_FOR)),
                Ordering::Relaxed,
            );
        }
    }

    fn elapsed_ms(&self) -> u64 {
        milliseconds(self.born.elapsed())
    }
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    #[tokio::test]
    async fn a_plugin_that_was_stopped_at_its_deadline_has_one_call_at_a_time() {
        let limiter = SlowPluginLimiter::new();
        limiter.stopped(&Trap::Wasm("a panic keeps no worker".to_owned()));
        assert!(limiter.acquire().await.is_none());
        limiter.stopped(&Trap::Cpu(1));
        let turn = limiter.acquire().await;
        assert!(turn.is_some() && limiter.acquire().now_or_never().is_none(), "the next one waits");
        assert_eq!(limiter.queued(), 0, "whoever goes away waits no more");
        drop(turn);
        assert!(limiter.acquire().await.is_some());
    }
}
