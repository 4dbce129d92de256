//! Kinds of network that an address of IPv4 or IPv6 belongs to, by IANA's registries of
//! special-purpose addresses (contract-8-private). Owns the tables; never resolves a name and
//! decides nothing about who may connect where.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{Ipv4Net, Ipv6Net};

/// Kinds of network, the most public first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NetworkZone {
    /// The public Internet.
    Public,
    /// Networks of one owner (RFC 1918, 4193, 6598), old ones (RFC 3879) and laboratories (RFC
    /// 2544).
    Private,
    /// One link (RFC 3927, 4291). Clouds serve credentials of their machines there.
    LinkLocal,
    /// This machine.
    Loopback,
    /// Nothing that a host has for an address of its own: unspecified, multicast, documentation,
    /// protocol assignments, reserved, and what a gateway translates into a network that is not
    /// public.
    Unusable,
}

/// Networks of IPv4 that are not the public Internet (IANA IPv4 Special-Purpose Address Registry).
const IPV4: [(Ipv4Net, NetworkZone); 15] = [
    (v4([0, 0, 0, 0], 8), NetworkZone::Unusable),
    (v4([10, 0, 0, 0], 8), NetworkZone::Private),
    (v4([100, 64, 0, 0], 10), NetworkZone::Private),
    (v4([127, 0, 0, 0], 8), NetworkZone::Loopback),
    (v4([169, 254, 0, 0], 16), NetworkZone::LinkLocal),
    (v4([172, 16, 0, 0], 12), NetworkZone::Private),
    (v4([192, 0, 0, 0], 24), NetworkZone::Unusable),
    (v4([192, 0, 2, 0], 24), NetworkZone::Unusable),
    (v4([192, 88, 99, 0], 24), NetworkZone::Unusable),
    (v4([192, 168, 0, 0], 16), NetworkZone::Private),
    (v4([198, 18, 0, 0], 15), NetworkZone::Private),
    (v4([198, 51, 100, 0], 24), NetworkZone::Unusable),
    (v4([203, 0, 113, 0], 24), NetworkZone::Unusable),
    (v4([224, 0, 0, 0], 4), NetworkZone::Unusable),
    (v4([240, 0, 0, 0], 4), NetworkZone::Unusable),
];

/// Networks of IPv6 with a zone of their own; the first that holds an address counts (IANA IPv6
/// Special-Purpose Address Registry). What is neither here nor in [`GLOBAL_UNICAST`] cannot be
/// used: 100::/64 for example.
const IPV6: [(Ipv6Net, NetworkZone); 7] = [
    (v6([0, 0, 0, 0, 0, 0, 0, 1], 128), NetworkZone::Loopback),
    (v6([0xfc00, 0, 0, 0, 0, 0, 0, 0], 7), NetworkZone::Private),
    (v6([0xfec0, 0, 0, 0, 0, 0, 0, 0], 10), NetworkZone::Private),
    (v6([0xfe80, 0, 0, 0, 0, 0, 0, 0], 10), NetworkZone::LinkLocal),
    // Protocol assignments: Teredo, whose IPv4 addresses are those of its relays, and others.
    (v6([0x2001, 0, 0, 0, 0, 0, 0, 0], 23), NetworkZone::Unusable),
    (v6([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32), NetworkZone::Unusable),
    (v6([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20), NetworkZone::Unusable),
];

/// Global unicast addresses of IPv6: nothing outside is the public Internet.
const GLOBAL_UNICAST: Ipv6Net = v6([0x2000, 0, 0, 0, 0, 0, 0, 0], 3);

/// Networks of IPv6 whose addresses a gateway turns into one of IPv4: translation (RFC 6052) and
/// 6to4 (RFC 3056), with the index of that address's first byte.
const TRANSLATED: [(Ipv6Net, usize); 2] =
    [(v6([0x64, 0xff9b, 0, 0, 0, 0, 0, 0], 96), 12), (v6([0x2002, 0, 0, 0, 0, 0, 0, 0], 16), 2)];

const fn v4(octets: [u8; 4], prefix: u8) -> Ipv4Net {
    let [a, b, c, d] = octets;
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), prefix)
}

const fn v6(segments: [u16; 8], prefix: u8) -> Ipv6Net {
    let [a, b, c, d, e, f, g, h] = segments;
    Ipv6Net::new_assert(Ipv6Addr::new(a, b, c, d, e, f, g, h), prefix)
}

