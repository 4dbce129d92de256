//! Tags of languages (BCP 47): their form, and the lookup of RFC 4647.

use serde::{Deserialize, Serialize};

/// Longest tag (RFC 5646, 4.4.1, asks for 35 at least).
const MAX_BYTES: usize = 35;

/// A well-formed tag of a language, in the case that RFC 5646, 2.1.1, recommends: `mi`, `pt-BR`,
/// `zh-Hant`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Language(String);

impl Language {
    /// Reads a tag. `None` for what is none.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let is_subtag = |subtag: &str| {
            matches!(subtag.len(), 1..=8) && subtag.bytes().all(|byte| byte.is_ascii_alphanumeric())
        };
        let primary = text.split('-').next().unwrap_or_default();
        let is_primary =
            primary.len() >= 2 && primary.bytes().all(|byte| byte.is_ascii_alphabetic());
        if text.len() > MAX_BYTES || !is_primary || !text.split('-').all(is_subtag) {
            return None;
        }
        let mut tag = String::with_capacity(text.len());
        let mut is_private = false;
        for (position, subtag) in text.split('-').enumerate() {
            if position > 0 {
                tag.push('-');
            }
            let lower = subtag.to_ascii_lowercase();
            match lower.len() {
                2 if position > 0 && !is_private => tag.push_str(&lower.to_ascii_uppercase()),
                4 if position > 0 && !is_private => {
                    let (first, rest) = lower.split_at(1);
                    tag.push_str(&first.to_ascii_uppercase());
                    tag.push_str(rest);
                }
                // What follows a single letter is an extension, all of it in small letters.
                1 => {
                    is_private = true;
                    tag.push_str(&lower);
                }
                _ => tag.push_str(&lower),
            }
        }
        Some(Self(tag))
    }

    /// Returns the tag.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Finds the language that `range` means: itself, or the longest beginning of it that is there
    /// (RFC 4647, 3.4). `None` for `*`, which prefers nothing.
    pub fn lookup<'a>(range: &str, there: &'a [Self]) -> Option<&'a Self> {
        let mut range = range;
        loop {
            if let Some(found) = there.iter().find(|tag| tag.0.eq_ignore_ascii_case(range)) {
                return Some(found);
            }
            range = range.rsplit_once('-')?.0;
            // A single letter means nothing without what follows it.
            if let Some((shorter, last)) = range.rsplit_once('-')
                && last.len() == 1
            {
                range = shorter;
            }
        }
    }
}
