//! One release of the calendar, in the words that all of its documents share.

use std::sync::Arc;

use yearbook_domain::{Dataset, Millis, SnapshotId};

use crate::version_changes::changes_sentence;

/// A release that is to come or was to come.
#[derive(Clone, Debug)]
pub(crate) struct CalendarEvent {
    /// Its name for ever, a UUID that tells nothing.
    pub(crate) uid: String,
    /// Time of the release.
    pub(crate) at: Millis,
    /// Words about it.
    pub(crate) title: String,
    /// Time at which it was said.
    pub(crate) announced_at: Millis,
    /// Number of times that it was moved.
    pub(crate) moves: u32,
    /// True where a version was committed for it, and not only planned.
    pub(crate) is_announced: bool,
    /// The dataset; `None` as long as nobody may know it.
    pub(crate) dataset: Option<Arc<Dataset>>,
    /// Its outcome so far.
    pub(crate) outcome: EventOutcome,
}

/// Outcome of a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EventOutcome {
    /// Its time has not come.
    Coming,
    /// It was published.
    Released {
        /// The version; `None` where its dataset is not served.
        snapshot: Option<SnapshotId>,
        /// Time of the version.
        at: Millis,
    },
    /// Its time has come and nothing was published.
    Late,
    /// Retention dropped the versions of its time, so that nobody can tell.
    Forgotten,
}

impl EventOutcome {
    /// Returns its word in JSON.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Coming => "coming",
            Self::Released { .. } => "released",
            Self::Late => "late",
            Self::Forgotten => "forgotten",
        }
    }

    /// Returns the version that was released, where it may be named.
    pub(crate) fn snapshot(self) -> Option<SnapshotId> {
        match self {
            Self::Released { snapshot, .. } => snapshot,
            _ => None,
        }
    }
}

impl CalendarEvent {
    /// Returns what is known of it, in a sentence.
    pub(crate) fn sentence(&self) -> String {
        let said = if self.is_announced { "Announced" } else { "Planned" };
        let at = self.at.to_rfc3339();
        match self.outcome {
            EventOutcome::Coming => format!("{said} for {at}."),
            EventOutcome::Released { snapshot: Some(snapshot), at } => {
                let changes = self.changes_of(snapshot).map(|changes| format!("; {changes}"));
                let changes = changes.unwrap_or_default();
                format!("Released {}: version {snapshot}{changes}.", at.to_rfc3339())
            }
            EventOutcome::Released { snapshot: None, at } => {
                format!("Released {}.", at.to_rfc3339())
            }
            EventOutcome::Late => format!("Late: {} for {at}.", said.to_lowercase()),
            EventOutcome::Forgotten => {
                format!("{said} for {at}; the versions of that time are no longer kept.")
            }
        }
    }

    /// Returns what a version of its dataset changed, where that is known.
    fn changes_of(&self, id: SnapshotId) -> Option<String> {
        let mut versions = self.dataset.as_ref()?.snapshots.iter();
        changes_sentence(versions.rfind(|version| version.id == id)?)
    }

    /// Returns the time at which what is said of it changed last.
    pub(crate) fn changed_at(&self) -> Millis {
        match self.outcome {
            EventOutcome::Coming => self.announced_at,
            EventOutcome::Released { at, .. } => at,
            EventOutcome::Late | EventOutcome::Forgotten => self.at,
        }
    }

    /// Returns the address of the dataset's page, where it may be named.
    pub(crate) fn page_url(&self, base_url: &str) -> Option<String> {
        let dataset = self.dataset.as_ref()?;
        Some(format!("{base_url}/datasets/{}", dataset.name))
    }
}
