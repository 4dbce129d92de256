//! Content addresses: the SHA-256 of stored bytes.

use sha2::{Digest as _, Sha256};

use crate::hex::Hex;
use crate::text_identity::text_identity;

/// SHA-256 of stored bytes, 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(Hex<64>);

impl Digest {
    /// Digits of [`Digest::short`].
    pub const SHORT_DIGITS: usize = 12;

    /// Computes the digest of `bytes`.
    #[must_use]
    pub fn compute(bytes: &[u8]) -> Self {
        Self::from_sha256(Sha256::digest(bytes).into())
    }

    /// Spells a hash that was computed piece by piece.
    #[must_use]
    pub fn from_sha256(hash: [u8; 32]) -> Self {
        Self(Hex::encode(&hash))
    }

    /// None when `text` is not 64 lower-case hexadecimal digits.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Hex::parse(text).map(Self)
    }

    /// Returns the 64 digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Returns the 32 bytes.
    #[must_use]
    pub fn to_bytes(self) -> [u8; 32] {
        self.0.decode()
    }

    /// Returns the first digits, which people read and type.
    #[must_use]
    pub fn short(&self) -> &str {
        self.as_str().get(..Self::SHORT_DIGITS).unwrap_or_default()
    }
}

text_identity!(Digest, "a digest is 64 digits of lower-case hexadecimal");
