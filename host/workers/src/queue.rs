//! Jobs that wait for a worker: three queues, and the order in which they are served.

use std::cmp::Ordering as ByDeadline;
use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use async_task::Runnable;
use tokio::runtime::Handle;
use yearbook_shares::CallerShare;

use crate::time_slice;

/// New jobs that a steady worker serves in a row while continuations wait. A small response takes
/// some 0.2 ms, a continuation of a large one some 4 ms: so large ones keep about half of the time
/// however many small ones there are.
const MAX_CONSECUTIVE_NEW: u32 = 16;

/// Recent processor time beyond which a caller's jobs go to the steady workers: some 7 % of a
/// core for a second. A client that reads a page now and then stays far below.
const LIGHT_CALLER: Duration = Duration::from_millis(100);

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
    caller: CallerShare,
    continuation: AtomicBool,
}

impl FutureState {
    /// Creates the state of a future of `caller` that has just begun.
    pub(crate) fn new(runtime: Option<Handle>, caller: CallerShare) -> Self {
        Self { runtime, caller, continuation: AtomicBool::new(false) }
    }
}

/// A kind of worker thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WorkerKind {
    /// Serves jobs of light callers alone, so that one is always soon free for them.
    Prompt,
    /// Serves callers that use much, and nobody's jobs.
    Steady,
}

/// A job, its caller, and its turn.
pub(crate) struct QueuedJob {
    /// The work.
    pub(crate) job: Job,
    /// On whose account.
    pub(crate) caller: CallerShare,
    continuation: bool,
    turn: Turn,
}

/// The order of jobs: by deadline, then as they came.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Turn {
    /// Arrival plus the caller's recent processor time. So callers get equal shares of a queue, a
    /// light one waits for nobody's backlog, and nobody waits for ever.
    deadline: Instant,
    number: u64,
}

/// The queues that workers serve.
#[derive(Default)]
pub(crate) struct Queue {
    queues: Mutex<JobQueues>,
    prompt: Condvar,
    steady: Condvar,
}

#[derive(Default)]
struct JobQueues {
    /// Jobs of callers that were below [`LIGHT_CALLER`] when they were queued.
    light: BinaryHeap<QueuedJob>,
    /// New jobs of the others and of nobody: futures within their first time slice.
    heavy: BinaryHeap<QueuedJob>,
    /// Everything else.
    continuations: BinaryHeap<QueuedJob>,
    /// Jobs of `heavy` that have been served since the last of `continuations`.
    in_a_row: u32,
    /// Jobs that were queued so far.
    count: u64,
    /// Prompt and steady workers that wait for work.
    idle: [usize; 2],
    stopped: bool,
}

impl Queue {
    /// Its own address, by which its workers know it.
    pub(crate) fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    /// Queues `job` among the continuations.
    pub(crate) fn push_continuation(&self, job: Job, caller: CallerShare) {
        self.push(job, caller, true);
    }

    /// Queues a future: as new, or as a continuation when it has used up its time slice.
    pub(crate) fn push_future(&self, ready: Runnable<FutureState>) {
        let state = ready.metadata();
        if time_slice::take_yielded() {
            state.continuation.store(true, Ordering::Relaxed);
        }
        let (caller, continuation) =
            (state.caller.clone(), state.continuation.load(Ordering::Relaxed));
        self.push(Job::Poll(ready), caller, continuation);
    }

    /// Returns the next job for a worker of `kind`; waits for one. None once the workers stop.
    pub(crate) fn next(&self, kind: WorkerKind) -> Option<QueuedJob> {
        let mut queues = self.queues();
        loop {
            if queues.stopped {
                return None;
            }
            if kind == WorkerKind::Prompt {
                let idle = queues.idle[WorkerKind::Steady as usize];
                for _ in 0..queues.move_heavy().min(idle) {
                    self.steady.notify_one();
                }
            }
            if let Some(job) = queues.next(kind) {
                return Some(job);
            }
            queues.idle[kind as usize] += 1;
            queues = self.work(kind).wait(queues).unwrap_or_else(PoisonError::into_inner);
            queues.idle[kind as usize] -= 1;
        }
    }

