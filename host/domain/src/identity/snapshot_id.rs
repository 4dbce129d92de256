//! Ids of snapshots.

use super::digest::Digest;
use crate::hex::Hex;
use crate::text_identity::text_identity;

/// Name of a snapshot, derived from its rows and its descriptor: 32 lower-case hexadecimal digits.
/// 128 bits are beyond collisions by accident or by intent.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SnapshotId(Hex<32>);

impl SnapshotId {
    /// Takes the first half of the digest over what identifies the snapshot.
    #[must_use]
    pub fn from_digest(digest: Digest) -> Self {
        Self(Hex::encode(&digest.to_bytes()))
    }

    /// None when `text` is not 32 lower-case hexadecimal digits.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Hex::parse(text).map(Self)
    }

    /// Returns the 32 digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

text_identity!(SnapshotId, "a snapshot id is 32 digits of lower-case hexadecimal");
