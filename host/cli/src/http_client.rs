//! Plain HTTP to servers on this machine or beside it: one GET of a running server, and the bounds
//! that every client of this program has. Never speaks TLS and never serves.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use anyhow::{Context as _, anyhow, bail};
use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder, Url};

/// Longest response body that is read, bytes; metrics of a thousand releases have some 5 MB.
const MAX_RESPONSE_BYTES: usize = 32 << 20;

/// Longest time for a whole response.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(5);

/// Builder of a client that goes straight to the address it is given: no proxy, no redirects, no
/// connection left open behind a response, and `timeout` for a whole response.
pub(crate) fn client_builder(timeout: Duration) -> ClientBuilder {
    let builder = Client::builder()
        .timeout(timeout)
        .no_proxy()
        .redirect(Policy::none())
        .pool_max_idle_per_host(0);
    // A client with TLS wants a provider and certificates even for plain addresses. The provider is
    // the one that the object store uses; of certificates none is trusted and none is read.
    #[cfg(feature = "s3")]
    let builder = {
        // Fails where another part of the program has chosen one already, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        builder.tls_certs_only([])
    };
    builder
}

/// Body of a GET of `path` at the server `url`, `http://host:port`.
///
/// # Errors
/// Fails when nobody answers within `timeout`, or not with success and text.
pub(crate) async fn get(url: &str, path: &str, timeout: Duration) -> anyhow::Result<String> {
    let address = format!("{}{path}", url.trim_end_matches('/').trim_end_matches(path));
    let Some(address) = Url::parse(&address).ok().filter(|url| url.scheme() == "http") else {
        bail!("that is no address; write it as http://127.0.0.1:9090");
    };
    let client = client_builder(timeout).build().context("no client for HTTP can be made")?;
    let explain = |error: reqwest::Error| explain_failure(&error, timeout);
    let mut response = client.get(address).send().await.map_err(explain)?;
    let status = response.status();
    if !status.is_success() {
        bail!("{status}: that is not an admin listener");
    }
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(explain)? {
        body.extend_from_slice(&chunk);
        if body.len() > MAX_RESPONSE_BYTES {
            bail!("the answer has more than {MAX_RESPONSE_BYTES} bytes");
        }
    }
    String::from_utf8(body).context("the answer is not text")
}

/// Error of a request as a sentence with its cause, without the library's layers between.
fn explain_failure(error: &reqwest::Error, timeout: Duration) -> anyhow::Error {
    if error.is_timeout() {
        return anyhow!("no answer within {} s", timeout.as_secs());
    }
    let mut cause: &dyn std::error::Error = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    let sentence = if error.is_connect() {
        "nobody listens there; start `yearbook serve` with --admin-listen"
    } else if error.is_body() || error.is_decode() {
        "the answer broke off"
    } else {
        "the answer is not HTTP"
    };
    anyhow!("{cause}").context(sentence)
}

/// Address at which this machine reaches a listener on `address`: an unspecified address accepts
/// connections and cannot be connected to.
pub(crate) fn connect_address(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        any if any.is_unspecified() && any.is_ipv4() => Ipv4Addr::LOCALHOST.into(),
        any if any.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}
