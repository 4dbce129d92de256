//! History of the sandbox's counters over the failure window, so that a response that succeeds
//! costs the circuit breaker nothing.

use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

use yearbook_domain::Digest;
use yearbook_sandbox::{PluginMetricsSnapshot, ResponseOutcome};

/// Readings of the counters in a failure window.
const READINGS: u32 = 60;

/// Counters as they were, from the beginning of the failure window on.
#[derive(Default)]
pub(crate) struct MetricsHistory(VecDeque<(Instant, MetricsReading)>);

/// Responses begun and those made whole, by release.
type MetricsReading = HashMap<Digest, (u64, u64)>;

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
            (counts.release.id.digest, (counts.begun, counts.outcome(ResponseOutcome::Completed)))
        };
        self.0.push_back((Instant::now(), counts.iter().map(reading).collect()));
    }

    /// Responses begun, and those made whole, since the oldest reading.
    pub(crate) fn delta(&self, counts: &PluginMetricsSnapshot) -> (u64, u64) {
        let before = self
            .0
            .front()
            .and_then(|(_, readings)| readings.get(&counts.release.id.digest))
            .copied()
            .unwrap_or_default();
        (
            counts.begun.saturating_sub(before.0),
            counts.outcome(ResponseOutcome::Completed).saturating_sub(before.1),
        )
    }
}
