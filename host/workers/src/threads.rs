//! The threads themselves, and what a driven future has with it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::runtime::Handle;

use crate::queue::{Job, Queue};
use crate::{stack, time_slice};

/// What is known of a driven future.
pub(crate) struct FutureState {
    /// Whose timers and tasks it uses.
    runtime: Option<Handle>,
    long: AtomicBool,
}

impl FutureState {
    /// A future that has just begun.
    pub(crate) fn new(runtime: Option<Handle>) -> Self {
        Self { runtime, long: AtomicBool::new(false) }
    }

    /// From now on it goes behind those that have just begun.
    pub(crate) fn mark_continuation(&self) {
        self.long.store(true, Ordering::Relaxed);
    }

    /// Whether it goes behind those that have just begun.
    pub(crate) fn is_continuation(&self) -> bool {
        self.long.load(Ordering::Relaxed)
    }
}

/// Starts `count` threads with so much stack that serve `queue` until it stops.
#[expect(clippy::expect_used, reason = "without worker threads there is no service to run")]
pub(crate) fn start_threads(queue: &Arc<Queue>, count: usize, stack_bytes: usize) {
    for index in 0..count {
        let queue = Arc::clone(queue);
        let thread =
            stack::spawn(&format!("worker-{index}"), stack_bytes, move || run_jobs(&queue));
        thread.expect("the operating system gives worker threads at start-up");
    }
}

fn run_jobs(queue: &Queue) {
    time_slice::bind_to_queue(queue);
    while let Some(job) = queue.next() {
        time_slice::start_slice();
        // A future catches its own panics; a function's drops the sender of its result.
        let _ = catch_unwind(AssertUnwindSafe(|| match job {
            Job::Call(call) => call(),
            Job::Poll(ready) => {
                let runtime = ready.metadata().runtime.clone();
                let _entered = runtime.as_ref().map(Handle::enter);
                ready.run();
            }
        }));
    }
}
