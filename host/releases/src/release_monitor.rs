//! Watches the releases that a host serves: has those that wait make a share of responses again,
//! keeps count of those that fail, and brings what follows into the catalog, where every host
//! hears of it. A response asks it at most three things, none of which waits.

mod quarantine;
mod tick;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use arc_swap::ArcSwap;
use arrow::datatypes::SchemaRef;
use tokio::sync::Notify;
use yearbook_catalog::{
    Catalog, CatalogCache, CatalogError, ReleaseChange, ReleaseId, ReleaseState, StateTransition,
};
use yearbook_domain::{Digest, Millis};
use yearbook_sandbox::{
    AdapterExchange, Batches, OptionValue, Plugin, PluginAdapter, PluginEncoder, ReleasePolicy,
    RequestFingerprint, Sandbox, TransformInput, TransformStep,
};

use crate::ReleaseMonitorSettings;
use crate::canary::{
    self, CanarySample, CanarySamples, ReleasePair, SampledInput, SampledRows, ShadowWorker,
};
use crate::circuit_breaker::{CircuitBreaker, FailureRecord};

/// Author of a host's transitions in the history.
const BY: &str = "yearbook";

/// Monitor of the releases that a host serves.
pub struct ReleaseMonitor {
    pub(crate) store: Arc<Catalog>,
    pub(crate) sandbox: Arc<Sandbox>,
    pub(crate) settings: ReleaseMonitorSettings,
    /// By digest of the release that serves.
    candidates: ArcSwap<HashMap<Digest, Candidates>>,
    /// Responses that might have been compared.
    turns: AtomicU64,
    pub(crate) seen: Arc<CanarySamples>,
    shadow: Arc<ShadowWorker>,
    pub(crate) circuit_breaker: CircuitBreaker,
    /// Something was seen that may decide.
    pub(crate) woken: Notify,
}

/// Releases that may take the place of one that serves.
#[derive(Clone, Default)]
pub(crate) struct Candidates {
    /// The release that waits to take its place.
    pub(crate) waiting: Option<Plugin>,
    /// The encoder that would serve in its place, of the same description.
    pub(crate) previous: Option<Arc<PluginEncoder>>,
}

impl ReleaseMonitor {
    /// Interval at which observations are written to the catalogue.
    pub const TICK_INTERVAL: Duration = Duration::from_secs(1);

    /// One that has nothing to watch until a reconciler tells it. `sandbox` is where releases run.
    ///
    /// # Errors
    /// Fails when the operating system refuses a thread.
    pub fn new(
        store: Arc<Catalog>,
        sandbox: Arc<Sandbox>,
        settings: ReleaseMonitorSettings,
    ) -> std::io::Result<Arc<Self>> {
        let (seen, stack_bytes) =
            (Arc::new(CanarySamples::default()), sandbox.limits().thread_stack_bytes());
        Ok(Arc::new(Self {
            store,
            sandbox,
            settings,
            candidates: ArcSwap::default(),
            turns: AtomicU64::new(0),
            shadow: ShadowWorker::start(Arc::clone(&seen), stack_bytes)?,
            seen,
            circuit_breaker: CircuitBreaker::default(),
            woken: Notify::new(),
        }))
    }

    /// Brings what is seen to the catalog that `live` follows, every `every` and when something
    /// may decide, as long as both live.
    pub fn follow(self: &Arc<Self>, live: &Arc<CatalogCache>, every: Duration) {
        tokio::spawn(tick::run(Arc::downgrade(self), Arc::downgrade(live), every));
    }

    /// Sets the candidates beside each release that serves.
    pub(crate) fn set_candidates(&self, candidates: HashMap<Digest, Candidates>) {
        self.candidates.store(Arc::new(candidates));
    }

    /// A release that waits can be judged without a comparison.
    pub(crate) fn reject_canary(&self, id: &ReleaseId, incumbent: &Digest, fault: String) {
        let mut seen = canary::empty_totals(&(id.clone(), *incumbent));
        seen.fault = Some(fault);
        self.seen.add(seen);
        self.woken.notify_one();
    }

