//! Scheme and host that the client used, which links begin with where `server.public_url` says
//! nothing (contract-6-forwarded). A trusted proxy says them in the headers that
//! `server.forwarded_header` names; nobody else is believed about the scheme, and nobody at all
//! about a host that is none.

use std::net::Ipv6Addr;

use http::header::{HOST, HeaderName};
use http::request::Parts;

use super::client_address::{self, ClientAddress};
use super::forwarded::{entries, parameter};
use crate::settings::{ForwardedHeader, ServerSettings};

/// De facto standard of proxies that end TLS.
const X_FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");
const X_FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");

/// Longest name of a host, bytes (RFC 1035, 2.3.4).
const NAME_BYTES: usize = 253;

/// `https://data.example.org:8443`; none where the client does not say what it calls us, or says it
/// in words that are no host.
pub fn request_origin(parts: &Parts, settings: &ServerSettings) -> Option<String> {
    let by_proxy = parts.extensions.get::<ClientAddress>().is_some_and(|client| client.by_proxy);
    let said =
        if by_proxy { forwarded_origin(parts, settings) } else { ForwardedOrigin::default() };
    let requested = || {
        let named = parts.headers.get(HOST).and_then(|value| value.to_str().ok());
        parts.uri.authority().map(http::uri::Authority::as_str).or(named).and_then(authority)
    };
    let scheme =
        said.scheme.or_else(|| parts.uri.scheme_str().and_then(web_scheme)).unwrap_or("http");
    said.host.or_else(requested).map(|host| [scheme, "://", host].concat())
}

/// Well-formed statements of the proxy about the client's request.
#[derive(Default)]
struct ForwardedOrigin<'h> {
    scheme: Option<&'static str>,
    host: Option<&'h str>,
}

fn forwarded_origin<'h>(parts: &'h Parts, settings: &ServerSettings) -> ForwardedOrigin<'h> {
    let (scheme, host) = match settings.forwarded_header {
        ForwardedHeader::XForwardedFor => {
            // The last entry is the nearest proxy's: one further left may be the client's own.
            let last = |name| {
                entries(&parts.headers, &name)
                    .next()
                    .and_then(|entry| std::str::from_utf8(entry).ok())
            };
            (last(X_FORWARDED_PROTO), last(X_FORWARDED_HOST))
        }
        ForwardedHeader::Forwarded => {
            let element = client_address::outermost_entry(&parts.headers, settings);
            let of = |name| element.and_then(|element| parameter(element, name));
            (of("proto"), of("host"))
        }
    };
    ForwardedOrigin { scheme: scheme.and_then(web_scheme), host: host.and_then(authority) }
}

fn web_scheme(text: &str) -> Option<&'static str> {
    ["http", "https"].into_iter().find(|scheme| text.trim().eq_ignore_ascii_case(scheme))
}

/// `text` where it is a host with or without port (RFC 3986, 3.2): a name, an IPv4 address, or an
/// IPv6 address in brackets.
fn authority(text: &str) -> Option<&str> {
    let text = text.trim();
    let (host_is_good, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (address, port) = rest.split_once(']')?;
            (address.parse::<Ipv6Addr>().is_ok(), port)
        }
        None => {
            let (name, port) = text.split_at(text.find(':').unwrap_or(text.len()));
            (is_name(name), port)
        }
    };
    let port_is_good = match port.strip_prefix(':') {
        Some(digits) => {
            digits.bytes().all(|byte| byte.is_ascii_digit())
                && digits.parse::<u16>().is_ok_and(|port| port > 0)
        }
        None => port.is_empty(),
    };
    (host_is_good && port_is_good).then_some(text)
}

