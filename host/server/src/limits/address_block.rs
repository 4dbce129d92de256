//! The unit that limits by address count by.

use std::net::{IpAddr, Ipv6Addr};

use axum::extract::Request;

use crate::middleware::client_address::ClientAddress;

/// The address of a household: an IPv4 address, or the /64 that an IPv6 address lies in.
pub(crate) fn address_block(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() & (u128::MAX << 64))),
        v4 @ IpAddr::V4(_) => v4,
    }
}

/// The household that `request` came from; none without a connection (a test).
pub(crate) fn address_block_of(request: &Request) -> Option<IpAddr> {
    request.extensions().get::<ClientAddress>().map(|client| address_block(client.address))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn an_ipv6_household_has_one_bucket() {
        let of = |text: &str| address_block(text.parse().unwrap());
        assert_eq!(of("2001:db8:1:2::1"), of("2001:db8:1:2:ffff::9"));
        assert_ne!(of("2001:db8:1:2::1"), of("2001:db8:1:3::1"));
        assert_eq!(of("::ffff:192.0.2.1"), of("192.0.2.1"));
    }
}
