//! Bounded threads for work that keeps a core busy: decoding, guest calls, compression, hashing.
//! The async reactor never does such work itself. Knows nothing of what the work is.

use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use tokio::sync::oneshot;

/// A job panicked. Its message went to standard error by the panic hook.
#[derive(Debug, thiserror::Error)]
#[error("a worker thread's job panicked")]
pub struct Panicked;

/// A pool of threads, first come first served. Jobs must not block on anything but the processor,
/// so as many threads as cores keep every core busy. The queue has no bound of its own: each
/// response has at most one job in it, and responses are bounded by the server.
pub struct Workers {
    pool: rayon::ThreadPool,
}

impl Workers {
    /// Starts `threads` threads (0: one a core).
    ///
    /// # Panics
    /// When the operating system refuses a thread, which only happens at start-up.
    #[must_use]
    #[expect(clippy::expect_used, reason = "without worker threads there is no service to run")]
    pub fn new(threads: usize) -> Arc<Self> {
        let threads = if threads == 0 { std::thread::available_parallelism().map_or(1, NonZeroUsize::get) } else { threads };
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .thread_name(|index| format!("worker-{index}"))
            .build()
            .expect("the operating system gives worker threads at start-up");
        Arc::new(Self { pool })
    }

    /// Runs `job` on a worker and waits for it without blocking. Dropping the future does not stop a
    /// job that has begun; one that has not begun is skipped.
    ///
    /// # Errors
    /// [`Panicked`] when the job panicked.
    pub async fn run<T: Send + 'static>(&self, job: impl FnOnce() -> T + Send + 'static) -> Result<T, Panicked> {
        let (sender, receiver) = oneshot::channel();
        self.pool.spawn_fifo(move || {
            if sender.is_closed() {
                return;
            }
            if let Ok(value) = catch_unwind(AssertUnwindSafe(job)) {
                let _ = sender.send(value);
            }
        });
        receiver.await.map_err(|_| Panicked)
    }

    /// How many threads there are.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.pool.current_num_threads()
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[tokio::test]
    async fn a_panicking_job_is_an_error_and_the_pool_goes_on() {
        let workers = Workers::new(1);
        assert!(workers.run(|| panic!("expected by this test")).await.is_err());
        assert_eq!(workers.run(|| 7).await.unwrap(), 7);
    }

    #[tokio::test]
    async fn an_abandoned_job_that_has_not_begun_is_skipped() {
        let workers = Workers::new(1);
        let (release, gate) = std::sync::mpsc::channel::<()>();
        let busy = workers.run(move || gate.recv().unwrap());
        tokio::pin!(busy);
        assert!(futures_poll_once(&mut busy).await.is_none());
        let ran = Arc::new(std::sync::atomic::AtomicBool::new(false));
        let flag = Arc::clone(&ran);
        {
            let abandoned = workers.run(move || flag.store(true, std::sync::atomic::Ordering::SeqCst));
            tokio::pin!(abandoned);
            assert!(futures_poll_once(&mut abandoned).await.is_none());
        }
        release.send(()).unwrap();
        busy.await.unwrap();
        workers.run(|| ()).await.unwrap();
        assert!(!ran.load(std::sync::atomic::Ordering::SeqCst));
    }

    async fn futures_poll_once<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
        std::future::poll_fn(|cx| match std::pin::Pin::new(&mut *future).poll(cx) {
            std::task::Poll::Ready(value) => std::task::Poll::Ready(Some(value)),
            std::task::Poll::Pending => std::task::Poll::Ready(None),
        })
        .await
    }
}
