//! Names of what the object store holds.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Digest, words};

/// An object in the object store under one digest, together with its checksums and signature. It is
/// stored, referenced by the catalog and deleted as one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ObjectKey {
    /// Its kind.
    pub kind: StoredKind,
    /// SHA-256 of its content.
    pub sha256: Digest,
}

/// Kind of a stored object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StoredKind {
    /// Rows of a snapshot, or of what changed between two.
    Snapshot,
    /// The same of a version that waited for its time, where it waited.
    Waiting,
    /// A plugin.
    Component,
}

words! { StoredKind { Snapshot = "snapshot", Waiting = "waiting", Component = "component" } }

impl ObjectKey {
    /// Creates the key of the file of a snapshot or of changes.
    #[must_use]
    pub const fn snapshot(sha256: &Digest) -> Self {
        Self { kind: StoredKind::Snapshot, sha256: *sha256 }
    }

    /// Creates the key of the file of a version that waits, or of its changes.
    #[must_use]
    pub const fn waiting(sha256: &Digest) -> Self {
        Self { kind: StoredKind::Waiting, sha256: *sha256 }
    }

    /// Creates the key of the component of a plugin.
    #[must_use]
    pub const fn component(sha256: &Digest) -> Self {
        Self { kind: StoredKind::Component, sha256: *sha256 }
    }
}

impl fmt::Display for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let folder = match self.kind {
            StoredKind::Snapshot => "snapshots",
            StoredKind::Waiting => "waiting",
            StoredKind::Component => "plugins",
        };
        write!(f, "{folder}/{}", self.sha256)
    }
}