    /// Returns the numbers of new jobs, of continuations and of idle workers.
    pub(crate) fn lengths(&self) -> (usize, usize, usize) {
        let queues = self.queues();
        let new_jobs = queues.light.len() + queues.heavy.len();
        (new_jobs, queues.continuations.len(), queues.idle.iter().sum())
    }

    /// Ends every worker after its present job; jobs that wait are dropped.
    pub(crate) fn stop(&self) {
        let dropped = {
            let mut queues = self.queues();
            queues.stopped = true;
            let JobQueues { light, heavy, continuations, .. } = &mut *queues;
            [light, heavy, continuations].map(std::mem::take)
        };
        self.prompt.notify_all();
        self.steady.notify_all();
        drop(dropped);
    }

    fn push(&self, job: Job, caller: CallerShare, continuation: bool) {
        let now = Instant::now();
        let recent = caller.recent_processor_time(now);
        let light = recent.is_some_and(|recent| recent < LIGHT_CALLER);
        let mut queues = self.queues();
        if queues.stopped {
            // Dropped without the lock: what a job owns may come back here.
            drop(queues);
            return;
        }
        queues.count += 1;
        let turn = Turn { deadline: now + recent.unwrap_or_default(), number: queues.count };
        let (queue, kind) = if light {
            (&mut queues.light, WorkerKind::Prompt)
        } else if continuation {
            (&mut queues.continuations, WorkerKind::Steady)
        } else {
            (&mut queues.heavy, WorkerKind::Steady)
        };
        queue.push(QueuedJob { job, caller, continuation, turn });
        let waiting = queues.idle[kind as usize] > 0;
        drop(queues);
        if waiting {
            self.work(kind).notify_one();
        }
    }

    fn work(&self, kind: WorkerKind) -> &Condvar {
        match kind {
            WorkerKind::Prompt => &self.prompt,
            WorkerKind::Steady => &self.steady,
        }
    }

    /// Nothing under the lock can fail half-way.
    fn queues(&self) -> MutexGuard<'_, JobQueues> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl JobQueues {
    /// Moves jobs at the front of `light` whose callers have used much since they were queued, and
    /// returns how many. A job that is alone there delays nobody and is left, so that a service
    /// with time to spare reads no clock for this.
    fn move_heavy(&mut self) -> usize {
        if self.light.len() < 2 {
            return 0;
        }
        let (now, before) = (Instant::now(), self.light.len());
        while self.light.len() > 1
            && let Some(first) = self.light.peek()
            && let Some(recent) = first.caller.recent_processor_time(now)
            && recent >= LIGHT_CALLER
            && let Some(mut job) = self.light.pop()
        {
            job.turn.deadline = now + recent;
            let queue = if job.continuation { &mut self.continuations } else { &mut self.heavy };
            queue.push(job);
        }
        before - self.light.len()
    }

    fn next(&mut self, kind: WorkerKind) -> Option<QueuedJob> {
        if kind == WorkerKind::Prompt {
            return self.light.pop();
        }
        if self.in_a_row < MAX_CONSECUTIVE_NEW
            && let Some(job) = self.heavy.pop()
        {
            self.in_a_row += 1;
            return Some(job);
        }
        self.in_a_row = 0;
        self.continuations.pop().or_else(|| self.heavy.pop())
    }
}

/// The earliest turn is the greatest: a heap gives its greatest first.
impl Ord for QueuedJob {
    fn cmp(&self, other: &Self) -> ByDeadline {
        other.turn.cmp(&self.turn)
    }
}

impl PartialOrd for QueuedJob {
    fn partial_cmp(&self, other: &Self) -> Option<ByDeadline> {
        Some(self.cmp(other))
    }
}

impl PartialEq for QueuedJob {
    fn eq(&self, other: &Self) -> bool {
        self.turn == other.turn
    }
}

impl Eq for QueuedJob {}
