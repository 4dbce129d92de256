//! Counters of each release since this process started: counters that a response adds to without
//! a lock, and that stay when the release is unloaded. Knows nothing of how they are shown.

mod registry;
mod response_metrics;
mod snapshot;

use std::time::Duration;

use yearbook_counters::Metric as _;
use yearbook_domain::{Digest, PluginKind, ReleaseId};

pub(crate) use self::registry::MetricsRegistry;
pub(crate) use self::response_metrics::{CallMetrics, ResponseMetrics};
pub use self::snapshot::{LoadMetrics, PluginMetrics, PluginMetricsSnapshot};

/// Upper bounds of the buckets that times until the first bytes are counted in, microseconds; one
/// more bucket has no bound. A small response takes some hundreds of microseconds, a call at most
/// `sandbox.wall_ms_per_call`.
pub const FIRST_BYTES_BUCKETS_US: [u64; 15] = [
    100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000,
    1_000_000, 2_500_000, 10_000_000,
];

/// Identity of a release with its version.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReleaseName {
    /// Kind, name and digest.
    pub id: ReleaseId,
    /// The plugin's own version.
    pub version: String,
}

impl PluginMetrics {
    /// For a component that has not said yet what it is.
    pub(crate) fn unregistered(kind: PluginKind, digest: &Digest) -> Self {
        let id = ReleaseId { kind, name: "being loaded".to_owned(), digest: *digest };
        Self::new(ReleaseName { id, version: String::new() })
    }

    /// Release that the counters are of.
    #[must_use]
    pub fn release(&self) -> &ReleaseName {
        &self.release
    }

    /// Values of all counters now.
    #[must_use]
    pub fn counts(&self) -> PluginMetricsSnapshot {
        self.read()
    }

    /// Counts a load that took `time`, with or without compiling.
    pub(crate) fn record_load(&self, time: Duration, from_cache: bool) {
        let loads = if from_cache { &self.cached } else { &self.compiled };
        loads.count.increment();
        loads.time.add(time);
    }

    /// Counts a response that no instance came free for.
    pub(crate) fn record_refusal(&self) {
        self.refused.increment();
    }

    /// Counts a response that waits for an instance, until the result is dropped.
    pub(crate) fn start_waiting(&self) -> WaitTimer<'_> {
        self.waiting.increment();
        WaitTimer { tally: self, since: std::time::Instant::now() }
    }
}

/// A response that waits for an instance.
pub(crate) struct WaitTimer<'a> {
    tally: &'a PluginMetrics,
    since: std::time::Instant,
}

impl Drop for WaitTimer<'_> {
    fn drop(&mut self) {
        self.tally.waiting.decrement();
        self.tally.waited.add(self.since.elapsed());
    }
}
