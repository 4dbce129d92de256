//! References to a plugin in a registry: `oci://HOST[:PORT]/REPOSITORY` with `:TAG`, `@sha256:…` or
//! both (contract-14-reference). The digest is that of the manifest.

use std::fmt;

use yearbook_domain::Digest;
use yearbook_outbound::{ip_literal, is_loopback_host};

/// Beginning of every reference.
pub(crate) const SCHEME: &str = "oci://";

/// Longest repository, characters (OCI distribution: host and repository together have 255).
const MAX_REPOSITORY: usize = 255;

/// Longest tag, characters.
const MAX_TAG: usize = 128;

/// A plugin in a registry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegistryReference {
    /// Host as it is written in an address: lower case, an IPv6 address in brackets.
    host: String,
    port: Option<u16>,
    repository: String,
    tag: Option<String>,
    digest: Option<Digest>,
}

/// A reference that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{text:?} names no plugin in a registry: {reason}; write oci://HOST[:PORT]/REPOSITORY:TAG, oci://HOST/REPOSITORY@sha256:DIGEST, or both"
)]
pub struct ReferenceError {
    text: String,
    reason: &'static str,
}

impl RegistryReference {
    /// Reads a reference.
    ///
    /// # Errors
    /// [`ReferenceError`] with the part that is wrong.
    pub fn parse(text: &str) -> Result<Self, ReferenceError> {
        parse(text).map_err(|reason| ReferenceError {
            text: text.chars().filter(|c| !c.is_control()).take(300).collect(),
            reason,
        })
    }

    /// Host and, where one is named, port.
    #[must_use]
    pub fn authority(&self) -> String {
        match self.port {
            Some(port) => format!("{}:{port}", self.host),
            None => self.host.clone(),
        }
    }

    /// Host alone.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Repository within the registry.
    #[must_use]
    pub fn repository(&self) -> &str {
        &self.repository
    }

    /// Tag, where one is named.
    #[must_use]
    pub fn tag(&self) -> Option<&str> {
        self.tag.as_deref()
    }

    /// Digest of the manifest, where one is named; it decides where a tag is named too.
    #[must_use]
    pub fn digest(&self) -> Option<&Digest> {
        self.digest.as_ref()
    }

    /// The same without its digest, so that its tag decides; `None` for a reference without a tag.
    #[must_use]
    pub fn by_tag(&self) -> Option<Self> {
        self.tag.is_some().then(|| Self { digest: None, ..self.clone() })
    }

    /// True for a registry on this machine, which is asked without TLS: `localhost` or a loopback
    /// address (contract-14-plain-http).
    #[must_use]
    pub fn is_loopback(&self) -> bool {
        is_loopback_host(&self.host)
    }
}

impl fmt::Display for RegistryReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{SCHEME}{}/{}", self.authority(), self.repository)?;
        if let Some(tag) = &self.tag {
            write!(f, ":{tag}")?;
        }
        if let Some(digest) = &self.digest {
            write!(f, "@sha256:{}", digest.as_str())?;
        }
        Ok(())
    }
}

fn parse(text: &str) -> Result<RegistryReference, &'static str> {
    let is_reference =
        text.get(..SCHEME.len()).is_some_and(|scheme| scheme.eq_ignore_ascii_case(SCHEME));
    if !is_reference {
        return Err("it does not begin with oci:// (download it and name the file)");
    }
    let rest = text.get(SCHEME.len()..).unwrap_or_default();
    let (authority, rest) = rest.split_once('/').ok_or("it has no repository")?;
    let (host, port) = parse_authority(authority)?;
    let (rest, digest) = match rest.split_once('@') {
        Some((rest, digest)) => {
            let digits = digest.strip_prefix("sha256:").ok_or("its digest is not sha256:…")?;
            (rest, Some(Digest::parse(digits).ok_or("a digest has 64 digits of 0-9 and a-f")?))
        }
        None => (rest, None),
    };
    let (repository, tag) = match rest.split_once(':') {
        Some((repository, tag)) => (repository, Some(tag)),
        None => (rest, None),
    };
    if !is_repository(repository) {
        return Err(
            "a repository has lower-case letters, digits and single separators (. _ - /) between them",
        );
    }
    if tag.is_some_and(|tag| !is_tag(tag)) {
        return Err("a tag has letters, digits, _ . and -, 128 at most, and begins with no . or -");
    }
    if tag.is_none() && digest.is_none() {
        return Err("it has neither tag nor digest");
    }
    let (repository, tag) = (repository.to_owned(), tag.map(str::to_owned));
    Ok(RegistryReference { host, port, repository, tag, digest })
}

