//! Networks that a registry may lead to. Whoever names a registry decides that its own host is
//! asked, wherever that is; an address that the *registry* names is public, or on the same kind of
//! network as the registry, so that none can have this machine ask its neighbours or itself.

use std::net::{IpAddr, SocketAddr};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use yearbook_domain::NetworkZone;

/// Zones that one registry may lead to: the public one and its own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AllowedZones {
    own: NetworkZone,
}

impl AllowedZones {
    /// Zones for a registry with these addresses. Of several the most public counts: the registry
    /// says itself which ones it has.
    pub(crate) fn new(addresses: &[IpAddr]) -> Self {
        let own = addresses.iter().map(|ip| NetworkZone::of(*ip)).min();
        Self { own: own.unwrap_or(NetworkZone::Public) }
    }

    pub(crate) fn allow(self, ip: IpAddr) -> bool {
        let zone = NetworkZone::of(ip);
        zone != NetworkZone::Unusable && (zone.is_public() || zone == self.own)
    }
}

/// A name without an address that may be connected to.
#[derive(Debug, thiserror::Error)]
#[error("{name} has no address that is allowed")]
pub(crate) struct RefusedName {
    pub(crate) name: String,
    pub(crate) found: IpAddr,
}

/// Looks names up and keeps the addresses that are allowed, so that what was checked is what is
/// connected to.
pub(crate) struct ZoneResolver(pub(crate) AllowedZones);

impl Resolve for ZoneResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let allowed = self.0;
        Box::pin(async move {
            let name = name.as_str().to_owned();
            let found: Vec<SocketAddr> =
                tokio::net::lookup_host((name.as_str(), 0)).await?.collect();
            let kept: Vec<SocketAddr> =
                found.iter().copied().filter(|address| allowed.allow(address.ip())).collect();
            match found.first() {
                Some(first) if kept.is_empty() => {
                    Err(Box::new(RefusedName { name, found: first.ip() }).into())
                }
                _ => Ok(Box::new(kept.into_iter()) as Addrs),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap_or_else(|_| panic!("{text}"))
    }

    #[test]
    fn a_registry_leads_to_public_addresses_and_to_those_of_its_own_kind() {
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
            assert_eq!(AllowedZones::new(&own).allow(ip(target)), allowed, "{own:?} to {target}");
        }
    }
}
