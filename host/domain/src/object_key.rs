//! Names of what the object store holds.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What lies in the object store under one digest, together with what belongs to it: checksums, a
/// signature. It is stored, named by the catalogue and removed as one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Stored {
    /// What it is.
    pub kind: StoredKind,
    /// Lower-case hexadecimal SHA-256 of its content.
    pub sha256: String,
}

/// What a stored thing is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StoredKind {
    /// Rows of a snapshot, or of what changed between two.
    Snapshot,
    /// A plugin.
    Component,
}

impl Stored {
    /// The file of a snapshot or of changes.
    #[must_use]
    pub fn snapshot(sha256: &str) -> Self {
        Self { kind: StoredKind::Snapshot, sha256: sha256.to_owned() }
    }

    /// The component of a plugin.
    #[must_use]
    pub fn component(sha256: &str) -> Self {
        Self { kind: StoredKind::Component, sha256: sha256.to_owned() }
    }
}

impl fmt::Display for Stored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let folder = match self.kind {
            StoredKind::Snapshot => "snapshots",
            StoredKind::Component => "plugins",
        };
        write!(f, "{folder}/{}", self.sha256)
    }
}
