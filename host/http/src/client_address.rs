//! Client addresses: the address at the other end of the connection or, where that is a proxy that
//! an operator trusts (`server.trusted_proxies`), the nearest one in its header that is not. What a
//! client writes into that header itself stands to the left of what proxies add, and is never
//! reached.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use axum::extract::{ConnectInfo, Request};
use http::HeaderMap;
use http::header::{FORWARDED, HeaderName};

use super::forwarded::{entries, parameter};
use crate::settings::{ForwardedHeader, ServerSettings};

/// De facto standard of proxies.
const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// Trusted proxies in a row that are looked behind; more is a loop or a forgery.
const HOPS: usize = 16;

/// The client of a request, in its extensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientAddress {
    /// Its address; unspecified without a connection (a test).
    pub address: IpAddr,
    /// Set where a trusted proxy passed the request on.
    pub by_proxy: bool,
}

impl ClientAddress {
    /// Returns the client that sent `request`.
    pub fn from_request(request: &Request) -> Self {
        let nobody = Self { address: IpAddr::V4(Ipv4Addr::UNSPECIFIED), by_proxy: false };
        request.extensions().get().copied().unwrap_or(nobody)
    }
}

/// Finds out who sends `request`, for all that follows.
pub fn mark(request: &mut Request, settings: &ServerSettings) -> ClientAddress {
    if let Some(ConnectInfo(peer)) = request.extensions().get::<ConnectInfo<SocketAddr>>().copied()
    {
        let client = resolve_client(peer.ip(), request.headers(), settings);
        request.extensions_mut().insert(client);
    }
    ClientAddress::from_request(request)
}

fn resolve_client(peer: IpAddr, headers: &HeaderMap, settings: &ServerSettings) -> ClientAddress {
    let peer = peer.to_canonical();
    let by_proxy = settings.trusted_proxies.contains(peer);
    if !by_proxy {
        return ClientAddress { address: peer, by_proxy };
    }
    let named = written_by_proxies(headers, settings).filter_map(|(_, address)| address).last();
    ClientAddress { address: named.unwrap_or(peer), by_proxy }
}

/// The entry of the trusted proxy that is furthest away from us, which speaks of the client's own
/// request. For requests that a trusted proxy passed on.
pub(super) fn outermost_entry<'h>(
    headers: &'h HeaderMap,
    settings: &ServerSettings,
) -> Option<&'h [u8]> {
    written_by_proxies(headers, settings).map(|(entry, _)| entry).last()
}

/// Entries that trusted proxies wrote, the nearest one's first, with the addresses that they name:
/// from the right up to the first address that is not trusted itself. Behind an entry that names no
/// address nobody knows who is who.
fn written_by_proxies<'h>(
    headers: &'h HeaderMap,
    settings: &ServerSettings,
) -> impl Iterator<Item = (&'h [u8], Option<IpAddr>)> {
    let header = settings.forwarded_header;
    let name = match header {
        ForwardedHeader::XForwardedFor => X_FORWARDED_FOR,
        ForwardedHeader::Forwarded => FORWARDED,
    };
    let read = move |entry: &[u8]| match header {
        ForwardedHeader::XForwardedFor => address(std::str::from_utf8(entry).ok()?.trim()),
        ForwardedHeader::Forwarded => address(parameter(entry, "for")?),
    };
    let mut ended = false;
    entries(headers, &name).take(HOPS).map_while(move |entry| {
        let here = (!ended).then(|| (entry, read(entry)));
        ended = !here.is_some_and(|(_, address)| {
            address.is_some_and(|address| settings.trusted_proxies.contains(address))
        });
        here
    })
}

/// `192.0.2.1`, `192.0.2.1:4711`, `2001:db8::1`, `[2001:db8::1]` or `[2001:db8::1]:4711`.
fn address(text: &str) -> Option<IpAddr> {
    let bare = || text.parse::<IpAddr>().ok();
    let with_port = || text.parse::<SocketAddr>().ok().map(|address| address.ip());
    let in_brackets = || text.strip_prefix('[')?.strip_suffix(']')?.parse::<IpAddr>().ok();
    bare().or_else(with_port).or_else(in_brackets).map(|address| address.to_canonical())
}

/// The block that limits by address count by: an IPv4 address, or the /64 that an IPv6 address lies
/// in.
pub fn address_block(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() & (u128::MAX << 64))),
        v4 @ IpAddr::V4(_) => v4,
    }
}

