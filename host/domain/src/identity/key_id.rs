//! Public identifiers of API keys.

use std::sync::Arc;

use crate::text_identity::text_identity;

/// Longest identifier, in characters.
const MAX_CHARACTERS: usize = 64;

/// Public identifier of a key, by which operators list and revoke it: 1 to 64 ASCII letters, digits
/// and underscores. Not a secret. Clones share the text.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyId(Arc<str>);

impl KeyId {
    /// None when `text` is empty, longer than 64 characters, or holds another character.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        let valid = (1..=MAX_CHARACTERS).contains(&text.len()) && text.bytes().all(allowed);
        valid.then(|| Self(text.into()))
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

text_identity!(KeyId, "a key id is 1 to 64 letters, digits and underscores");
