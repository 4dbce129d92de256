//! Counters of each release since this process started: counters that a response adds to without
//! a lock, and that stay when the release is unloaded. Knows nothing of how they are shown.

mod registry;
mod response_metrics;
mod snapshot;

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;
use yearbook_domain::{Digest, PluginKind, ReleaseId};

use super::ResponseOutcome;
use crate::trap::TrapKind;

pub(crate) use self::registry::MetricsRegistry;
pub(crate) use self::response_metrics::{CallMetrics, ResponseMetrics};
pub use self::snapshot::{LoadMetrics, PluginMetricsSnapshot};

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

/// The counters of one release. Relaxed throughout: each is true by itself, together they may be
/// some instructions apart.
#[derive(Debug)]
pub struct PluginMetrics {
    release: ReleaseName,
    begun: AtomicU64,
    outcomes: [AtomicU64; ResponseOutcome::ALL.len()],
    traps: [AtomicU64; TrapKind::ALL.len()],
    refused: AtomicU64,
    waiting: AtomicUsize,
    waited_ns: AtomicU64,
    calls: AtomicU64,
    cpu_ns: AtomicU64,
    memory_bytes: AtomicUsize,
    rows: AtomicU64,
    bytes_in: AtomicU64,
    bytes_out: AtomicU64,
    instances: AtomicUsize,
    first_bytes: [AtomicU64; FIRST_BYTES_BUCKETS_US.len() + 1],
    first_bytes_ns: AtomicU64,
    compiled: LoadCounters,
    cached: LoadCounters,
}

#[derive(Debug, Default)]
struct LoadCounters {
    count: AtomicU64,
    ns: AtomicU64,
}

impl PluginMetrics {
    pub(crate) fn new(release: ReleaseName) -> Self {
        Self {
            release,
            begun: AtomicU64::default(),
            outcomes: Default::default(),
            traps: Default::default(),
            refused: AtomicU64::default(),
            waiting: AtomicUsize::default(),
            waited_ns: AtomicU64::default(),
            calls: AtomicU64::default(),
            cpu_ns: AtomicU64::default(),
            memory_bytes: AtomicUsize::default(),
            rows: AtomicU64::default(),
            bytes_in: AtomicU64::default(),
            bytes_out: AtomicU64::default(),
            instances: AtomicUsize::default(),
            first_bytes: Default::default(),
            first_bytes_ns: AtomicU64::default(),
            compiled: LoadCounters::default(),
            cached: LoadCounters::default(),
        }
    }

    /// For a component that has not said yet what it is.
    pub(crate) fn unregistered(kind: PluginKind, digest: &Digest) -> Self {
        let id = ReleaseId { kind, name: "being loaded".to_owned(), digest: *digest };
        Self::new(ReleaseName { id, version: String::new() })
    }

    /// Whose counters these are.
    #[must_use]
    pub fn release(&self) -> &ReleaseName {
        &self.release
    }

    /// Values of all counters now.
    #[must_use]
    pub fn counts(&self) -> PluginMetricsSnapshot {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let duration = |counter: &AtomicU64| Duration::from_nanos(read(counter));
        let loads = |loads: &LoadCounters| LoadMetrics {
            count: read(&loads.count),
            time: duration(&loads.ns),
        };
        PluginMetricsSnapshot {
            release: self.release.clone(),
            begun: read(&self.begun),
            outcomes: self.outcomes.each_ref().map(read),
            traps: self.traps.each_ref().map(read),
            refused: read(&self.refused),
            waiting: self.waiting.load(Ordering::Relaxed),
            waited: duration(&self.waited_ns),
            calls: read(&self.calls),
            cpu: duration(&self.cpu_ns),
            memory_bytes: self.memory_bytes.load(Ordering::Relaxed),
            rows: read(&self.rows),
            bytes_in: read(&self.bytes_in),
            bytes_out: read(&self.bytes_out),
            instances: self.instances.load(Ordering::Relaxed),
            first_bytes: self.first_bytes.each_ref().map(read),
            first_bytes_time: duration(&self.first_bytes_ns),
            compiled: loads(&self.compiled),
            cached: loads(&self.cached),
        }
    }

    /// Counts a load that took `time`, with or without compiling.
    pub(crate) fn record_load(&self, time: Duration, from_cache: bool) {
        let loads = if from_cache { &self.cached } else { &self.compiled };
        increment(&loads.count, 1);
        increment(&loads.ns, nanoseconds(time));
    }

    /// Counts a response that no instance came free for.
    pub(crate) fn record_refusal(&self) {
        increment(&self.refused, 1);
    }

    /// Counts a response that waits for an instance, until the result is dropped.
    pub(crate) fn start_waiting(&self) -> WaitTimer<'_> {
        self.waiting.fetch_add(1, Ordering::Relaxed);
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
        self.tally.waiting.fetch_sub(1, Ordering::Relaxed);
        increment(&self.tally.waited_ns, nanoseconds(self.since.elapsed()));
    }
}

fn increment(counter: &AtomicU64, value: u64) {
    counter.fetch_add(value, Ordering::Relaxed);
}

/// 584 years fit.
fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
