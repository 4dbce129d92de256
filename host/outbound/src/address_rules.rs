//! Rules of addresses (contract-8-private, contract-14-lies): who may be connected to. Names are
//! checked when they are resolved, addresses in a URL before anything is sent.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use reqwest::Url;

use crate::NetworkZone;

/// Addresses that may be connected to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressRules {
    /// Every address.
    Any,
    /// The public Internet.
    Public,
    /// The public Internet and the networks of one zone.
    PublicAnd(NetworkZone),
    /// The public Internet and an address that stands for a public one, which tests do not have.
    #[cfg(test)]
    PublicAndAddress(IpAddr),
}

/// A host that leads to an address outside the rules.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{host} leads to {address}, which is not on the public Internet")]
pub struct ForbiddenAddress {
    /// The host as it was named.
    pub host: String,
    /// First of its addresses that was refused.
    pub address: IpAddr,
}

impl AddressRules {
    /// The public Internet and the zone of a host with these addresses, so that it cannot have this
    /// machine ask its neighbours or itself. Of several zones the most public counts: the host says
    /// itself which addresses it has.
    #[must_use]
    pub fn beside(addresses: &[IpAddr]) -> Self {
        match addresses.iter().map(|address| NetworkZone::from_address(*address)).min() {
            None | Some(NetworkZone::Public | NetworkZone::Unusable) => Self::Public,
            Some(own) => Self::PublicAnd(own),
        }
    }

    fn allow(self, address: IpAddr) -> bool {
        let zone = NetworkZone::from_address(address);
        match self {
            Self::Any => true,
            Self::Public => zone.is_public(),
            Self::PublicAnd(own) => zone.is_public() || zone == own,
            #[cfg(test)]
            Self::PublicAndAddress(public) => zone.is_public() || address == public,
        }
    }

    /// Checks the host of `url` where it is an address itself.
    ///
    /// # Errors
    /// [`ForbiddenAddress`] where it is one outside the rules.
    pub fn check_literal(self, url: &Url) -> Result<(), ForbiddenAddress> {
        let host = url.host_str().unwrap_or_default();
        match ip_literal(host).filter(|address| !self.allow(*address)) {
            Some(address) => Err(ForbiddenAddress { host: host.to_owned(), address }),
            None => Ok(()),
        }
    }

    /// Keeps the addresses of `host` that may be connected to; an error if there are others alone.
    pub(crate) fn select(
        self,
        host: &str,
        found: &[IpAddr],
    ) -> Result<Vec<SocketAddr>, ForbiddenAddress> {
        let allowed = found.iter().filter(|address| self.allow(**address));
        // Port 0 becomes that of the URL.
        let allowed: Vec<_> = allowed.map(|address| SocketAddr::new(*address, 0)).collect();
        match found.first() {
            Some(first) if allowed.is_empty() => {
                Err(ForbiddenAddress { host: host.to_owned(), address: *first })
            }
            _ => Ok(allowed),
        }
    }
}

/// The address that a host is written as.
#[must_use]
pub fn ip_literal(host: &str) -> Option<IpAddr> {
    match host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(inner) => inner.parse::<Ipv6Addr>().ok().map(IpAddr::V6),
        None => host.parse().ok(),
    }
}

/// Returns true for a host that means this machine without a look-up.
#[must_use]
pub fn is_loopback_host(host: &str) -> bool {
    host == "localhost" || ip_literal(host).is_some_and(|ip| ip.to_canonical().is_loopback())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn a_host_that_is_an_address_is_checked_however_it_is_written_contract_8() {
        for url in [
            "http://127.0.0.1/",
            "http://2130706433/",
            "http://0x7f.1:8080/",
            "http://0177.0.0.1/",
            "http://127.0.0.1./",
            "http://[::1]/",
            "http://[::ffff:10.0.0.1]/",
            "https://192.168.0.1/a.csv",
        ] {
            let url = Url::parse(url).unwrap();
            assert!(AddressRules::Public.check_literal(&url).is_err(), "{url}");
            assert_eq!(AddressRules::Any.check_literal(&url), Ok(()));
        }
        for url in ["https://example.org/", "http://9.9.9.9/", "http://[2606:4700::1]/"] {
            assert_eq!(AddressRules::Public.check_literal(&Url::parse(url).unwrap()), Ok(()));
        }
    }

    #[test]
    fn a_name_with_one_public_address_is_reached_there_alone() {
        let rules = AddressRules::Public;
        let mixed = rules.select("x.org", &[ip("10.0.0.1"), ip("9.9.9.9")]).unwrap();
        assert_eq!(mixed, [SocketAddr::new(ip("9.9.9.9"), 0)]);
        let refused = rules.select("x.org", &[ip("10.0.0.1"), ip("::1")]).unwrap_err();
        assert!(refused.to_string().starts_with("x.org leads to 10.0.0.1"), "{refused}");
        assert_eq!(rules.select("x.org", &[]), Ok(Vec::new()));
    }

    #[test]
    fn a_registry_leads_to_public_addresses_and_to_those_of_its_own_zone_contract_14() {
        for (own, target, allowed) in [
            (&["140.82.121.34"][..], "1.1.1.1", true),
            (&["140.82.121.34"], "10.0.0.1", false),
            (&["140.82.121.34"], "127.0.0.1", false),
            (&["140.82.121.34", "127.0.0.1"], "127.0.0.1", false),
            (&["10.0.0.5"], "10.0.0.6", true),
            (&["10.0.0.5"], "127.0.0.1", false),
            (&["10.0.0.5"], "169.254.169.254", false),
            (&["127.0.0.1"], "127.0.0.1", true),
            (&["127.0.0.1"], "10.0.0.1", false),
            (&["127.0.0.1"], "0.0.0.0", false),
            (&["140.82.121.34"], "198.18.0.1", false),
            (&["140.82.121.34"], "192.0.0.192", false),
            (&["140.82.121.34"], "fec0::1", false),
            (&["140.82.121.34"], "64:ff9b::808:808", true),
            (&["10.0.0.5"], "64:ff9b::a00:6", false),
            (&["10.0.0.5"], "2002:a00:6::", false),
            (&["127.0.0.1"], "::ffff:127.0.0.1", true),
            (&["127.0.0.1"], "64:ff9b::7f00:1", false),
            (&["192.0.2.1"], "192.0.2.2", false),
        ] {
            let own: Vec<IpAddr> = own.iter().map(|text| ip(text)).collect();
            let rules = AddressRules::beside(&own);
            assert_eq!(rules.allow(ip(target)), allowed, "{own:?} to {target}");
        }
    }
}
