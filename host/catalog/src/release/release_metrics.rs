//! What hosts observe of releases, as it is added up over all of them, and what follows from it.
//! Values.

use yearbook_domain::Millis;

use super::{ReleaseChange, ReleaseId, ReleaseState};

/// Comparisons of a release that waits with the one that serves: what one host saw since it told of
/// it last, or the sum of all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CanaryTotals {
    /// The release that waits.
    pub id: ReleaseId,
    /// Digest of the release that serves.
    pub incumbent: String,
    /// Responses that both made.
    pub samples: u64,
    /// Those of them with other bytes for the same values.
    pub rewritten: u64,
    /// Processor time of the release that waits, nanoseconds.
    pub cpu_ns: u64,
    /// Processor time of the one that serves for the same responses, nanoseconds.
    pub incumbent_ns: u64,
    /// Largest memory of the release that waits, bytes.
    pub memory: u64,
    /// Largest memory of the one that serves, bytes.
    pub incumbent_memory: u64,
    /// The first difference or failure that anybody saw.
    pub fault: Option<String>,
    /// When the first of these was seen.
    pub first_at: Millis,
}

/// Responses of one release: since a host told of them last, or of all hosts together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReleaseUsage {
    /// Which release.
    pub id: ReleaseId,
    /// Responses begun.
    pub responses: u64,
    /// Those that the release failed: traps, time-outs, faults of its own.
    pub failures: u64,
    /// When the last of them began.
    pub last_at: Millis,
}

/// A change that hosts conclude from what they saw. Each may come to it; it happens once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateTransition {
    /// What is to happen.
    pub change: ReleaseChange,
    /// Where the release stands as yet. Where it does not, somebody was quicker.
    pub from: ReleaseState,
    /// Digest of the release that must still be promoted for the conclusion to hold.
    pub against: Option<String>,
    /// When a quarantine ends.
    pub until: Option<Millis>,
}
