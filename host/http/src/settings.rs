//! Settings of an operator for HTTP: sections `[server]` and `[limits]` of `yearbook.toml`
//! (contract-6-settings). Each value gives its unit, its default and
//! the reason for it; reading files and variables is the binary's affair.

mod proxies;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use proxies::{ForwardedHeader, TrustedProxies};

/// `[server]`: addresses, patience and buffers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ServerSettings {
    /// Address and port to listen at. Default 127.0.0.1:8080: reachable from this machine only
    /// until an operator decides otherwise.
    pub listen: SocketAddr,
    /// Address and port of `/metrics` and health for operators, without a key: one that clients
    /// cannot reach. None: nobody listens.
    pub admin_listen: Option<SocketAddr>,
    /// Base of every absolute link, `https://data.example.org`. None: scheme and host of the
    /// request, which trusted proxies may say.
    pub public_url: Option<PublicUrl>,
    /// Addresses and networks of proxies in front of us, `10.0.0.0/8`: the `forwarded_header` that
    /// comes from them says whose burst limit a request without a key counts against, and with
    /// which scheme and host links begin. Default none: anybody can write a header.
    pub trusted_proxies: TrustedProxies,
    /// The header in which they name the client, its scheme and its host. Default
    /// `x_forwarded_for`, which every proxy writes; `X-Forwarded-Proto` and `X-Forwarded-Host`
    /// belong to it.
    pub forwarded_header: ForwardedHeader,
    /// Time that a request may take until its response begins, milliseconds. Default 30,000: the
    /// slowest scan that finds its first row late, with room; most clients give up after a minute.
    pub first_byte_ms: u64,
    /// Time for a request's head, milliseconds: from its first byte, and for the first request from
    /// the moment at which the connection was accepted. Default 10,000: a slow mobile network needs
    /// two seconds; a client that trickles headers, or sends none, holds a connection.
    pub header_read_ms: u64,
    /// Time that a connection may be without an open request, milliseconds, pings or not. Default
    /// 75,000: proxies and clients keep theirs for 60 s as a rule, and who is still to use one
    /// should be the one that closes it.
    pub idle_ms: u64,
    /// Time that a client may take nothing of a body that is ready for it, milliseconds, before the
    /// body is cut: the connection is dropped, or the HTTP/2 stream reset. Default 30,000: a train
    /// in a tunnel; the largest socket buffers of usual systems drain at 50 KB/s in less. Kept to
    /// an eighth.
    pub write_idle_ms: u64,
    /// Bytes a second that a client has to take of a body, over twice `write_idle_ms`; the time
    /// that it waits for us does not count. Default 4,096: a tenth of a poor mobile link. 0: no
    /// least rate.
    pub body_rate_bytes: u64,
    /// Time that a body may take in all, milliseconds. Default 14,400,000, four hours: 700 MB at 50
    /// KB/s. A bulk download that is cut goes on by `Range`.
    pub body_ms: u64,
    /// Bytes of all bodies that lie in memory and wait for their clients: what is read ahead,
    /// encoded, or in a socket's hands. New responses wait while it is used up, and those that have
    /// begun go on by one chunk. Default 256 MiB: room for 60 clients that read slowly in the
    /// quarter of one key.
    pub body_bytes: usize,
    /// Responses at once whose body has not ended, those of up to 32 KiB apart. Default 1,024:
    /// twice `sandbox.instances`, so that downloads leave room for data. More wait for
    /// `sandbox.queue_ms`.
    pub open_responses: usize,
    /// Time that open responses may go on after a stop was asked for, milliseconds. Default 30,000:
    /// what service managers wait before they kill.
    pub shutdown_ms: u64,
    /// Connections at once; 64 more wait for `header_read_ms`, and others are closed. Default
    /// 8,192: below the usual limit of open files with room for data files.
    pub connections: usize,
    /// Connections at once from one IPv4 address or IPv6 /64; more are closed. Half of
    /// `connections` is the most, and `trusted_proxies` have all. Default 512: a university behind
    /// one address, and a sixteenth of the server.
    pub connections_per_address: usize,
    /// Longest path and query, bytes, `cursor` apart. Default 16,384: every column of a wide table
    /// named in `columns`.
    pub uri_bytes: usize,
    /// Names and values of all request headers together, bytes. Default 32,768: the largest cookies
    /// and tokens that proxies add.
    pub header_bytes: usize,
    /// Smallest JSON body of our own that is compressed, bytes. Default 1,024: below, headers
    /// outweigh what is saved.
    pub compress_bytes: usize,
    /// Memory for rendered previews, bytes. Default 16 MiB: one of some 5 kB for each of 1,500
    /// datasets, twice over.
    pub preview_cache_bytes: u64,
    /// Memory for bodies of small data responses, bytes. Default 64 MiB: some 4,000 answers of a
    /// hundred rows, what the dashboards of a busy hour ask for again. 0: every response is made
    /// anew.
    pub response_cache_bytes: u64,
    /// Longest body that is kept, bytes. Default 262,144: a thousand rows of ten columns as JSON; a
    /// longer one would push out dozens of small ones, and is rarely asked for twice.
    pub response_cache_entry_bytes: usize,
    /// Memory for columns of which requests want rows that lie apart, bytes: those of one series,
    /// or of the areas in a box. Default 320 MiB: ten columns of a million rows take some 25 MiB,
    /// the boundaries of 100,000 areas some 150. A table whose columns do not fit is read anew
    /// each time. 0: all are.
    pub column_cache_bytes: u64,
    /// Time for which an input that a plugin failed at is answered from memory, milliseconds.
    /// Default 60,000: clients that try again do so sooner, and a call that was just above its
    /// processor time is tried anew within a minute. 0: each request is a run.
    pub failed_input_ms: u64,
}

