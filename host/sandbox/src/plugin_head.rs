//! Head of a loaded plugin, which is the same for all kinds: the release, its counters, and the
//! host that its guests run in. What a kind has alone stands beside its calls.

use std::sync::Arc;

use tokio::sync::OwnedSemaphorePermit;
use yearbook_domain::{Digest, PluginKind};
use yearbook_shares::{AcquireError, CallerShare, SlotPermit};

use crate::admission::{InstancePlaces, SlowPluginLimiter};
use crate::guest::GuestHost;
use crate::guest_error::GuestError;
use crate::observe::{CallMetrics, DumpTarget, PluginMetrics};

/// A loaded release of a plugin, of whatever kind.
pub struct PluginHead {
    pub(crate) host: Arc<GuestHost>,
    pub(crate) metrics: Arc<PluginMetrics>,
    pub(crate) limiter: Arc<SlowPluginLimiter>,
    /// Size of the component.
    bytes: u64,
}

impl PluginHead {
    pub(crate) fn new(host: &Arc<GuestHost>, metrics: Arc<PluginMetrics>, bytes: u64) -> Self {
        let limiter = Arc::new(SlowPluginLimiter::new());
        Self { host: Arc::clone(host), metrics, limiter, bytes }
    }

    /// Its kind.
    #[must_use]
    pub fn kind(&self) -> PluginKind {
        self.metrics.release().id.kind
    }

    /// Format or tool, or the format that a reader reads.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.metrics.release().id.name
    }

    /// The plugin's own version.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.metrics.release().version
    }

    /// SHA-256 of the component.
    #[must_use]
    pub fn digest(&self) -> &Digest {
        &self.metrics.release().id.digest
    }

    /// Size of the component in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Counters of this release.
    #[must_use]
    pub fn metrics(&self) -> &PluginMetrics {
        &self.metrics
    }

    /// Returns whether half of the sandbox's instances are free: room for work that no client waits
    /// for.
    #[must_use]
    pub fn has_room(&self) -> bool {
        self.host.admission.has_spare_capacity()
    }

    /// Number of the sandbox's instances that are free now, for all plugins together.
    #[must_use]
    pub fn free_instances(&self) -> usize {
        self.host.admission.instances.free()
    }

    /// A place for an instance that no client waits for.
    ///
    /// # Errors
    /// [`GuestError::Busy`] where none is free.
    pub(crate) fn try_acquire(&self) -> Result<SlotPermit, GuestError> {
        let permit = self.host.admission.instances.try_acquire(&CallerShare::default());
        permit.map_err(|_| GuestError::Busy { retry_after: 1 })
    }

    /// Refuses work where much of this plugin waits already: a plugin that is late may not hold the
    /// instances of others while its calls wait for one another.
    ///
    /// # Errors
    /// [`GuestError::Busy`].
    pub(crate) fn check_turns(&self) -> Result<(), GuestError> {
        if self.limiter.queued() >= self.host.limits.instances.div_ceil(2) as usize {
            return Err(GuestError::Busy { retry_after: 1 });
        }
        Ok(())
    }

    /// Waits for so many places among the instances in the share of `holder`, a short while at
    /// most, and takes all of them or none.
    ///
    /// # Errors
    /// [`GuestError::Busy`], [`GuestError::ShareUsedUp`].
    pub async fn admit_places(
        &self,
        holder: &CallerShare,
        count: usize,
    ) -> Result<InstancePlaces, GuestError> {
        self.host.admission.admit(&self.metrics, holder, count).await.map_err(|denied| {
            self.metrics.record_refusal();
            match denied {
                AcquireError::AllTaken => GuestError::Busy { retry_after: 1 },
                AcquireError::ShareExhausted => GuestError::ShareUsedUp,
            }
        })
    }

    /// Counters of the calls of one response, whose failure dumps go to `dump_target`.
    pub(crate) fn call_metrics(&self, dump_target: DumpTarget) -> Arc<CallMetrics> {
        CallMetrics::new(Arc::clone(&self.metrics), dump_target)
    }

    /// Runs a job on a worker, on the account of `holder`, when it is this plugin's turn.
    pub(crate) async fn run_on_worker<T: Send + 'static>(
        &self,
        holder: &CallerShare,
        job: impl FnOnce() -> Result<T, GuestError> + Send + 'static,
    ) -> Result<T, GuestError> {
        let turn = self.limiter.acquire().await;
        self.run_in_turn(holder, turn, job).await
    }

    /// As [`PluginHead::run_on_worker`], with the turn that [`SlowPluginLimiter::acquire`]
    /// returned.
    pub(crate) async fn run_in_turn<T: Send + 'static>(
        &self,
        holder: &CallerShare,
        turn: Option<OwnedSemaphorePermit>,
        job: impl FnOnce() -> Result<T, GuestError> + Send + 'static,
    ) -> Result<T, GuestError> {
        let (busy, limiter) = (self.host.admission.start_job(), Arc::clone(&self.limiter));
        let job = move || {
            let (_turn, _busy) = (turn, busy);
            let made = job();
            if let Err(GuestError::Trapped { trap, .. }) = &made {
                limiter.stopped(trap);
            }
            made
        };
        let made = self.host.admission.workers.run_for(holder, job).await;
        made.map_err(|panicked| GuestError::Host(panicked.to_string())).flatten()
    }
}
