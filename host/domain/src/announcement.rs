//! Releases that publishers tell of before their time (contract-21-calendar).

use serde::{Deserialize, Serialize};

use crate::{DatasetName, Millis, SnapshotId};

/// Planned releases of a package at most.
pub const MAX_PLANNED_RELEASES: usize = 100;

/// A release that the current package plans: one of `yearbook.releases`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedRelease {
    /// Its time.
    pub at: Millis,
    /// Words about it.
    pub title: String,
}

/// A release that was announced when it was committed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Announcement {
    /// Its number, which it keeps when it is moved.
    pub id: i64,
    /// The dataset, which may not be visible yet: it is named by the title alone until it is.
    pub dataset: DatasetName,
    /// Words about it.
    pub title: String,
    /// Time at which it was announced first.
    pub announced_at: Millis,
    /// Time of the release.
    pub release_at: Millis,
    /// Number of times that it was moved or replaced.
    pub moves: u32,
    /// The version that was released; `None` as long as it waits.
    pub snapshot: Option<SnapshotId>,
}
