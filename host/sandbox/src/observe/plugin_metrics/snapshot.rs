//! The counters of one release, and a reading of them.

use yearbook_counters::{Counter, Gauge, TimeCounter, counters};
use yearbook_engine::TrapKind;

use super::{FIRST_BYTES_BUCKETS_US, ReleaseName};
use crate::observe::ResponseOutcome;

counters! {
    /// The counters of one release.
    #[derive(Debug)]
    pub struct PluginMetrics of release: ReleaseName;

    /// Counters of a release at one moment.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct PluginMetricsSnapshot {
        /// Responses that were given a place among the instances.
        begun: Counter,
        /// Responses by how they ended, as [`ResponseOutcome::ALL`]; those begun that are missing
        /// here are being made.
        outcomes: [Counter; ResponseOutcome::ALL.len()],
        /// Responses that were stopped, by what, as [`TrapKind::ALL`].
        traps: [Counter; TrapKind::ALL.len()],
        /// Responses that no instance came free for; they are not among those begun.
        refused: Counter,
        /// Responses that wait for an instance now.
        waiting: Gauge,
        /// Time that responses waited for an instance, together.
        waited: TimeCounter,
        /// Calls into guests, those of trials included, without `describe`.
        calls: Counter,
        /// Processor time of those calls.
        cpu: TimeCounter,
        /// Largest linear memory of any instance, bytes.
        memory_bytes: Gauge,
        /// Rows given to guests.
        rows: Counter,
        /// Bytes of the columns, or descriptions, given to guests.
        bytes_in: Counter,
        /// Bytes that guests returned.
        bytes_out: Counter,
        /// Instances that live now.
        instances: Gauge,
        /// Responses by the time from their place among the instances to their first bytes: one
        /// bucket for each of [`FIRST_BYTES_BUCKETS_US`] (not cumulative), and one for longer
        /// times.
        first_bytes: [Counter; FIRST_BYTES_BUCKETS_US.len() + 1],
        /// Sum of these times.
        first_bytes_time: TimeCounter,
        /// Loads that compiled the component.
        compiled: LoadCounters,
        /// Loads of machine code from the cache.
        cached: LoadCounters,
    }
}

counters! {
    /// Counters of loads.
    #[derive(Debug, Default)]
    pub(crate) struct LoadCounters;

    /// Number of loads, and their time.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct LoadMetrics {
        /// Times.
        count: Counter,
        /// Time that it took, together.
        time: TimeCounter,
    }
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
