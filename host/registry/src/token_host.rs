//! Hosts that see a registry's credentials: the registry's own, and those that the operator names
//! for it. A registry chooses the address of a token (`realm`), so that address allows nothing.

use serde::{Deserialize, Serialize};
use yearbook_outbound::Url;

use crate::RegistryReference;

/// Docker Hub, whose tokens come from a host of their own.
const DOCKER_HUB: (&str, &str) = ("docker.io", "auth.docker.io");

/// A host that may see the credentials for a registry: `registry.example.org=auth.example.org`,
/// each with a port where it is not that of HTTPS.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TokenHost {
    registry: String,
    host: String,
}

impl TokenHost {
    /// Returns true if credentials for the registry of `reference` may go to `url`, with `own` as
    /// the registry's own address.
    pub(crate) fn allow(
        named: &[Self],
        reference: &RegistryReference,
        own: &Url,
        url: &Url,
    ) -> bool {
        let registry = reference.authority();
        let host = authority(url);
        url.origin() == own.origin()
            || (registry.as_str(), host.as_str()) == DOCKER_HUB
            || named.iter().any(|it| it.registry == registry && it.host == host)
    }
}

/// Host of an address and, where it is not the scheme's own, its port.
pub(crate) fn authority(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

impl TryFrom<String> for TokenHost {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let is_host = |host: &str| {
            Url::parse(&format!("https://{host}/"))
                .is_ok_and(|url| authority(&url) == host && url.path() == "/")
        };
        match text.split_once('=') {
            Some((registry, host)) if is_host(registry) && is_host(host) => {
                Ok(Self { registry: registry.to_owned(), host: host.to_owned() })
            }
            _ => Err(format!(
                "{text:?} must be a registry and its host of tokens in lower case, like registry.example.org=auth.example.org"
            )),
        }
    }
}

impl From<TokenHost> for String {
    fn from(TokenHost { registry, host }: TokenHost) -> Self {
        format!("{registry}={host}")
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn credentials_go_to_the_registry_and_to_hosts_that_are_named_for_it_contract_14() {
        let named = [TokenHost::try_from("registry.gitlab.com=gitlab.com".to_owned()).unwrap()];
        for (registry, token, expected) in [
            ("registry.gitlab.com", "https://registry.gitlab.com/token", true),
            ("registry.gitlab.com", "https://gitlab.com/jwt/auth", true),
            ("registry.gitlab.com", "https://gitlab.com:8443/jwt/auth", false),
            ("registry.gitlab.com", "https://gitlab.com.example.org/jwt/auth", false),
            ("registry.gitlab.com", "https://auth.docker.io/token", false),
            ("registry.example.org", "https://gitlab.com/jwt/auth", false),
            ("registry.example.org:5000", "https://registry.example.org:5000/token", true),
            ("registry.example.org:5000", "https://registry.example.org/token", false),
            ("docker.io", "https://auth.docker.io/token", true),
        ] {
            let reference = RegistryReference::parse(&format!("oci://{registry}/a:1")).unwrap();
            let own = Url::parse(&format!("https://{registry}/")).unwrap();
            let allowed = TokenHost::allow(&named, &reference, &own, &Url::parse(token).unwrap());
            assert_eq!(allowed, expected, "{registry} {token}");
        }
    }

    #[test]
    fn what_names_no_two_hosts_is_refused_contract_14() {
        for text in
            ["gitlab.com", "a.org=", "=b.org", "a.org=https://b.org", "A.org=b.org", "a=b/c"]
        {
            assert!(TokenHost::try_from(text.to_owned()).is_err(), "{text}");
        }
    }
}
