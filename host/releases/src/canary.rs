//! The differential canary: a release that waits makes a share of live responses again, from the
//! same rows, options and facts, after and beside the release that serves. Clients get the
//! bytes of the one that serves, whatever comes of it here. What differs, fails or costs too much
//! is found; what follows from it is decided once, in `judge`.

mod compare;
mod description_diff;
mod evaluate;
mod exchange;
mod sample;
mod sampled_input;
mod shadow;

pub(crate) use description_diff::{adapter_difference, difference, parameter_difference};
pub(crate) use evaluate::evaluate;
pub(crate) use sample::{CanarySample, ReleasePair, SampledRows};
pub(crate) use sampled_input::SampledInput;
pub(crate) use shadow::ShadowWorker;

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use yearbook_catalog::{CanaryTotals, ReleaseId};
use yearbook_domain::{Digest, PluginKind};

/// Key of a comparison: the canary release, and the digest of the one that serves.
pub(crate) type CanaryPair = (ReleaseId, Digest);

/// Results of this host that are not written yet.
#[derive(Default)]
pub(crate) struct CanarySamples(Mutex<HashMap<CanaryPair, CanaryTotals>>);

/// Returns whether releases of a kind are compared: nothing tells whether two projects for a tool
/// are alike, and readers serve nobody.
pub(crate) fn is_compared(kind: PluginKind) -> bool {
    match kind {
        PluginKind::Adapter | PluginKind::Encoder | PluginKind::Transform => true,
        PluginKind::Generator | PluginKind::Reader => false,
    }
}

/// A comparison of which nothing has been seen.
pub(crate) fn empty_totals(pair: &CanaryPair) -> CanaryTotals {
    CanaryTotals {
        id: pair.0.clone(),
        incumbent: pair.1,
        samples: 0,
        rewritten: 0,
        cpu_ns: 0,
        incumbent_ns: 0,
        memory: 0,
        incumbent_memory: 0,
        fault: None,
        first_at: yearbook_catalog::clock::now(),
    }
}

impl CanarySamples {
    /// Adds what was seen.
    pub(crate) fn add(&self, seen: CanaryTotals) {
        let pair = (seen.id.clone(), seen.incumbent);
        let mut all = self.all();
        let sum = all.entry(pair.clone()).or_insert_with(|| empty_totals(&pair));
        sum.samples += seen.samples;
        sum.rewritten += seen.rewritten;
        sum.cpu_ns += seen.cpu_ns;
        sum.incumbent_ns += seen.incumbent_ns;
        sum.memory = sum.memory.max(seen.memory);
        sum.incumbent_memory = sum.incumbent_memory.max(seen.incumbent_memory);
        sum.fault = sum.fault.take().or(seen.fault);
        sum.first_at = sum.first_at.min(seen.first_at);
    }

    /// Takes everything.
    pub(crate) fn take(&self) -> Vec<CanaryTotals> {
        std::mem::take(&mut *self.all()).into_values().collect()
    }

    /// Nothing under the lock can fail half-way.
    fn all(&self) -> MutexGuard<'_, HashMap<CanaryPair, CanaryTotals>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
