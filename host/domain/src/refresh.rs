//! Checks of sources: when one is due (contract-8-due), how one ended, and the kinds of failure.
//! Never asks a source and reads no clock.

use serde::{Deserialize, Serialize};

use crate::{Millis, words};

const HOUR: i64 = 3_600_000;
const DAY: i64 = 24 * HOUR;

/// Wait after a failed check, milliseconds: the shortest cadence. A failure is no check, so its
/// source stays due, and a timer that fires every minute must not ask it every minute.
const RETRY_AFTER_FAILURE: i64 = HOUR;

/// Interval between checks of a source: a promise to readers, from a closed list
/// (contract-7-cadence).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cadence {
    /// Every hour.
    Hourly,
    /// Every 24 hours.
    Daily,
    /// Every seven days.
    Weekly,
    /// Every calendar month.
    Monthly,
    /// Every three calendar months.
    Quarterly,
    /// Every calendar year.
    Annual,
    /// Nobody knows when it changes: checked daily.
    Irregular,
    /// A closed release: never checked again.
    None,
}

words! {
    Cadence {
        Hourly = "hourly", Daily = "daily", Weekly = "weekly", Monthly = "monthly",
        Quarterly = "quarterly", Annual = "annual", Irregular = "irregular", None = "none",
    }
}

impl Cadence {
    /// Returns the time of the check after one at `checked_at`; `None` if it never comes. Months
    /// and years are those of the UTC calendar; the last day stands in for one that a month does
    /// not have.
    #[must_use]
    pub fn next_check(self, checked_at: Millis) -> Option<Millis> {
        let later = |by: i64| Some(Millis(checked_at.0.saturating_add(by)));
        match self {
            Self::Hourly => later(HOUR),
            Self::Daily | Self::Irregular => later(DAY),
            Self::Weekly => later(7 * DAY),
            Self::Monthly => Some(checked_at.plus_months(1)),
            Self::Quarterly => Some(checked_at.plus_months(3)),
            Self::Annual => Some(checked_at.plus_months(12)),
            Self::None => None,
        }
    }
}

/// Earliest time of the next check of a source with `cadence` (none stated: `irregular`), given the
/// last one that ended well and the last one that failed after it. None: never. A source that was
/// never checked is due at once, a closed release among them.
#[must_use]
pub fn next_check(
    cadence: Option<Cadence>,
    checked_at: Option<Millis>,
    failed_at: Option<Millis>,
) -> Option<Millis> {
    let regular = match checked_at {
        Some(checked_at) => cadence.unwrap_or(Cadence::Irregular).next_check(checked_at)?,
        None => Millis(i64::MIN),
    };
    let after_failure = failed_at.map(|at| Millis(at.0.saturating_add(RETRY_AFTER_FAILURE)));
    Some(regular.max(after_failure.unwrap_or(regular)))
}

/// End of a check of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckOutcome {
    /// A new snapshot is current.
    Published,
    /// The current snapshot is what the source says.
    Unchanged,
    /// The dataset is as it was; the reason says why.
    Failed,
}

words! {
    CheckOutcome { Published = "published", Unchanged = "unchanged", Failed = "failed" }
}

/// Kind of a failed check: a label of metrics, so the list is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureCause {
    /// The descriptor is wrong or cannot be read.
    Descriptor,
    /// The address leads into a private network.
    PrivateAddress,
    /// No connection, or one that broke.
    Connection,
    /// No whole answer in time.
    Timeout,
    /// A status other than 200 and 304.
    Status,
    /// More bytes than are allowed.
    TooLarge,
    /// An answer that makes no sense: redirects in a circle, an unknown coding, no stated end.
    Answer,
    /// The data does not keep to the rules of publishing.
    Data,
    /// The catalog, the object store or this machine failed.
    Internal,
}

words! {
    FailureCause {
        Descriptor = "descriptor", PrivateAddress = "private_address", Connection = "connection",
        Timeout = "timeout", Status = "status", TooLarge = "too_large", Answer = "answer",
        Data = "data", Internal = "internal",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-01-31T12:00:00Z.
    const JANUARY: Millis = Millis(1_769_860_800_000);

    #[test]
    fn a_cadence_says_when_a_source_is_due_again_contract_8() {
        for (cadence, expected) in [
            (Cadence::Hourly, Some("2026-01-31T13:00:00Z")),
            (Cadence::Daily, Some("2026-02-01T12:00:00Z")),
            (Cadence::Weekly, Some("2026-02-07T12:00:00Z")),
            (Cadence::Monthly, Some("2026-02-28T12:00:00Z")),
            (Cadence::Quarterly, Some("2026-04-30T12:00:00Z")),
            (Cadence::Annual, Some("2027-01-31T12:00:00Z")),
            (Cadence::Irregular, Some("2026-02-01T12:00:00Z")),
            (Cadence::None, None),
        ] {
            let next = cadence.next_check(JANUARY).map(Millis::to_rfc3339);
            assert_eq!(next.as_deref(), expected, "{cadence:?}");
            assert_eq!(Cadence::parse(cadence.as_str()), Some(cadence));
        }
        assert_eq!(Cadence::parse("sometimes"), None);
    }

    #[test]
    fn a_failure_leaves_a_source_due_but_not_within_the_hour_contract_8() {
        let later = |minutes: i64| Millis(JANUARY.0 + minutes * 60_000);
        for (cadence, checked, failed, expected) in [
            // Never checked: due at once, a closed release too.
            (Some(Cadence::Annual), None, None, Some(Millis(i64::MIN))),
            (Some(Cadence::None), None, None, Some(Millis(i64::MIN))),
            // Checked: a closed release never again, no cadence as `irregular`.
            (Some(Cadence::None), Some(JANUARY), None, None),
            (None, Some(JANUARY), None, Some(later(24 * 60))),
            // Failed: an hour later, and never sooner than the cadence.
            (Some(Cadence::Annual), None, Some(JANUARY), Some(later(60))),
            (Some(Cadence::Hourly), Some(JANUARY), Some(later(70)), Some(later(130))),
            (Some(Cadence::Weekly), Some(JANUARY), Some(later(5)), Some(later(7 * 24 * 60))),
        ] {
            assert_eq!(next_check(cadence, checked, failed), expected, "{cadence:?}");
        }
    }
}
