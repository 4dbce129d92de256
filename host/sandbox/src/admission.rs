//! Admission: which response may hold an instance, and when. A response gets a slot at once, waits
//! for one a bounded time in a bounded queue, or learns that the host is at capacity. Never touches
//! a guest.

mod memory_budget;
mod slow_plugin_limiter;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use yearbook_engine::Limits;
use yearbook_shares::{AcquireError, CallerShare, FairSlots, SlotKind, SlotPermit};
use yearbook_workers::Workers;

use crate::guest_error::GuestError;
use crate::observe::PluginMetrics;

pub(crate) use self::memory_budget::MemoryBudget;
pub(crate) use self::slow_plugin_limiter::SlowPluginLimiter;

/// The instances of a sandbox, the memory that they hold and the workers that run them.
pub(crate) struct Admission {
    limits: Limits,
    pub(crate) workers: Arc<Workers>,
    /// Slots of instances, which callers share.
    pub(crate) instances: Arc<FairSlots>,
    /// Memory that instances hold.
    pub(crate) memory: Arc<MemoryBudget>,
    /// Responses in the queue for an instance.
    queued: AtomicUsize,
    /// Jobs of encoders that run or wait for a worker.
    jobs: Arc<AtomicUsize>,
}

impl Admission {
    pub(crate) fn new(limits: Limits, workers: Arc<Workers>) -> Self {
        Self {
            limits,
            workers,
            instances: FairSlots::new(SlotKind::Instances, limits.instances as usize),
            memory: Arc::new(MemoryBudget::new(limits.total_memory_bytes)),
            queued: AtomicUsize::new(0),
            jobs: Arc::default(),
        }
    }

    /// So many slots for a response in the share of `holder`, all of them at once or within
    /// `sandbox.queue_ms`: responses that hold some and wait for more would wait for each other.
    ///
    /// # Errors
    /// [`AcquireError`] when there is none, or when the queue is full.
    pub(crate) async fn admit(
        &self,
        metrics: &PluginMetrics,
        holder: &CallerShare,
        count: usize,
    ) -> Result<InstancePlaces, AcquireError> {
        if self.workers.load().new_jobs
            >= self.limits.backlog.saturating_mul(self.workers.threads())
        {
            return Err(AcquireError::AllTaken);
        }
        if self.memory.has_room()
            && let Ok(permits) = self.instances.try_acquire_many(holder, count)
        {
            return Ok(InstancePlaces(permits));
        }
        let _waiting = metrics.start_waiting();
        let _queued = QueueSlot::join(&self.queued, self.limits.queue)?;
        let acquire = async {
            let permits = self.instances.acquire_many(holder, count).await?;
            self.memory.wait_for_room().await;
            Ok(InstancePlaces(permits))
        };
        match tokio::time::timeout(self.limits.queue_timeout(), acquire).await {
            Ok(acquired) => acquired,
            Err(_) => Err(self.instances.reason(holder, count)),
        }
    }

    /// Slot for an instance that a response could do without: granted where plenty are free, and
    /// within the share of `holder`.
    pub(crate) fn try_extra_instance(&self, holder: &CallerShare) -> Option<SlotPermit> {
        if !self.has_spare_capacity() {
            return None;
        }
        self.instances.try_acquire(holder).ok()
    }

    /// Returns whether more than half of all instances are free, with memory for more.
    pub(crate) fn has_spare_capacity(&self) -> bool {
        self.memory.has_room() && self.instances.free() > self.limits.instances as usize / 2
    }

    /// Number of instances that may make one response at once.
    pub(crate) fn max_parallel_parts(&self) -> usize {
        if self.limits.parallel_parts == 0 {
            self.workers.threads()
        } else {
            self.limits.parallel_parts
        }
    }

    /// Counts a job of an encoder.
    pub(crate) fn start_job(&self) -> JobGuard {
        self.jobs.fetch_add(1, Ordering::Relaxed);
        JobGuard(Arc::clone(&self.jobs))
    }

    /// Returns whether encoders leave a worker idle now.
    pub(crate) fn has_idle_worker(&self) -> bool {
        self.jobs.load(Ordering::Relaxed) < self.workers.threads()
    }
}

/// Places among the instances of a sandbox, taken in one step. Those that are not used are given
/// back when it is dropped.
pub struct InstancePlaces(Vec<SlotPermit>);

impl InstancePlaces {
    /// Takes one of them.
    ///
    /// # Errors
    /// Fails where none is left.
    pub(crate) fn take(&mut self) -> Result<SlotPermit, GuestError> {
        self.0.pop().ok_or_else(|| GuestError::Host("no place is left".to_owned()))
    }

    /// Takes so many of them, or as many as there are.
    pub(crate) fn split_off(&mut self, count: usize) -> Vec<SlotPermit> {
        self.0.split_off(self.0.len().saturating_sub(count))
    }
}

/// A job that runs or waits, counted until it is dropped.
pub(crate) struct JobGuard(Arc<AtomicUsize>);

impl Drop for JobGuard {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A place in the queue, given back when it is dropped.
struct QueueSlot<'a>(&'a AtomicUsize);

impl<'a> QueueSlot<'a> {
    fn join(queued: &'a AtomicUsize, limit: usize) -> Result<Self, AcquireError> {
        let slot = Self(queued);
        if queued.fetch_add(1, Ordering::Relaxed) < limit {
            Ok(slot)
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
