//! Bounded threads for work that keeps a core busy: decoding, guest calls, compression, hashing.
//! The async reactor never does such work itself. Knows nothing of the work.

mod processor_time;
mod queue;
mod stack;
mod time_slice;

#[cfg(test)]
mod tests;

use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::Poll;
use std::time::Instant;

use async_task::Builder;
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use queue::{FutureState, Job, Queue, WorkerKind};
use yearbook_shares::CallerShare;

pub use processor_time::{processor_time, processor_time_at_most};
pub use stack::{STACK_BYTES, spawn, with_stack};

/// A job panicked. Its message went to standard error by the panic hook.
#[derive(Debug, thiserror::Error)]
#[error("a worker thread's job panicked")]
pub struct JobPanicked;

/// A pool of threads of two kinds, as many of each as cores. *Prompt* workers serve callers that
/// used little processor time recently, and nobody else: their jobs never wait behind a long one,
/// since the operating system gives a thread that wakes its share of a busy core. *Steady* workers
/// serve all the rest, new jobs before continuations. Within a queue, the caller that used least
/// comes first. Jobs must not block on anything but the processor. The queues have
/// no bound of their own: each response has at most two jobs in them, and responses are bounded by
/// the server.
pub struct Workers {
    queue: Arc<Queue>,
    threads: usize,
}

impl Workers {
    /// Starts `threads` threads of each kind (0: one a core) with [`STACK_BYTES`] of stack each.
    ///
    /// # Panics
    /// Panics when the operating system refuses a thread, which only happens at start-up.
    #[must_use]
    pub fn new(threads: usize) -> Arc<Self> {
        Self::with_stack(threads, STACK_BYTES)
    }

    /// Starts `threads` threads of each kind (0: one a core) with `stack_bytes` of stack each.
    ///
    /// # Panics
    /// As [`Workers::new`].
    #[must_use]
    pub fn with_stack(threads: usize, stack_bytes: usize) -> Arc<Self> {
        let threads = if threads == 0 {
            std::thread::available_parallelism().map_or(1, NonZeroUsize::get)
        } else {
            threads
        };
        let queue = Arc::new(Queue::default());
        start_threads(&queue, threads, stack_bytes);
        Arc::new(Self { queue, threads })
    }

    /// Runs `job` on nobody's account, as [`Workers::run_for`] does.
    ///
    /// # Errors
    /// [`JobPanicked`] when the job panicked.
    pub async fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, JobPanicked> {
        self.run_for(&CallerShare::default(), job).await
    }

    /// Runs `job` on the account of `caller` on a worker and waits for it without blocking. On a
    /// worker already (in a future that [`Workers::drive`] polls) it runs here and now, once the
    /// future's time slice allows it. Dropping the future does not stop a job that has begun; one
    /// that has not begun is skipped.
    ///
    /// # Errors
    /// [`JobPanicked`] when the job panicked.
    pub async fn run_for<T: Send + 'static>(
        &self,
        caller: &CallerShare,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, JobPanicked> {
        if time_slice::is_worker_of(self.queue.address()) {
            time_slice::yield_if_slice_over().await;
            return catch_unwind(AssertUnwindSafe(job)).map_err(|_| JobPanicked);
        }
        let (sender, receiver) = oneshot::channel();
        let job = Job::Call(Box::new(move || {
            if !sender.is_closed() {
                let _ = sender.send(job());
            }
        }));
        self.queue.push_continuation(job, caller.clone());
        receiver.await.map_err(|_| JobPanicked)
    }

    /// Polls `future` on the workers on the account of `caller`, so that everything it does from
    /// one wait to the next is one trip between threads. It may wait for whatever it likes:
    /// meanwhile it holds no thread. The future's time slices end at calls of [`Workers::run`].
    /// Dropping what is returned drops `future`, at the next moment that it is not being polled.
    ///
    /// # Errors
    /// [`JobPanicked`] when polling panicked.
    pub fn drive<F>(
        &self,
        caller: CallerShare,
        future: F,
    ) -> impl Future<Output = Result<F::Output, JobPanicked>> + Send
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        // At once: futures of responses are large, and would be moved with whatever awaits this.
        let mut future = Box::pin(future);
        let queue = Arc::clone(&self.queue);
        async move {
            let guarded = async move {
                let poll = std::future::poll_fn(|context| {
                    match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context))) {
                        Ok(poll) => poll.map(Ok),
                        Err(_) => Poll::Ready(Err(JobPanicked)),
                    }
                });
                poll.await
            };
            let driven = FutureState::new(Handle::try_current().ok(), caller);
            let (begun, task) = Builder::new()
                .metadata(driven)
                .spawn(|_| guarded, move |ready| queue.push_future(ready));
            begun.schedule();
            // None: the workers stopped before the future was done.
            task.fallible().await.unwrap_or(Err(JobPanicked))
        }
    }

    /// Returns the load of the pool now.
    #[must_use]
    pub fn load(&self) -> WorkerLoad {
        let (new_jobs, continuations, idle) = self.queue.lengths();
        WorkerLoad {
            threads: self.threads,
            busy: (2 * self.threads).saturating_sub(idle),
            new_jobs,
            continuations,
        }
    }

    /// Returns the number of threads of each kind.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.threads
    }
}

/// Load of the pool at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkerLoad {
    /// Threads of each kind.
    pub threads: usize,
    /// Threads of both kinds with a job.
    pub busy: usize,
    /// Jobs that wait and have just begun.
    pub new_jobs: usize,
    /// Steps of longer work that wait.
    pub continuations: usize,
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.queue.stop();
    }
}

/// Starts `count` threads of each kind, of `stack_bytes` of stack each, that serve `queue` until it
/// stops.
#[expect(clippy::expect_used, reason = "without worker threads there is no service to run")]
fn start_threads(queue: &Arc<Queue>, count: usize, stack_bytes: usize) {
    for (kind, name) in [(WorkerKind::Prompt, "prompt"), (WorkerKind::Steady, "worker")] {
        for index in 0..count {
            let queue = Arc::clone(queue);
            let thread = stack::spawn(&format!("{name}-{index}"), stack_bytes, move || {
                run_jobs(&queue, kind)
            });
            thread.expect("the operating system gives worker threads at start-up");
        }
    }
}

fn run_jobs(queue: &Queue, kind: WorkerKind) {
    time_slice::bind_to_queue(queue.address());
    while let Some(queued) = queue.next(kind) {
        time_slice::start_slice();
        let began = (!queued.caller.is_nobody()).then(processor_time::resume);
        // A future catches its own panics; a function's drops the sender of its result.
        let _ = catch_unwind(AssertUnwindSafe(|| match queued.job {
            Job::Call(call) => call(),
            Job::Poll(ready) => {
                let runtime = ready.metadata().runtime.clone();
                let _entered = runtime.as_ref().map(Handle::enter);
                ready.run();
            }
        }));
        if let Some(began) = began {
            let spent = processor_time().saturating_sub(began);
            queued.caller.add_processor_time(spent, Instant::now());
        } else {
            // Nobody's time is counted nowhere, and not with the next job.
            processor_time::forget();
        }
    }
}
