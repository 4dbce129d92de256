//! Reasons why a change to a plugin's releases is refused or fails. Owns no rule; knows nothing of
//! how a command shows them.

use yearbook_catalog::{ReleaseId, ReleaseState};
use yearbook_domain::PluginKind;

use crate::CheckReport;

/// A change to releases that was refused or failed.
#[derive(Debug, thiserror::Error)]
pub enum ReleaseError {
    /// The component does not pass its check.
    #[error("{} was not installed; faults that its check found: {}", .0.name.as_deref().unwrap_or("the plugin"), .0.findings.len() + .0.more_findings)]
    CheckFailed(Box<CheckReport>),
    /// The operator's settings do not let it in; nothing of it was compiled or run.
    #[error(transparent)]
    Untrusted(#[from] crate::TrustError),
    /// A component that came with the binary does not load.
    #[error(
        "the plugin {name} from {by} is refused: {reason}; build it again with `cargo xtask plugins`"
    )]
    Embedded {
        /// Its file's name.
        name: String,
        /// The folder, or `embedded`.
        by: String,
        /// The sandbox's sentence.
        reason: String,
    },
    /// The other one of formats and transforms has the name.
    #[error(
        "{name} was not installed; a release of the kind {kind} has this name, and names are unique over formats and transforms; give the plugin another name"
    )]
    NameTaken {
        /// Format or transform.
        name: String,
        /// Kind of the release that is known by it.
        kind: PluginKind,
    },
    /// No release has this name.
    #[error("there is no plugin {0:?}; `yearbook plugin list` shows those that there are")]
    NoSuchPlugin(String),
    /// No release of the name has a digest that begins so, or several have.
    #[error(
        "{found} releases of {name} have a digest that begins with {digest:?}; `yearbook plugin list` shows them, give more of it"
    )]
    Digest {
        /// Format or tool.
        name: String,
        /// As given.
        digest: String,
        /// Number of releases that fit.
        found: usize,
    },
    /// The name has nothing that could be done this to.
    #[error("{0}")]
    NotApplicable(String),
    /// Somebody else was quicker.
    #[error("{} is {} by now; look at `yearbook plugin list` and try again", .0.name, .1.as_str())]
    StateChanged(ReleaseId, ReleaseState),
    /// The catalog failed.
    #[error(transparent)]
    Catalog(#[from] yearbook_catalog::CatalogError),
    /// The object store failed.
    #[error(transparent)]
    Storage(#[from] yearbook_storage::StorageFailure),
    /// The component's upload was not registered.
    #[error(transparent)]
    Upload(#[from] yearbook_catalog::UploadError),
    /// The check was cut short.
    #[error("the check was cut short by a panic, which is a fault of this program")]
    Panicked,
}