fn parse_authority(authority: &str) -> Result<(String, Option<u16>), &'static str> {
    let after_brackets = authority.rfind(']').map_or(0, |end| end + 1);
    let (host, port) = match authority.get(after_brackets..).and_then(|rest| rest.rfind(':')) {
        Some(at) => {
            let at = after_brackets + at;
            let port = authority.get(at + 1..).and_then(|port| port.parse::<u16>().ok());
            let port = port.filter(|port| *port > 0).ok_or("its port is none of 1 to 65535")?;
            (authority.get(..at).unwrap_or_default(), Some(port))
        }
        None => (authority, None),
    };
    let host = host.to_ascii_lowercase();
    let is_name = host.split('.').all(|label| {
        !label.is_empty()
            && label.len() <= 63
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    });
    // A name of digits alone is an address in one of its older spellings, which are read in many
    // ways.
    let odd =
        host.rsplit('.').next().is_some_and(|last| last.starts_with(|c: char| c.is_ascii_digit()));
    if ip_literal(&host).is_some() || (is_name && !odd && host.len() <= 253) {
        Ok((host, port))
    } else {
        Err("its host is neither a name nor an address")
    }
}

/// `[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*` between slashes.
fn is_repository(text: &str) -> bool {
    let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let is_path_component = |component: &str| {
        component.starts_with(is_word)
            && component.ends_with(is_word)
            && component.split(is_word).all(|between| {
                matches!(between, "" | "." | "_" | "__") || between.bytes().all(|b| b == b'-')
            })
    };
    text.len() <= MAX_REPOSITORY && text.split('/').all(is_path_component)
}

fn is_tag(text: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.len() <= MAX_TAG
        && text.starts_with(is_word)
        && text.chars().all(|c| is_word(c) || c == '.' || c == '-')
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    const HEX: &str = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";

    #[test]
    fn a_reference_has_a_tag_or_a_digest_or_both_contract_14() {
        for text in [
            "oci://ghcr.io/agency/markdown:1.2.0",
            "oci://localhost:5000/a/b__c/d-e.f:latest",
            "oci://[::1]:5000/plugin:v1",
            "oci://10.0.0.5/plugin:v1",
            &format!("oci://ghcr.io/agency/markdown@sha256:{HEX}"),
            &format!("oci://ghcr.io/agency/markdown:1.2.0@sha256:{HEX}"),
        ] {
            let read = RegistryReference::parse(text).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(read.to_string(), text);
        }
        let both = format!("oci://GHCR.io/a/b:Tag@sha256:{HEX}");
        let both = RegistryReference::parse(&both).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(both.authority(), "ghcr.io");
        assert_eq!((both.tag(), both.digest().map(Digest::as_str)), (Some("Tag"), Some(HEX)));
        assert_eq!(
            both.by_tag().map(|tag| tag.to_string()).as_deref(),
            Some("oci://ghcr.io/a/b:Tag")
        );
    }

    #[test]
    fn a_reference_that_cannot_be_read_says_which_part_is_wrong_contract_14() {
        for (text, part) in [
            ("ghcr.io/a/b:1", "oci://"),
            ("oci://ghcr.io", "no repository"),
            ("oci:///a:1", "host"),
            ("oci://user:pw@ghcr.io/a:1", "port"),
            ("oci://ghcr.io:0/a:1", "port"),
            ("oci://0x7f.1/a:1", "host"),
            ("oci://2130706433/a:1", "host"),
            ("oci://ghcr.io/A:1", "repository"),
            ("oci://ghcr.io/a//b:1", "repository"),
            ("oci://ghcr.io/../b:1", "repository"),
            ("oci://ghcr.io/a:-1", "tag"),
            ("oci://ghcr.io/a:1?x=y", "tag"),
            ("oci://ghcr.io/a", "neither tag nor digest"),
            ("oci://ghcr.io/a@sha512:00", "sha256"),
            ("oci://ghcr.io/a@sha256:00", "64 digits"),
        ] {
            let error = RegistryReference::parse(text).map(drop).unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn only_loopback_is_asked_without_tls_contract_14() {
        let plain = |host: &str| {
            RegistryReference::parse(&format!("oci://{host}/a:1")).map(|it| it.is_loopback())
        };
        for host in ["localhost", "LOCALHOST:5000", "127.0.0.1:5000", "127.9.9.9", "[::1]:80"] {
            assert_eq!(plain(host), Ok(true), "{host}");
        }
        for host in ["ghcr.io", "10.0.0.5:5000", "localhost.example.org", "[fe80::1]", "0.0.0.0"] {
            assert_eq!(plain(host), Ok(false), "{host}");
        }
    }
}