/// Returns whether `name` has labels of letters, digits, hyphens and underscores.
fn is_name(name: &str) -> bool {
    let label = |label: &str| {
        !label.is_empty()
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
    };
    // The root's dot may stand at the end.
    name.len() <= NAME_BYTES && name.strip_suffix('.').unwrap_or(name).split('.').all(label)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::net::SocketAddr;

    use axum::extract::ConnectInfo;
    use http::HeaderValue;

    use super::*;
    use crate::settings::TrustedProxies;

    /// The origin of a request from `peer` with `headers`, where 10.0.0.0/8 are trusted proxies.
    fn origin(header: ForwardedHeader, peer: &str, headers: &[(&str, &str)]) -> String {
        let trusted_proxies = TrustedProxies::try_from(vec!["10.0.0.0/8".to_owned()]).unwrap();
        let settings = ServerSettings {
            trusted_proxies,
            forwarded_header: header,
            ..ServerSettings::default()
        };
        let mut request = axum::extract::Request::default();
        request.headers_mut().insert(HOST, HeaderValue::from_static("inner:8080"));
        for (name, value) in headers {
            request.headers_mut().append(
                HeaderName::try_from(*name).unwrap(),
                HeaderValue::from_bytes(value.as_bytes()).unwrap(),
            );
        }
        request.extensions_mut().insert(ConnectInfo(SocketAddr::new(peer.parse().unwrap(), 1)));
        client_address::mark(&mut request, &settings);
        request_origin(&request.into_parts().0, &settings).unwrap_or_default()
    }

    #[test]
    fn a_trusted_proxy_says_scheme_and_host_contract_6() {
        let x =
            |headers: &[(&str, &str)]| origin(ForwardedHeader::XForwardedFor, "10.0.0.1", headers);
        let (proto, host) = ("x-forwarded-proto", "x-forwarded-host");
        assert_eq!(x(&[]), "http://inner:8080");
        assert_eq!(x(&[(proto, "https")]), "https://inner:8080");
        assert_eq!(
            x(&[(proto, "HTTPS"), (host, "data.example.org:8443")]),
            "https://data.example.org:8443"
        );
        assert_eq!(x(&[(host, "[2001:db8::1]:8080")]), "http://[2001:db8::1]:8080");
        assert_eq!(
            x(&[(proto, "http, https"), (host, "evil.example, data.example.org")]),
            "https://data.example.org"
        );
        assert_eq!(
            x(&[(host, "evil.example"), (host, "data.example.org")]),
            "http://data.example.org",
            "lines are one list"
        );
        // The other header is the client's affair.
        assert_eq!(x(&[("forwarded", "proto=https;host=evil.example")]), "http://inner:8080");
    }

    #[test]
    fn forwarded_says_scheme_and_host_where_the_settings_name_it_rfc_7239() {
        let of = |line: &str| {
            origin(
                ForwardedHeader::Forwarded,
                "10.0.0.1",
                &[("forwarded", line), ("x-forwarded-proto", "https")],
            )
        };
        assert_eq!(
            of("for=192.0.2.1;proto=https;host=data.example.org"),
            "https://data.example.org"
        );
        assert_eq!(
            of("for=192.0.2.1;Proto=HTTPS;Host=\"data.example.org:8443\""),
            "https://data.example.org:8443"
        );
        assert_eq!(
            of("for=6.6.6.6;host=evil.example, for=192.0.2.1;proto=https"),
            "https://inner:8080",
            "the client's own element"
        );
        assert_eq!(
            of("for=192.0.2.1;proto=https;host=data.example.org, for=10.0.0.7;proto=http;host=mid"),
            "https://data.example.org"
        );
        assert_eq!(
            of("for=unknown;proto=https"),
            "https://inner:8080",
            "its writer is trusted all the same"
        );
        assert_eq!(
            of("for=192.0.2.1;host=\"a,for=6.6.6.6;host=evil.example\";proto=https"),
            "https://inner:8080"
        );
        assert_eq!(of("for=192.0.2.1"), "http://inner:8080", "X-Forwarded-Proto does not count");
    }

    #[test]
    fn whoever_is_not_trusted_says_nothing_contract_6() {
        for header in [ForwardedHeader::XForwardedFor, ForwardedHeader::Forwarded] {
            let lies = [
                ("x-forwarded-proto", "https"),
                ("x-forwarded-host", "evil.example"),
                ("forwarded", "for=10.0.0.1;proto=https;host=evil.example"),
            ];
            assert_eq!(origin(header, "192.0.2.9", &lies), "http://inner:8080");
        }
    }

    #[test]
    fn hostile_values_reach_no_link_contract_6() {
        for bad in [
            "",
            " ",
            "evil example",
            "a/b",
            "a?b",
            "a#b",
            "user@evil.example",
            "evil.example:",
            "evil.example:0",
            "evil.example:99999",
            "evil.example:80:80",
            "[::1",
            "[nonsense]",
            "::1",
            "a..b",
            ".",
            "a\"b",
            "a>b; rel=x",
            "a\\b",
            "ä.example",
            "a%2eb",
            &"a".repeat(300),
        ] {
            let found =
                origin(ForwardedHeader::XForwardedFor, "10.0.0.1", &[("x-forwarded-host", bad)]);
            assert_eq!(found, "http://inner:8080", "{bad}");
        }
        for bad in ["", "ftp", "javascript", "https://", "https:", "h", "\"https\""] {
            let found =
                origin(ForwardedHeader::XForwardedFor, "10.0.0.1", &[("x-forwarded-proto", bad)]);
            assert_eq!(found, "http://inner:8080", "{bad}");
        }
        let none = http::Request::builder()
            .uri("/v1/me")
            .header(HOST, "evil>; rel=x")
            .body(())
            .unwrap()
            .into_parts()
            .0;
        assert_eq!(request_origin(&none, &ServerSettings::default()), None);
    }
}
