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
    /// True: publishing describes tables for readers of Iceberg, and `/share/iceberg` serves them,
    /// where the store is S3. Default false.
    pub iceberg: bool,
    /// Properties that readers of Iceberg are handed with a table. Default none: readers bring
    /// their own credentials.
    pub iceberg_credentials: IcebergCredentials,
}

/// Properties of readers, `s3.*`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct IcebergCredentials {
    /// Properties of S3.
    pub s3: S3Properties,
}

/// Properties of S3 as Iceberg calls them, with underscores in place of hyphens.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct S3Properties {
    /// `s3.access-key-id`: of a user that may only read.
    pub access_key_id: Option<String>,
    /// `s3.secret-access-key`.
    pub secret_access_key: Option<String>,
    /// `s3.session-token`.
    pub session_token: Option<String>,
    /// `s3.endpoint`, as readers reach it.
    pub endpoint: Option<String>,
    /// `s3.region`, `client.region` too.
    pub region: Option<String>,
    /// `s3.path-style-access`: `true` or `false`.
    pub path_style_access: Option<String>,
}

impl IcebergCredentials {
    /// Returns the properties that are set, by their names.
    #[must_use]
    pub fn properties(&self) -> Vec<(&'static str, &str)> {
        let s3 = &self.s3;
        let named = [
            ("s3.access-key-id", &s3.access_key_id),
            ("s3.secret-access-key", &s3.secret_access_key),
            ("s3.session-token", &s3.session_token),
            ("s3.endpoint", &s3.endpoint),
            ("s3.region", &s3.region),
            ("client.region", &s3.region),
            ("s3.path-style-access", &s3.path_style_access),
        ];
        named.into_iter().filter_map(|(name, value)| Some((name, value.as_deref()?))).collect()
    }
}

/// Says nothing of the values, which are secret.
impl std::fmt::Debug for S3Properties {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("S3Properties")
    }
}

/// The name of a share: 1 to 255 characters, no blank, slash or control character.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ShareName(String);

impl Default for ShareSettings {
    fn default() -> Self {
        Self {
            name: ShareName("yearbook".to_owned()),
            url_seconds: 3_600,
            redirect: false,
            iceberg: false,
            iceberg_credentials: IcebergCredentials::default(),
        }
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
    fn properties_have_the_names_that_readers_know_contract_12() {
        let s3 = S3Properties {
            access_key_id: Some("A".to_owned()),
            region: Some("r".to_owned()),
            ..S3Properties::default()
        };
        let credentials = IcebergCredentials { s3 };
        let expected = [("s3.access-key-id", "A"), ("s3.region", "r"), ("client.region", "r")];
        assert_eq!(credentials.properties(), expected);
        assert!(!format!("{credentials:?}").contains('A'), "a log would tell the secret");
    }

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
