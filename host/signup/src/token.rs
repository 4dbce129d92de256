//! The secret of a mailed link: 32 random bytes, of which only the SHA-256 is stored
//! (contract-10-links).

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

/// Characters of a token.
const CHARACTERS: usize = 43;

/// The secret part of a link. The link is worth as much as a password until it is used.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct LinkToken([u8; 32]);

impl LinkToken {
    /// Makes a new token.
    pub(crate) fn issue() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes)?;
        Ok(Self(bytes))
    }

    /// Parses the text of a link; `None` where it cannot be one.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if text.len() != CHARACTERS {
            return None;
        }
        URL_SAFE_NO_PAD.decode(text).ok()?.try_into().ok().map(Self)
    }

    /// The text for a link.
    pub(crate) fn expose(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.0)
    }

    /// The form in which it is stored.
    pub(crate) fn hash(&self) -> [u8; 32] {
        Sha256::digest(self.0).into()
    }
}

impl fmt::Debug for LinkToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LinkToken(redacted)")
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn a_token_comes_back_from_its_text_and_nothing_else_does_contract_10() {
        let token = LinkToken::issue().unwrap();
        let text = token.expose();
        assert_eq!(LinkToken::parse(&text), Some(token.clone()));
        assert_ne!(LinkToken::issue().unwrap(), token);
        assert_ne!(token.hash(), token.0, "the token itself is not stored");
        for bad in ["", &text[1..], &format!("{text}A"), &text.replace(&text[..1], "+"), "é"] {
            if *bad != text {
                assert_eq!(LinkToken::parse(bad), None, "{bad}");
            }
        }
        assert_eq!(format!("{token:?}"), "LinkToken(redacted)");
    }
}
