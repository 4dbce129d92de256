//! HTTP to servers as an operator names them: one GET of a running server on this machine or beside
//! it, which speaks no TLS, and clients. Never serves.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use anyhow::{Context as _, anyhow, bail};
use http::Method;
use yearbook_outbound::{
    AddressRules, ClientSetupError, OutboundClient, OutboundError, OutboundRequest,
    OutboundSettings, Schemes, Url,
};

/// Longest response body that is read, bytes; metrics of a thousand releases have some 5 MB.
const MAX_RESPONSE_BYTES: u64 = 32 << 20;

/// Longest time for a whole response.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(5);

/// Client that goes straight to the address it is given: no redirects, and no connection left open
/// behind a response.
pub(crate) fn new_client(timeout: Duration) -> Result<OutboundClient, ClientSetupError> {
    OutboundClient::new(OutboundSettings {
        rules: AddressRules::Any,
        schemes: Schemes::Http,
        redirects: 0,
        connect: timeout,
        idle: timeout,
        keep_alive: false,
    })
}

/// Client for servers elsewhere, as an operator names them, which keeps its connections: for many
/// small answers, with TLS where the build has it.
pub(crate) fn new_remote_client(timeout: Duration) -> Result<OutboundClient, ClientSetupError> {
    OutboundClient::new(OutboundSettings {
        rules: AddressRules::Any,
        schemes: Schemes::HttpsOrHttp,
        redirects: 3,
        connect: timeout,
        idle: timeout,
        keep_alive: true,
    })
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
    match tokio::time::timeout(timeout, read(new_client(timeout)?, address)).await {
        Ok(body) => String::from_utf8(body?).context("the answer is not text"),
        Err(_) => bail!("no answer within {} s", timeout.as_secs()),
    }
}

async fn read(client: OutboundClient, address: Url) -> anyhow::Result<Vec<u8>> {
    let response = match client.send(&OutboundRequest::new(Method::GET, address)).await {
        Err(OutboundError::Connect { cause, .. }) => {
            let advice = "nobody listens there; start `yearbook serve` with --admin-listen";
            return Err(anyhow!(cause).context(advice));
        }
        response => response?,
    };
    let status = response.status();
    if !status.is_success() {
        bail!("{status}: that is not an admin listener");
    }
    Ok(response.into_body(MAX_RESPONSE_BYTES)?.read().await?)
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
