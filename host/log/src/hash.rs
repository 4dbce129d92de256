//! Hashes of leaves and nodes (RFC 6962, section 2.1).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

/// The hash of a leaf, of a node or of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hash(pub [u8; 32]);

impl Hash {
    /// Hashes an entry.
    #[must_use]
    pub fn leaf(entry: &[u8]) -> Self {
        Self(Sha256::new().chain_update([0]).chain_update(entry).finalize().into())
    }

    /// Hashes two nodes to the one above them.
    #[must_use]
    pub fn parent(left: Self, right: Self) -> Self {
        let both = Sha256::new().chain_update([1]).chain_update(left.0).chain_update(right.0);
        Self(both.finalize().into())
    }

    /// Returns the hash of the tree without entries.
    #[must_use]
    pub fn empty() -> Self {
        Self(Sha256::digest([]).into())
    }

    /// Returns the hash as notes and proofs write it.
    #[must_use]
    pub fn to_base64(self) -> String {
        STANDARD.encode(self.0)
    }

    /// Parses [`Self::to_base64`].
    #[must_use]
    pub fn from_base64(text: &str) -> Option<Self> {
        STANDARD.decode(text).ok()?.try_into().ok().map(Self)
    }
}
