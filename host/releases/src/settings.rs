//! Settings of an operator about releases: section `[plugins]` of `yearbook.toml`. Each value
//! gives its unit, its default and the reason for it; reading files and variables is the binary's
//! affair.

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// `[plugins]`: how a new release comes into service, and one that fails out of it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReleaseMonitorSettings {
    /// Of a hundred data responses made by the release that serves, how many a release that waits
    /// makes again, unseen by clients. Default 5: enough traffic for a verdict within minutes, at a
    /// cost that nobody notices. 0: releases wait until somebody promotes them.
    pub canary_percent: u8,
    /// Responses that must have been compared before a release is promoted. Default 20: several
    /// datasets and options of a busy format.
    pub canary_responses: u64,
    /// Time that a canary is compared at least, seconds. Default 60: long enough that not one
    /// client's loop decides.
    pub canary_seconds: u64,
    /// Rows of a response that are made again at most. Default 20,000: more than one batch, so that
    /// parts are joined too.
    pub canary_rows: usize,
    /// Bytes of the columns of a response that are held to be made again, at most, but for the last
    /// batch. Default 4 MiB: one batch of the largest size that the host makes. One response at a
    /// time is held.
    pub canary_bytes: usize,
    /// A release that takes so many times the processor time of the one that serves is rolled back.
    /// Default 2.0: below, it may be worth it.
    pub canary_cpu_ratio: f64,
    /// The same for memory; up to 16 MiB are never held against it. Default 2.0.
    pub canary_memory_ratio: f64,
    /// Different requests that a release must have failed within `strike_seconds` before it is
    /// quarantined. Default 3. 0: never.
    pub strikes: usize,
    /// Datasets that those requests must be for, at least. Default 3: a table whose rows break a
    /// release is asked for by many, and says nothing of the others. Where fewer datasets are
    /// published, as many as are.
    pub strike_datasets: usize,
    /// Time that a failure counts, seconds. Default 60.
    pub strike_seconds: u64,
    /// Of a hundred responses of that time, how many must have failed; 50 at least where no other
    /// release could serve. Default 10: a rare row that breaks a release is a fault to mend, not an
    /// outage.
    pub strike_percent: u8,
    /// Length of a release's first quarantine, seconds; each further one lasts five times
    /// as long, a day at most. Default 60.
    pub quarantine_seconds: u64,
}

impl Default for ReleaseMonitorSettings {
    fn default() -> Self {
        Self {
            canary_percent: 5,
            canary_responses: 20,
            canary_seconds: 60,
            canary_rows: 20_000,
            canary_bytes: 4 << 20,
            canary_cpu_ratio: 2.0,
            canary_memory_ratio: 2.0,
            strikes: 3,
            strike_datasets: 3,
            strike_seconds: 60,
            strike_percent: 10,
            quarantine_seconds: 60,
        }
    }
}

impl ReleaseMonitorSettings {
    pub(crate) fn min_canary_time(&self) -> Duration {
        Duration::from_secs(self.canary_seconds)
    }

    /// The settings where so many `datasets` are published, of which no more can be failed at.
    pub(crate) fn for_published(&self, datasets: usize) -> Self {
        Self { strike_datasets: self.strike_datasets.min(datasets.max(1)), ..*self }
    }

    pub(crate) fn failure_window(&self) -> Duration {
        Duration::from_secs(self.strike_seconds)
    }

    /// The longest quarantine that there is, whatever a host's settings: a day.
    pub(crate) const LONGEST_QUARANTINE: Duration = Duration::from_secs(86_400);

    /// Length of the quarantine after `earlier` others.
    pub(crate) fn quarantine_time(&self, earlier: u32) -> Duration {
        let lasts = Duration::from_secs(
            self.quarantine_seconds.saturating_mul(5_u64.saturating_pow(earlier)),
        );
        lasts.min(Self::LONGEST_QUARANTINE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_datasets_must_be_failed_at_than_are_published_contract_6() {
        let needed = |strike_datasets, published| {
            let settings =
                ReleaseMonitorSettings { strike_datasets, ..ReleaseMonitorSettings::default() };
            settings.for_published(published).strike_datasets
        };
        let all = [(3, 0, 1), (3, 1, 1), (3, 2, 2), (3, 3, 3), (3, 9, 3), (0, 0, 0), (0, 9, 0)];
        for (setting, published, expected) in all {
            assert_eq!(needed(setting, published), expected, "{setting} of {published}");
        }
    }

    #[test]
    fn each_quarantine_lasts_five_times_as_long_as_the_one_before_and_a_day_at_most() {
        let settings = ReleaseMonitorSettings::default();
        let lasts: Vec<u64> = [0, 1, 2, 9, u32::MAX]
            .into_iter()
            .map(|earlier| settings.quarantine_time(earlier).as_secs())
            .collect();
        assert_eq!(lasts, [60, 300, 1_500, 86_400, 86_400]);
    }
}