/// `[limits]`: how fast one client may ask, and how much it may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LimitSettings {
    /// Requests a second in the long run, per key and per address. Default 50
    /// (contract-5-burst-default). 0: no burst limits.
    pub burst_per_second: u32,
    /// Requests at once after a pause. Default 100 (contract-5-burst-default); 0 counts as 1.
    pub burst_size: u32,
    /// Share of `server.open_responses`, `server.body_bytes` and `sandbox.instances` that one key
    /// may hold, percent. Default 25: four keys have to act together to fill a host, and one has
    /// 128 exports at once. 0: all.
    pub key_share_percent: u32,
    /// The same for one address (of IPv6, one /64). Default 50: several keys behind one address.
    /// Behind a proxy that `server.trusted_proxies` does not name, all clients together. 0: all.
    pub address_share_percent: u32,
    /// Refusals (4xx, and connections without a slot) a second for one address (of IPv6, one /64)
    /// that are sent at once, a tenth of them together; further ones come about a second late.
    /// Default 500. 0: all at once.
    pub refusals_per_second: u32,
    /// Memory that selections may hold: sort keys, counts of series and values, rows in
    /// another order. Default 268,435,456. A selection waits for its part before it reads a row;
    /// those of one key or address hold its share at most, or one of them half of all.
    pub selection_bytes: u64,
}

/// An absolute `http` or `https` address without query, fragment or slash at its end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PublicUrl(String);

impl Default for ServerSettings {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 8080)),
            admin_listen: None,
            public_url: None,
            trusted_proxies: TrustedProxies::default(),
            forwarded_header: ForwardedHeader::default(),
            first_byte_ms: 30_000,
            header_read_ms: 10_000,
            idle_ms: 75_000,
            write_idle_ms: 30_000,
            body_rate_bytes: 4 << 10,
            body_ms: 4 * 3_600_000,
            body_bytes: 256 << 20,
            open_responses: 1_024,
            shutdown_ms: 30_000,
            connections: 8_192,
            connections_per_address: 512,
            uri_bytes: 16 << 10,
            header_bytes: 32 << 10,
            compress_bytes: 1 << 10,
            preview_cache_bytes: 16 << 20,
            response_cache_bytes: 64 << 20,
            response_cache_entry_bytes: 256 << 10,
            column_cache_bytes: 320 << 20,
            failed_input_ms: 60_000,
        }
    }
}

impl ServerSettings {
    /// [`ServerSettings::first_byte_ms`] as a duration.
    pub fn first_byte(&self) -> Duration {
        Duration::from_millis(self.first_byte_ms)
    }

    /// [`ServerSettings::header_read_ms`] as a duration.
    pub fn header_read(&self) -> Duration {
        Duration::from_millis(self.header_read_ms)
    }

