//! A reading of the counters of one release.

use std::time::Duration;

use super::{FIRST_BYTES_BUCKETS_US, ReleaseName};
use crate::observe::ResponseOutcome;
use crate::trap::TrapKind;

/// Counters of a release at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PluginMetricsSnapshot {
    /// The release.
    pub release: ReleaseName,
    /// Responses that were given a place among the instances.
    pub begun: u64,
    /// Responses by how they ended, as [`ResponseOutcome::ALL`]; those begun that are missing here
    /// are being made.
    pub outcomes: [u64; ResponseOutcome::ALL.len()],
    /// Responses that were stopped, by what, as [`TrapKind::ALL`].
    pub traps: [u64; TrapKind::ALL.len()],
    /// Responses that no instance came free for; they are not among those begun.
    pub refused: u64,
    /// Responses that wait for an instance now.
    pub waiting: usize,
    /// Time that responses waited for an instance, together.
    pub waited: Duration,
    /// Calls into guests, those of trials included, without `describe`.
    pub calls: u64,
    /// Processor time of those calls.
    pub cpu: Duration,
    /// Largest linear memory of any instance, bytes.
    pub memory_bytes: usize,
    /// Rows given to guests.
    pub rows: u64,
    /// Bytes of the columns, or descriptions, given to guests.
    pub bytes_in: u64,
    /// Bytes that guests returned.
    pub bytes_out: u64,
    /// Instances that live now.
    pub instances: usize,
    /// Responses by the time from their place among the instances to their first bytes: one bucket
    /// for each of [`FIRST_BYTES_BUCKETS_US`] (not cumulative), and one for longer times.
    pub first_bytes: [u64; FIRST_BYTES_BUCKETS_US.len() + 1],
    /// Those times together.
    pub first_bytes_time: Duration,
    /// Loads that compiled the component.
    pub compiled: LoadMetrics,
    /// Loads of machine code from the cache.
    pub cached: LoadMetrics,
}

/// Number of loads, and their time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoadMetrics {
    /// Times.
    pub count: u64,
    /// Time that it took, together.
    pub time: Duration,
}

impl PluginMetricsSnapshot {
    /// Responses that ended so.
    #[must_use]
    pub fn outcome(&self, outcome: ResponseOutcome) -> u64 {
        self.outcomes[outcome as usize]
    }

    /// Responses that were stopped by that.
    #[must_use]
    pub fn trap(&self, kind: TrapKind) -> u64 {
        self.traps[kind as usize]
    }

    /// Responses that failed by the plugin's own fault.
    #[must_use]
    pub fn failures(&self) -> u64 {
        ResponseOutcome::ALL
            .into_iter()
            .filter(|outcome| outcome.is_failure_of_the_plugin())
            .map(|outcome| self.outcome(outcome))
            .sum()
    }
}