/// The block that `request` came from; none without a connection (a test).
pub fn address_block_of(request: &Request) -> Option<IpAddr> {
    request.extensions().get::<ClientAddress>().map(|client| address_block(client.address))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::settings::TrustedProxies;

    fn asks(header: ForwardedHeader, peer: &str, lines: &[&str]) -> String {
        let trusted_proxies =
            TrustedProxies::try_from(["10.0.0.0/8", "fd00::/8"].map(str::to_owned).to_vec())
                .unwrap();
        let settings = ServerSettings {
            trusted_proxies,
            forwarded_header: header,
            ..ServerSettings::default()
        };
        let mut headers = HeaderMap::new();
        for line in lines {
            let name =
                if header == ForwardedHeader::Forwarded { FORWARDED } else { X_FORWARDED_FOR };
            headers.append(name, http::HeaderValue::from_bytes(line.as_bytes()).unwrap());
        }
        resolve_client(peer.parse().unwrap(), &headers, &settings).address.to_string()
    }

    #[test]
    fn the_right_most_address_that_is_not_trusted_is_the_client() {
        let of = |peer, lines: &[&str]| asks(ForwardedHeader::XForwardedFor, peer, lines);
        assert_eq!(of("10.0.0.1", &["192.0.2.1"]), "192.0.2.1");
        assert_eq!(
            of("10.0.0.1", &["6.6.6.6, 192.0.2.1"]),
            "192.0.2.1",
            "what the client wrote itself is not reached"
        );
        assert_eq!(
            of("10.0.0.1", &["6.6.6.6, 192.0.2.1, 10.9.9.9"]),
            "192.0.2.1",
            "through two proxies"
        );
        assert_eq!(of("10.0.0.1", &["6.6.6.6", "192.0.2.1"]), "192.0.2.1", "lines are one list");
        assert_eq!(of("::ffff:10.0.0.1", &["192.0.2.1:4711"]), "192.0.2.1");
        assert_eq!(of("fd00::1", &["[2001:db8::1]:4711"]), "2001:db8::1");
        assert_eq!(of("fd00::1", &["2001:db8::1"]), "2001:db8::1");
        assert_eq!(
            of("10.0.0.1", &["10.0.0.2"]),
            "10.0.0.2",
            "a client within the trusted network"
        );
        assert_eq!(of("10.0.0.1", &[]), "10.0.0.1");
    }

    #[test]
    fn a_trusted_proxy_says_who_asks_and_nobody_else_does() {
        for header in [ForwardedHeader::XForwardedFor, ForwardedHeader::Forwarded] {
            assert_eq!(asks(header, "192.0.2.9", &["10.0.0.1", "for=1.1.1.1"]), "192.0.2.9");
        }
    }

    #[test]
    fn garbage_ends_the_search_where_it_stands() {
        let of = |lines: &[&str]| asks(ForwardedHeader::XForwardedFor, "10.0.0.1", lines);
        assert_eq!(of(&["192.0.2.1, nonsense, 10.0.0.3"]), "10.0.0.3");
        for garbage in
            ["", "nonsense", "unknown", "1.2.3", "1.2.3.4.5", "é", "1.2.3.4:99999", "[1.2.3.4", ","]
        {
            assert_eq!(of(&[&format!("192.0.2.1,{garbage}")]), "10.0.0.1", "{garbage}");
        }
        let many = vec!["10.0.0.4"; 10_000].join(",");
        assert_eq!(
            of(&[&format!("192.0.2.1,{many}")]),
            "10.0.0.4",
            "no more than some hops are looked at"
        );
    }

    #[test]
    fn forwarded_is_read_as_rfc_7239_has_it() {
        let of = |lines: &[&str]| asks(ForwardedHeader::Forwarded, "10.0.0.1", lines);
        assert_eq!(of(&["for=192.0.2.60;proto=http;by=203.0.113.43"]), "192.0.2.60");
        assert_eq!(
            of(&["for=6.6.6.6, For=\"[2001:db8:cafe::17]:4711\";proto=https"]),
            "2001:db8:cafe::17"
        );
        assert_eq!(of(&["for=192.0.2.1, for=10.0.0.7"]), "192.0.2.1");
        assert_eq!(
            of(&["for=192.0.2.1;host=\"a, for=6.6.6.6\""]),
            "192.0.2.1",
            "quoted text is no element"
        );
        for garbage in [
            "for=unknown",
            "for=_hidden",
            "proto=https",
            "for=1.1.1.1;for=2.2.2.2",
            "for=\"1.1.1.1",
            "for",
        ] {
            assert_eq!(of(&[&format!("for=192.0.2.1, {garbage}")]), "10.0.0.1", "{garbage}");
        }
    }

    #[test]
    fn an_ipv6_household_has_one_bucket() {
        let of = |text: &str| address_block(text.parse().unwrap());
        assert_eq!(of("2001:db8:1:2::1"), of("2001:db8:1:2:ffff::9"));
        assert_ne!(of("2001:db8:1:2::1"), of("2001:db8:1:3::1"));
        assert_eq!(of("::ffff:192.0.2.1"), of("192.0.2.1"));
    }
}
