//! `server.trusted_proxies`: who may say for whom a request is (decision 0169).

use std::net::IpAddr;

use ipnet::IpNet;
use serde::{Deserialize, Serialize};

/// Addresses of proxies.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<String>", into = "Vec<String>")]
pub struct TrustedProxies(Vec<IpNet>);

impl TrustedProxies {
    /// Returns whether nobody is trusted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether `address` is one of them.
    pub fn contains(&self, address: IpAddr) -> bool {
        self.0.iter().any(|network| network.contains(&address))
    }
}

impl TryFrom<Vec<String>> for TrustedProxies {
    type Error = String;

    fn try_from(texts: Vec<String>) -> Result<Self, String> {
        let network = |text: &String| {
            let found = text.parse::<IpNet>().or_else(|_| text.parse::<IpAddr>().map(IpNet::from));
            found.map_err(|_| {
                format!("{text:?} must be an address or a network like 10.0.0.0/8 or ::1")
            })
        };
        texts.iter().map(network).collect::<Result<_, _>>().map(Self)
    }
}

impl From<TrustedProxies> for Vec<String> {
    fn from(TrustedProxies(networks): TrustedProxies) -> Self {
        networks.iter().map(ToString::to_string).collect()
    }
}

/// `server.forwarded_header`: where trusted proxies name the client and what it called us. One
/// alone: a proxy that writes the one may pass on what a client wrote into the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ForwardedHeader {
    /// `X-Forwarded-For`, with `X-Forwarded-Proto` and `X-Forwarded-Host`.
    #[default]
    XForwardedFor,
    /// `Forwarded` (RFC 7239).
    Forwarded,
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn networks_are_read_and_written() {
        let read = |text: &str| TrustedProxies::try_from(vec![text.to_owned()]).map(Vec::from);
        assert_eq!(read("192.0.2.1").unwrap(), ["192.0.2.1/32"]);
        assert_eq!(read("2001:db8::/32").unwrap(), ["2001:db8::/32"]);
        assert!(
            ["10.0.0.0/33", "proxy.example.org", "10.0.0.0-10.0.0.9", ""]
                .into_iter()
                .all(|text| read(text).is_err())
        );
    }
}
