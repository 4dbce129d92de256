//! History of the sandbox's counters over the failure window, so that a response that succeeds
//! costs the circuit breaker nothing.

use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

use yearbook_catalog::ReleaseId;
use yearbook_domain::Digest;
use yearbook_sandbox::{PluginMetricsSnapshot, ResponseOutcome};

/// Readings of the counters in a failure window.
const READINGS: u32 = 60;

/// Counters as they were, from the beginning of the failure window on.
#[derive(Default)]
pub(crate) struct MetricsHistory(VecDeque<(Instant, MetricsReading)>);

/// Responses begun and those made whole. Not by digest: an adapter and the format that it brings
/// are counted apart.
type MetricsReading = HashMap<ReleaseId, (u64, u64)>;

impl MetricsHistory {
    /// Records the counters as they are now.
    pub(crate) fn record(&mut self, counts: &[PluginMetricsSnapshot], time: Duration) {
        if self.0.back().is_some_and(|(at, _)| at.elapsed() < time / READINGS) {
            return;
        }
        // One from before the time that counts stays: what came since is the difference to it.
        while self.0.get(1).is_some_and(|(at, _)| at.elapsed() > time) {
            self.0.pop_front();
        }
        let reading = |counts: &PluginMetricsSnapshot| {
            let completed = counts.outcome(ResponseOutcome::Completed);
            (counts.release.id.clone(), (counts.begun, completed))
        };
        self.0.push_back((Instant::now(), counts.iter().map(reading).collect()));
    }

    /// Responses begun, and those made whole, since the oldest reading, by all that the component
    /// `digest` is loaded as: failures are recorded by digest.
    pub(crate) fn delta(&self, counts: &[PluginMetricsSnapshot], digest: &Digest) -> (u64, u64) {
        let oldest = self.0.front().map(|(_, reading)| reading);
        let loaded = counts.iter().filter(|counts| counts.release.id.digest == *digest);
        loaded.fold((0, 0), |(begun, whole), counts| {
            let before = oldest.and_then(|reading| reading.get(&counts.release.id));
            let before = before.copied().unwrap_or_default();
            let completed = counts.outcome(ResponseOutcome::Completed);
            (
                begun + counts.begun.saturating_sub(before.0),
                whole + completed.saturating_sub(before.1),
            )
        })
    }
}