    /// Records a conclusion, unless another host did or it no longer holds.
    async fn transition(
        &self,
        id: &ReleaseId,
        from: ReleaseState,
        to: ReleaseState,
        reason: String,
        against: Option<Digest>,
        until: Option<Millis>,
    ) -> Result<bool, CatalogError> {
        let (by, at) = (BY.to_owned(), yearbook_catalog::clock::now());
        let change = ReleaseChange { id: id.clone(), to, by, at, reason: Some(reason.clone()) };
        let change = StateTransition { change, from, against, until };
        let settled = self.store.transition_release(&change).await?;
        if settled {
            let (plugin, digest, to) = (&id.name, &id.digest, to.as_str());
            tracing::warn!(plugin, %digest, to, reason, "a release is settled");
        }
        Ok(settled)
    }

    /// The release that waits to take the place of the one with this digest, where a response is
    /// to be compared.
    fn waiting(&self, incumbent: &Digest) -> Option<Plugin> {
        let waiting = self.candidates.load().get(incumbent)?.waiting.clone()?;
        self.is_sampled().then_some(waiting)
    }

    /// No rows yet.
    fn sampled_rows(&self, schema: &SchemaRef, options: &[OptionValue]) -> SampledRows {
        SampledRows {
            schema: Arc::clone(schema),
            options: options.to_vec(),
            batches: Vec::new(),
            rows_left: self.settings.canary_rows.max(1),
            bytes_left: self.settings.canary_bytes.max(1),
        }
    }

    /// Spreads the share evenly.
    fn is_sampled(&self) -> bool {
        let percent = u64::from(self.settings.canary_percent.min(100));
        let turn = self.turns.fetch_add(1, Ordering::Relaxed) % 100;
        (turn + 1) * percent / 100 > turn * percent / 100
    }
}

impl ReleasePolicy for ReleaseMonitor {
    fn tee_canary(
        &self,
        encoder: &Arc<PluginEncoder>,
        schema: &SchemaRef,
        options: &[OptionValue],
        batches: Batches,
    ) -> Batches {
        let Some(Plugin::Encoder(waiting)) = self.waiting(encoder.digest()) else {
            return batches;
        };
        let pair = ReleasePair { incumbent: Arc::clone(encoder), waiting };
        let sample = CanarySample::Encoded(pair, self.sampled_rows(schema, options));
        Arc::clone(&self.shadow).tee(sample, batches)
    }

    fn tee_transform(
        &self,
        step: &TransformStep,
        schema: &SchemaRef,
        input: Arc<dyn TransformInput>,
    ) -> Arc<dyn TransformInput> {
        let Some(Plugin::Transform(waiting)) = self.waiting(step.transform.digest()) else {
            return input;
        };
        let pair = ReleasePair { incumbent: Arc::clone(&step.transform), waiting };
        let sample = CanarySample::Transformed(pair, self.sampled_rows(schema, &step.options));
        let (schema, shadow) = (Arc::clone(schema), Arc::clone(&self.shadow));
        Arc::new(SampledInput::new(input, schema, sample, shadow))
    }

    fn sample_exchange(&self, adapter: &Arc<PluginAdapter>, of: &dyn Fn() -> AdapterExchange) {
        if let Some(Plugin::Adapter(waiting)) = self.waiting(adapter.digest()) {
            let pair = ReleasePair { incumbent: Arc::clone(adapter), waiting };
            self.shadow.offer(CanarySample::Answered(pair, Box::new(of())));
        }
    }

    fn fallback_release(&self, encoder: &PluginEncoder) -> Option<Arc<PluginEncoder>> {
        self.candidates.load().get(encoder.digest())?.previous.clone()
    }

    fn record_failure(&self, digest: &Digest, request: &RequestFingerprint, cause: &str) {
        let RequestFingerprint { key_id, request, datasets, default_options } = request.clone();
        // An option is the client's choice, so a failure with one does not count.
        if !default_options {
            return;
        }
        let failure = FailureRecord { client: key_id, request, datasets, why: cause.to_owned() };
        self.circuit_breaker.add(digest, failure);
        self.woken.notify_one();
    }
}
