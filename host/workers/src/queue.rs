//! Jobs that wait for a worker: two queues, of new jobs and of continuations, and the order in
//! which they are served.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use async_task::Runnable;
use tokio::runtime::Handle;

use crate::time_slice;

/// New jobs that are served in a row while continuations wait. A small response takes some 0.2 ms,
/// a continuation of a large one some 4 ms: so large ones keep about half of the time however many
/// small ones there are.
const MAX_CONSECUTIVE_NEW: u32 = 16;

/// Work for one thread.
pub(crate) enum Job {
    /// A function to be called.
    Call(Box<dyn FnOnce() + Send>),
    /// A future to be polled.
    Poll(Runnable<FutureState>),
}

/// State of a driven future.
pub(crate) struct FutureState {
    /// Runtime of its timers and tasks.
    pub(crate) runtime: Option<Handle>,
    continuation: AtomicBool,
}

impl FutureState {
    /// Creates the state of a future that has just begun.
    pub(crate) fn new(runtime: Option<Handle>) -> Self {
        Self { runtime, continuation: AtomicBool::new(false) }
    }

    /// Moves the future to the queue of continuations.
    pub(crate) fn mark_continuation(&self) {
        self.continuation.store(true, Ordering::Relaxed);
    }

    /// Returns true when the future goes to the queue of continuations.
    pub(crate) fn is_continuation(&self) -> bool {
        self.continuation.load(Ordering::Relaxed)
    }
}

/// The queues that workers serve.
#[derive(Default)]
pub(crate) struct Queue {
    queues: Mutex<JobQueues>,
    work: Condvar,
}

#[derive(Default)]
struct JobQueues {
    /// Futures that have not used up their first time slice.
    new_jobs: VecDeque<Job>,
    /// Everything else.
    continuations: VecDeque<Job>,
    /// Jobs of `new_jobs` that have been served since the last of `continuations`.
    in_a_row: u32,
    /// Workers that wait for work.
    idle: usize,
    stopped: bool,
}

impl Queue {
    /// Queues `job` behind the continuations that wait already.
    pub(crate) fn push_continuation(&self, job: Job) {
        self.push(job, |queues| &mut queues.continuations);
    }

    /// Queues a future: as new, or as a continuation when it has used up its time slice.
    pub(crate) fn push_future(&self, ready: Runnable<FutureState>) {
        if time_slice::take_yielded() {
            ready.metadata().mark_continuation();
        }
        if ready.metadata().is_continuation() {
            self.push_continuation(Job::Poll(ready))
        } else {
            self.push(Job::Poll(ready), |queues| &mut queues.new_jobs)
        }
    }

    /// Returns the next job; waits for one. None once the workers stop.
    pub(crate) fn next(&self) -> Option<Job> {
        let mut queues = self.queues();
        loop {
            if queues.stopped {
                return None;
            }
            if let Some(job) = queues.next() {
                return Some(job);
            }
            queues.idle += 1;
            queues = self.work.wait(queues).unwrap_or_else(PoisonError::into_inner);
            queues.idle -= 1;
        }
    }

    /// Returns the numbers of new jobs, of continuations and of idle workers.
    pub(crate) fn lengths(&self) -> (usize, usize, usize) {
        let queues = self.queues();
        (queues.new_jobs.len(), queues.continuations.len(), queues.idle)
    }

    /// Ends every worker after its present job; jobs that wait are dropped.
    pub(crate) fn stop(&self) {
        let dropped = {
            let mut queues = self.queues();
            queues.stopped = true;
            (std::mem::take(&mut queues.new_jobs), std::mem::take(&mut queues.continuations))
        };
        self.work.notify_all();
        drop(dropped);
    }

    fn push(&self, job: Job, queue: impl FnOnce(&mut JobQueues) -> &mut VecDeque<Job>) {
        let mut queues = self.queues();
        if queues.stopped {
            // Dropped without the lock: what a job owns may come back here.
            drop(queues);
            return;
        }
        queue(&mut queues).push_back(job);
        let waiting = queues.idle > 0;
        drop(queues);
        if waiting {
            self.work.notify_one();
        }
    }

    /// Nothing under the lock can fail half-way.
    fn queues(&self) -> MutexGuard<'_, JobQueues> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl JobQueues {
    fn next(&mut self) -> Option<Job> {
        if self.in_a_row < MAX_CONSECUTIVE_NEW
            && let Some(job) = self.new_jobs.pop_front()
        {
            self.in_a_row += 1;
            return Some(job);
        }
        self.in_a_row = 0;
        self.continuations.pop_front().or_else(|| self.new_jobs.pop_front())
    }
}
