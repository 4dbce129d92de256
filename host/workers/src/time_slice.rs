//! Time slices: the time for which a future may keep a worker while others wait.

use std::cell::Cell;
use std::task::Poll;
use std::time::{Duration, Instant};

/// Time for which a future may go on calling `run` before others are served. As long as one step of
/// a large response, so that neither waits for the other much longer than it works itself.
pub(crate) const TIME_SLICE: Duration = Duration::from_millis(4);

thread_local! {
    /// Address of the queue that this thread serves; 0: it is no worker.
    static WORKER_QUEUE: Cell<usize> = const { Cell::new(0) };
    static SLICE_START: Cell<Option<Instant>> = const { Cell::new(None) };
    static YIELDED: Cell<bool> = const { Cell::new(false) };
}

/// Makes this thread a worker of the queue at `address`.
pub(crate) fn bind_to_queue(address: usize) {
    WORKER_QUEUE.set(address);
}

/// Returns true when this thread is a worker of the queue at `address`.
pub(crate) fn is_worker_of(address: usize) -> bool {
    WORKER_QUEUE.get() == address
}

/// Starts the time slice of a job on this thread.
pub(crate) fn start_slice() {
    YIELDED.set(false);
    SLICE_START.set(Some(Instant::now()));
}

/// Returns true once when the future that is being polled on this thread gave way to others.
pub(crate) fn take_yielded() -> bool {
    YIELDED.replace(false)
}

/// Yields to others when this future's time slice is over. The queue polls it again.
pub(crate) async fn yield_if_slice_over() {
    if SLICE_START.get().is_none_or(|began| began.elapsed() < TIME_SLICE) {
        return;
    }
    let mut given = false;
    std::future::poll_fn(|context| {
        if std::mem::replace(&mut given, true) {
            return Poll::Ready(());
        }
        YIELDED.set(true);
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