impl NetworkZone {
    /// Zone of an address. One of IPv4 that is mapped into IPv6 counts as that of IPv4, since the
    /// connection is one of IPv4.
    #[must_use]
    pub fn from_address(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(address) => Self::from_ipv4(address),
            IpAddr::V6(address) => Self::from_ipv6(address),
        }
    }

    /// Returns true for the public Internet.
    #[must_use]
    pub fn is_public(self) -> bool {
        self == Self::Public
    }

    fn from_ipv4(address: Ipv4Addr) -> Self {
        let found = IPV4.iter().find(|(network, _)| network.contains(&address));
        found.map_or(Self::Public, |(_, zone)| *zone)
    }

    fn from_ipv6(address: Ipv6Addr) -> Self {
        if let Some(inner) = translated(address) {
            // Which private network the gateway stands in is not known here.
            return if Self::from_ipv4(inner).is_public() { Self::Public } else { Self::Unusable };
        }
        match IPV6.iter().find(|(network, _)| network.contains(&address)) {
            Some((_, zone)) => *zone,
            None if GLOBAL_UNICAST.contains(&address) => Self::Public,
            None => Self::Unusable,
        }
    }
}

/// Address of IPv4 that a gateway makes of one of IPv6.
fn translated(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let (_, at) = TRANSLATED.iter().find(|(network, _)| network.contains(&address))?;
    let octets: [u8; 4] = address.octets().get(*at..at + 4)?.try_into().ok()?;
    Some(octets.into())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn check(zone: NetworkZone, addresses: &[&str]) {
        for address in addresses {
            assert_eq!(NetworkZone::from_address(address.parse().unwrap()), zone, "{address}");
        }
    }

    #[test]
    fn addresses_of_private_networks_are_known_in_every_spelling_contract_8() {
        check(
            NetworkZone::Public,
            &["8.8.8.8", "140.82.121.34", "::ffff:8.8.8.8", "2606:4700::1111", "2a00:1450::1"],
        );
        check(
            NetworkZone::Private,
            &[
                "10.0.0.0",
                "10.255.255.255",
                "100.64.0.1",
                "100.127.255.255",
                "172.16.0.1",
                "172.31.255.255",
                "192.168.1.1",
                "198.18.0.0",
                "198.19.255.255",
                "::ffff:192.168.0.1",
                "fc00::1",
                "fd00:ec2::254",
                "fec0::1",
                "feff:ffff::1",
            ],
        );
        check(
            NetworkZone::LinkLocal,
            &["169.254.0.1", "169.254.169.254", "::ffff:169.254.169.254", "fe80::1", "febf::1"],
        );
        check(
            NetworkZone::Loopback,
            &["127.0.0.1", "127.0.0.53", "127.255.255.254", "::1", "::ffff:127.0.0.1"],
        );
        check(
            NetworkZone::Unusable,
            &[
                "0.0.0.0",
                "0.255.255.255",
                "192.0.0.192",
                "192.0.2.1",
                "192.88.99.1",
                "198.51.100.1",
                "203.0.113.1",
                "224.0.0.1",
                "239.255.255.255",
                "240.0.0.1",
                "255.255.255.255",
                "::ffff:0.0.0.0",
                "::",
                "::2",
                "100::1",
                "100:0:0:1::1",
                "2001::1",
                "2001:1ff:ffff::1",
                "2001:db8::1",
                "2001:db8:ffff::1",
                "3fff::1",
                "3fff:fff::1",
                "4000::1",
                "5f00::1",
                "ff02::1",
            ],
        );
    }

    #[test]
    fn the_neighbours_of_special_networks_are_public() {
        check(
            NetworkZone::Public,
            &[
                "1.0.0.0",
                "9.255.255.255",
                "11.0.0.0",
                "100.63.255.255",
                "100.128.0.0",
                "126.255.255.255",
                "128.0.0.0",
                "169.253.255.255",
                "169.255.0.0",
                "172.15.255.255",
                "172.32.0.0",
                "192.0.1.0",
                "192.0.3.0",
                "192.88.98.255",
                "192.88.100.0",
                "192.167.255.255",
                "192.169.0.0",
                "198.17.255.255",
                "198.20.0.0",
                "198.51.99.255",
                "198.51.101.0",
                "203.0.112.255",
                "203.0.114.0",
                "223.255.255.255",
                "2000::",
                "2001:200::",
                "2001:db7:ffff::",
                "2001:db9::",
                "3ffe:ffff::",
                "3fff:1000::",
            ],
        );
    }

    #[test]
    fn an_address_that_a_gateway_translates_is_public_where_the_inner_one_is_contract_8() {
        check(NetworkZone::Public, &["64:ff9b::808:808", "2002:808:808::", "2002:808:808::1"]);
        check(
            NetworkZone::Unusable,
            &[
                "64:ff9b::7f00:1",
                "64:ff9b::a9fe:a9fe",
                "64:ff9b::c612:1",
                // Beyond the /96 nothing says which bytes are the address.
                "64:ff9b:1::808:808",
                "2002:a00:1::",
                "2002:7f00:1::1",
                // IPv4-compatible addresses are not used any more.
                "::127.0.0.1",
                "::8.8.8.8",
                // Teredo of a public server and client.
                "2001:0:808:808::f7f7:f7f7",
            ],
        );
    }
}
