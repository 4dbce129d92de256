//! Plugin releases: where one may stand, what may become of it, and which of a name's releases
//! serves. Values and pure functions; the bytes of a release lie in the object store and never
//! here.

mod release_metrics;
mod serving_order;

use serde::{Deserialize, Serialize};
use yearbook_domain::Millis;

pub use release_metrics::{CanaryTotals, ReleaseUsage, StateTransition};
pub use serving_order::{ServingOrder, lines};

/// A build of a plugin that the catalogue knows. Its code lies elsewhere, addressed by `digest`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PluginRelease {
    /// Which one.
    pub id: ReleaseId,
    /// The plugin's own version.
    pub version: String,
    /// Size of the component in bytes.
    pub bytes: u64,
    /// Who installed it; `embedded` for those that the binary carries.
    pub by: String,
    /// When it was first registered.
    pub installed_at: Millis,
    /// Whether it came with a binary. A release that an operator installed goes before those.
    pub built_in: bool,
    /// Where it stands.
    pub state: ReleaseState,
    /// Number of the event that installed or promoted it last; 0 before it is registered.
    pub promotion: i64,
    /// Whether it serves whatever is promoted later.
    pub pinned: bool,
    /// Why it stands where it stands, where somebody said.
    pub reason: Option<String>,
    /// When a quarantine ends; none: it is in none, or somebody has to end it.
    pub until: Option<Millis>,
    /// Quarantines since an operator promoted it last.
    pub quarantines: u32,
}

/// What names a release.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct ReleaseId {
    /// `encoder` or `generator`.
    pub kind: String,
    /// Format of an encoder, tool of a generator.
    pub name: String,
    /// Lower-case hexadecimal SHA-256 of the component.
    pub digest: String,
}

/// Where a release stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReleaseState {
    /// Checked and stored; serves nothing yet.
    Installed,
    /// May serve. (`active` is what hosts wrote that knew no other state.)
    #[serde(alias = "active")]
    Promoted,
    /// Served, or was to serve, and was taken back.
    RolledBack,
    /// Taken away by an operator; its bytes may go.
    Removed,
    /// Took itself out of service by failing.
    Quarantined,
}

impl ReleaseState {
    /// Whether a release may go from this state into `next`.
    #[must_use]
    pub fn can_transition_to(self, next: Self) -> bool {
        use ReleaseState::{Installed, Promoted, Quarantined, Removed, RolledBack};
        match (self, next) {
            // A promotion of what is promoted puts it before the others.
            (_, Promoted) => true,
            (Installed | Promoted, RolledBack | Quarantined) => true,
            (RolledBack | Quarantined | Removed, Installed) => true,
            (Installed | Promoted | RolledBack | Quarantined, Removed) => true,
            (Quarantined, RolledBack) => true,
            _ => false,
        }
    }

    /// Its word in the database and for people.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Installed => "installed",
            Self::Promoted => "promoted",
            Self::RolledBack => "rolled_back",
            Self::Removed => "removed",
            Self::Quarantined => "quarantined",
        }
    }
}

/// Something that somebody does to a release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReleaseChange {
    /// To which.
    pub id: ReleaseId,
    /// Where it goes.
    pub to: ReleaseState,
    /// Who wants it so.
    pub by: String,
    /// When.
    pub at: Millis,
    /// Why.
    pub reason: Option<String>,
}

/// What came of a [`ReleaseChange`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeOutcome {
    /// It is so, and an event tells of it.
    Done,
    /// There is no such release.
    NoSuchRelease,
    /// The release stands where it cannot go there from; nothing happened.
    NotAllowedFrom(ReleaseState),
}

/// One line of the history of releases.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReleaseEvent {
    /// Grows with time.
    pub number: i64,
    /// Of which release.
    #[serde(flatten)]
    pub id: ReleaseId,
    /// A state's word, or `pinned` or `unpinned`.
    pub what: String,
    /// Who did it.
    pub by: String,
    /// When.
    #[serde(serialize_with = "serialize_rfc3339")]
    pub at: Millis,
    /// Why.
    pub reason: Option<String>,
}

fn serialize_rfc3339<S: serde::Serializer>(at: &Millis, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&at.to_rfc3339())
}

#[cfg(test)]
mod tests {
    use super::ReleaseState::{self, Installed, Promoted, Quarantined, Removed, RolledBack};

    #[test]
    fn a_release_that_failed_or_is_gone_serves_only_after_somebody_promoted_it() {
        let all = [Installed, Promoted, RolledBack, Removed, Quarantined];
        assert!(all.iter().all(|state| state.can_transition_to(Promoted)));
        assert!(
            all.iter().all(|state| *state == Promoted || !state.can_transition_to(*state)),
            "nothing else happens twice"
        );
        assert!(
            !Promoted.can_transition_to(Installed)
                && !Removed.can_transition_to(Quarantined)
                && !RolledBack.can_transition_to(Quarantined)
        );
    }

    #[test]
    fn a_state_has_one_word_everywhere() {
        for state in [Installed, Promoted, RolledBack, Removed, Quarantined] {
            assert_eq!(serde_json::to_value(state).ok(), Some(state.as_str().into()));
        }
        assert_eq!(serde_json::from_str::<ReleaseState>("\"active\"").ok(), Some(Promoted));
    }
}
