//! Plugin releases: their states, the transitions between these, and the order in which the
//! releases of one name serve. Values and pure functions; the bytes of a release lie in the object
//! store.

mod serving_order;

use serde::{Deserialize, Serialize};

use crate::{Digest, Millis, PluginKind, words};

pub use serving_order::{ServingOrder, lines};

/// A build of a plugin that the catalog knows. Its code lies elsewhere, addressed by `digest`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PluginRelease {
    /// Its name.
    pub id: ReleaseId,
    /// The plugin's own version.
    pub version: String,
    /// Size of the component in bytes.
    pub bytes: u64,
    /// Author of the installation; `embedded` for those that the binary carries.
    pub by: String,
    /// Time of its first registration.
    pub installed_at: Millis,
    /// True when it came with a binary. A release that an operator installed goes before those.
    pub built_in: bool,
    /// Its state.
    pub state: ReleaseState,
    /// Number of the event that installed or promoted it last; 0 before it is registered. The end
    /// of a quarantine is neither.
    pub promotion: i64,
    /// True when it serves whatever is promoted later.
    pub pinned: bool,
    /// Reason of its state, where one was given.
    pub reason: Option<String>,
    /// End of a quarantine; `None` if it is in none, or an operator has to end it.
    pub until: Option<Millis>,
    /// Quarantines since an operator promoted it last.
    pub quarantines: u32,
    /// Reference that it was installed from last; `None` for a file, or the binary.
    pub origin: Option<ReleaseOrigin>,
}

/// Place in a registry from which a release was installed. A note of where to look for newer ones:
/// a release is its component's digest, whatever the reference names by now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReleaseOrigin {
    /// `oci://HOST[:PORT]/REPOSITORY` with a tag, a digest or both, as the operator wrote it.
    pub reference: String,
    /// Digest of the manifest that it named then.
    pub manifest: Digest,
}

/// Kind, name and digest: what names a release.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct ReleaseId {
    /// Kind of the plugin.
    pub kind: PluginKind,
    /// Format of an encoder, tool of a generator.
    pub name: String,
    /// SHA-256 of the component.
    pub digest: Digest,
}

/// State of a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReleaseState {
    /// Checked and stored; serves nothing yet.
    Installed,
    /// May serve.
    Promoted,
    /// Served, or was to serve, and was rolled back.
    RolledBack,
    /// Removed by an operator; its bytes may go.
    Removed,
    /// Out of service because it failed.
    Quarantined,
}

impl ReleaseState {
    /// True when a release may go from this state into `next`.
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
}

words! {
    ReleaseState {
        Installed = "installed", Promoted = "promoted", RolledBack = "rolled_back",
        Removed = "removed", Quarantined = "quarantined",
    }
}

#[cfg(test)]
mod tests {
    use super::ReleaseState::{Installed, Promoted, Quarantined, Removed, RolledBack};

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
    }
}
