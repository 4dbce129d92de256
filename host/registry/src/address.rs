//! Networks that a registry may lead to. Whoever names a registry decides that its own host is
//! asked, wherever that is; an address that the *registry* names is public, or on the same kind of
//! network as the registry, so that none can have this machine ask its neighbours or itself.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

/// Kinds of network, the most public first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum NetworkZone {
    /// The internet.
    Public,
    /// Networks of one owner: RFC 1918, RFC 6598, RFC 4193.
    Private,
    /// One link: RFC 3927, RFC 4291. Clouds serve credentials of their machines there.
    LinkLocal,
    /// This machine.
    Loopback,
    /// Nothing that can be connected to: unspecified, multicast, reserved.
    Unusable,
}

impl NetworkZone {
    /// Zone of an address; one of IPv4 within IPv6 counts as that of IPv4.
    pub(crate) fn of(ip: IpAddr) -> Self {
        match ip.to_canonical() {
            IpAddr::V4(ip) => Self::of_ipv4(ip),
            IpAddr::V6(ip) => Self::of_ipv6(ip),
        }
    }

    fn of_ipv4(ip: Ipv4Addr) -> Self {
        let [first, second, ..] = ip.octets();
        if ip.is_loopback() {
            Self::Loopback
        } else if ip.is_link_local() {
            Self::LinkLocal
        } else if ip.is_private() || (first == 100 && second & 0b1100_0000 == 64) {
            Self::Private
        } else if first == 0 || first >= 224 || ip.is_documentation() {
            Self::Unusable
        } else {
            Self::Public
        }
    }

    fn of_ipv6(ip: Ipv6Addr) -> Self {
        let [first, second, ..] = ip.segments();
        if ip.is_loopback() {
            Self::Loopback
        } else if ip.is_unicast_link_local() {
            Self::LinkLocal
        } else if ip.is_unique_local() {
            Self::Private
        } else if let (0x64, 0xff9b) | (0x2002, _) = (first, second) {
            // NAT64 and 6to4 carry an IPv4 address that this host would not see.
            Self::Unusable
        } else if ip.is_unspecified() || ip.is_multicast() || first == 0 {
            Self::Unusable
        } else {
            Self::Public
        }
    }
}

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
        zone != NetworkZone::Unusable && (zone == NetworkZone::Public || zone == self.own)
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
    fn addresses_of_this_machine_and_its_neighbours_are_told_from_public_ones() {
        for (text, zone) in [
            ("140.82.121.34", NetworkZone::Public),
            ("2606:50c0::1", NetworkZone::Public),
            ("10.1.2.3", NetworkZone::Private),
            ("172.31.0.1", NetworkZone::Private),
            ("100.64.0.1", NetworkZone::Private),
            ("fd00::1", NetworkZone::Private),
            ("::ffff:192.168.0.1", NetworkZone::Private),
            ("169.254.169.254", NetworkZone::LinkLocal),
            ("fe80::1", NetworkZone::LinkLocal),
            ("127.0.0.53", NetworkZone::Loopback),
            ("::1", NetworkZone::Loopback),
            ("::ffff:127.0.0.1", NetworkZone::Loopback),
            ("0.0.0.0", NetworkZone::Unusable),
            ("::", NetworkZone::Unusable),
            ("::127.0.0.1", NetworkZone::Unusable),
            ("64:ff9b::7f00:1", NetworkZone::Unusable),
            ("239.1.1.1", NetworkZone::Unusable),
        ] {
            assert_eq!(NetworkZone::of(ip(text)), zone, "{text}");
        }
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
        ] {
            let own: Vec<IpAddr> = own.iter().map(|text| ip(text)).collect();
            assert_eq!(AllowedZones::new(&own).allow(ip(target)), allowed, "{own:?} to {target}");
        }
    }
}