    /// [`ServerSettings::idle_ms`] as a duration.
    pub fn idle(&self) -> Duration {
        Duration::from_millis(self.idle_ms)
    }

    /// [`ServerSettings::write_idle_ms`] as a duration.
    pub fn write_idle(&self) -> Duration {
        Duration::from_millis(self.write_idle_ms)
    }

    /// [`ServerSettings::body_ms`] as a duration.
    pub fn body(&self) -> Duration {
        Duration::from_millis(self.body_ms)
    }

    /// [`ServerSettings::failed_input_ms`] as a duration.
    pub fn failed_input(&self) -> Duration {
        Duration::from_millis(self.failed_input_ms)
    }

    /// [`ServerSettings::shutdown_ms`] as a duration.
    pub fn shutdown(&self) -> Duration {
        Duration::from_millis(self.shutdown_ms)
    }
}

impl Default for LimitSettings {
    fn default() -> Self {
        Self {
            burst_per_second: 50,
            burst_size: 100,
            key_share_percent: 25,
            address_share_percent: 50,
            refusals_per_second: 500,
            selection_bytes: 256 << 20,
        }
    }
}

impl PublicUrl {
    /// The address, ready for a path to be appended.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns its path, without a slash at its end; empty where it is a host alone.
    #[must_use]
    pub fn path(&self) -> &str {
        let host = self.0.split_once("://").map_or("", |(_, host)| host);
        host.find('/').map_or("", |begin| &host[begin..])
    }

    /// Returns whether keys would cross a network in clear text: `http` to a host other than this
    /// machine.
    #[must_use]
    pub fn exposes_keys(&self) -> bool {
        let uri: http::Uri = self.0.parse().unwrap_or_default();
        let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
        let here = host.eq_ignore_ascii_case("localhost")
            || host.parse::<IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback());
        uri.scheme_str() != Some("https") && !here
    }
}

impl TryFrom<String> for PublicUrl {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let wrong = || {
            format!(
                "{text:?} must be like https://data.example.org: http or https, a host, no query"
            )
        };
        let uri: http::Uri = text.parse().map_err(|_| wrong())?;
        let web = matches!(uri.scheme_str(), Some("http" | "https"));
        if !web
            || uri.host().is_none_or(str::is_empty)
            || uri.query().is_some()
            || text.contains(['#', '<', '>'])
        {
            return Err(wrong());
        }
        Ok(Self(text.trim_end_matches('/').to_owned()))
    }
}

impl From<PublicUrl> for String {
    fn from(url: PublicUrl) -> Self {
        url.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_public_url_is_an_absolute_web_address() {
        for (text, expected) in [
            ("https://data.example.org", Some("https://data.example.org")),
            ("http://localhost:8080/", Some("http://localhost:8080")),
            ("https://example.org/statistics/", Some("https://example.org/statistics")),
            ("data.example.org", None),
            ("ftp://example.org", None),
            ("https://example.org?x=1", None),
            ("/v1", None),
            ("", None),
        ] {
            assert_eq!(
                PublicUrl::try_from(text.to_owned()).ok().as_ref().map(PublicUrl::as_str),
                expected,
                "{text}"
            );
        }
    }

    #[test]
    fn the_path_of_a_public_url_ends_without_a_slash() {
        for (text, expected) in [
            ("https://data.example.org/", ""),
            ("https://example.org/statistics/", "/statistics"),
            ("https://example.org:8443/a/b", "/a/b"),
        ] {
            let url = PublicUrl::try_from(text.to_owned());
            assert_eq!(url.as_ref().map(PublicUrl::path), Ok(expected), "{text}");
        }
    }

    #[test]
    fn http_beyond_this_machine_exposes_keys_contract_6() {
        for (text, expected) in [
            ("https://data.example.org", false),
            ("http://data.example.org", true),
            ("http://10.0.0.1:8080", true),
            ("http://[2001:db8::1]", true),
            ("http://localhost:8080", false),
            ("http://127.0.0.9", false),
            ("http://[::1]:8080/base", false),
            ("http://localhost.example.org", true),
        ] {
            assert_eq!(
                PublicUrl::try_from(text.to_owned()).map(|url| url.exposes_keys()),
                Ok(expected),
                "{text}"
            );
        }
    }
}
