//! `[share]`: the warehouse share (contract-12-names, contract-12-urls). Never touches a request.

use serde::{Deserialize, Serialize};

/// Longest life of an address, seconds: a week, which is what object stores sign at most.
const MAX_URL_SECONDS: u64 = 604_800;

/// `[share]`: its name, and the addresses of files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ShareSettings {
    /// Name of the share that holds every table. Default `yearbook`.
    pub name: ShareName,
    /// Time for which the address of a file works, seconds. Default 3,600: what clients that read
    /// large tables in one go need. `yearbook gc` keeps files for as long, and a host whose view of
    /// the catalog is old adds to it.
    #[serde(deserialize_with = "url_seconds")]
    pub url_seconds: u64,
    /// True: addresses of files are those that the object store signs, where it is S3. The store
    /// then sends the bytes; a revoked key ends none of them before its time. Default false.
    pub redirect: bool,
}

/// The name of a share: 1 to 255 characters, no blank, slash or control character.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ShareName(String);

impl Default for ShareSettings {
    fn default() -> Self {
        Self { name: ShareName("yearbook".to_owned()), url_seconds: 3_600, redirect: false }
    }
}

impl ShareName {
    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for ShareName {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let characters = text.chars().count();
        let allowed = |c: char| !c.is_whitespace() && !c.is_control() && c != '/';
        if (1..=255).contains(&characters) && text.chars().all(allowed) {
            return Ok(Self(text));
        }
        Err(format!("{text:?} must be 1 to 255 characters without blanks and slashes"))
    }
}

impl From<ShareName> for String {
    fn from(name: ShareName) -> Self {
        name.0
    }
}

/// Accepts lives that an address can have.
fn url_seconds<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let seconds = u64::deserialize(deserializer)?;
    if (1..=MAX_URL_SECONDS).contains(&seconds) {
        return Ok(seconds);
    }
    let sentence = format!("{seconds} must be from 1 to {MAX_URL_SECONDS} seconds");
    Err(serde::de::Error::custom(sentence))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_has_a_name_that_clients_can_write_contract_12() {
        for (text, expected) in [
            ("yearbook", true),
            ("Statistik_ö", true),
            ("", false),
            ("a b", false),
            ("a/b", false),
            ("a\u{7}", false),
        ] {
            assert_eq!(ShareName::try_from(text.to_owned()).is_ok(), expected, "{text}");
        }
        assert!(ShareName::try_from("x".repeat(256)).is_err());
    }
}
