//! What waits for a worker: two lines, and which of them is served next.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use async_task::Runnable;

use crate::threads::FutureState;
use crate::time_slice;

/// Jobs that have just begun and may be served in a row while steps of longer work wait. A small
/// response takes some 0.2 ms, a step of a large one some 4 ms: so large ones keep about half of
/// the time however many small ones there are.
const MAX_CONSECUTIVE_NEW: u32 = 16;

/// Work for one thread.
pub(crate) enum Job {
    /// A function to be called.
    Call(Box<dyn FnOnce() + Send>),
    /// A future to be polled.
    Poll(Runnable<FutureState>),
}

/// The lines that workers serve.
#[derive(Default)]
pub(crate) struct Queue {
    lines: Mutex<JobQueues>,
    work: Condvar,
}

#[derive(Default)]
struct JobQueues {
    /// Futures that have not used up their first turn.
    fresh: VecDeque<Job>,
    /// Everything else.
    steps: VecDeque<Job>,
    /// Jobs of `fresh` that have been served since the last of `steps`.
    in_a_row: u32,
    /// Workers that wait for work.
    idle: usize,
    stopped: bool,
}

impl Queue {
    /// Has `job` served after the steps that wait already.
    pub(crate) fn push_continuation(&self, job: Job) {
        self.push(job, |lines| &mut lines.steps);
    }

    /// Has a future polled: with those that have just begun, or as a step when it has had its turn.
    pub(crate) fn push_future(&self, ready: Runnable<FutureState>) {
        if time_slice::take_yielded() {
            ready.metadata().mark_continuation();
        }
        if ready.metadata().is_continuation() {
            self.push_continuation(Job::Poll(ready))
        } else {
            self.push(Job::Poll(ready), |lines| &mut lines.fresh)
        }
    }

    /// The next job; waits for one. None once the workers stop.
    pub(crate) fn next(&self) -> Option<Job> {
        let mut lines = self.lines();
        loop {
            if lines.stopped {
                return None;
            }
            if let Some(job) = lines.next() {
                return Some(job);
            }
            lines.idle += 1;
            lines = self.work.wait(lines).unwrap_or_else(PoisonError::into_inner);
            lines.idle -= 1;
        }
    }

    /// Jobs that wait (those that have just begun, then all others) and workers that do.
    pub(crate) fn lengths(&self) -> (usize, usize, usize) {
        let lines = self.lines();
        (lines.fresh.len(), lines.steps.len(), lines.idle)
    }

    /// Lets every worker end after its present job; what waits is dropped.
    pub(crate) fn stop(&self) {
        let dropped = {
            let mut lines = self.lines();
            lines.stopped = true;
            (std::mem::take(&mut lines.fresh), std::mem::take(&mut lines.steps))
        };
        self.work.notify_all();
        drop(dropped);
    }

    fn push(&self, job: Job, line: impl FnOnce(&mut JobQueues) -> &mut VecDeque<Job>) {
        let mut lines = self.lines();
        if lines.stopped {
            // Dropped without the lock: what a job owns may come back here.
            drop(lines);
            return;
        }
        line(&mut lines).push_back(job);
        let waiting = lines.idle > 0;
        drop(lines);
        if waiting {
            self.work.notify_one();
        }
    }

    /// Nothing under the lock can fail half-way.
    fn lines(&self) -> MutexGuard<'_, JobQueues> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl JobQueues {
    fn next(&mut self) -> Option<Job> {
        if self.in_a_row < MAX_CONSECUTIVE_NEW
            && let Some(job) = self.fresh.pop_front()
        {
            self.in_a_row += 1;
            return Some(job);
        }
        self.in_a_row = 0;
        self.steps.pop_front().or_else(|| self.fresh.pop_front())
    }
}
