//! One GET of a running server.

use std::time::Duration;

use anyhow::{Context as _, bail};
use bytes::Bytes;
use http::header::HOST;
use http::{Request, Uri};
use http_body_util::{BodyExt, Empty, Limited};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

/// Longest answer that is read, bytes; metrics of a thousand releases have some 5 MB.
const MAX_RESPONSE_BYTES: usize = 32 << 20;

/// How long the server may take.
const TIMEOUT: Duration = Duration::from_secs(5);

/// What the server at `url`, `http://host:port`, answers at `path`.
///
/// # Errors
/// When nobody answers in time, or not with success.
pub(crate) async fn get(url: &str, path: &str) -> anyhow::Result<String> {
    let address = format!("{}{path}", url.trim_end_matches('/').trim_end_matches(path));
    let uri = address.parse::<Uri>().ok().filter(|uri| uri.scheme_str() == Some("http"));
    let Some((uri, authority)) = uri.as_ref().and_then(|uri| Some((uri, uri.authority()?))) else {
        bail!("that is no address; write it as http://127.0.0.1:9090");
    };
    let asked = tokio::time::timeout(
        TIMEOUT,
        ask(uri, authority.host(), authority.port_u16().unwrap_or(80)),
    );
    asked.await.with_context(|| format!("no answer within {} s", TIMEOUT.as_secs()))?
}

async fn ask(uri: &Uri, host: &str, port: u16) -> anyhow::Result<String> {
    let address = (host.trim_matches(['[', ']']), port);
    let stream = TcpStream::connect(address)
        .await
        .context("nobody listens there; start `yearbook serve` with --admin-listen")?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    let connection = tokio::spawn(connection);
    let request = Request::get(uri.path())
        .header(HOST, format!("{host}:{port}"))
        .body(Empty::<Bytes>::new())?;
    let response = sender.send_request(request).await?;
    let status = response.status();
    if !status.is_success() {
        bail!("{status}: that is not an admin listener");
    }
    let body = Limited::new(response.into_body(), MAX_RESPONSE_BYTES)
        .collect()
        .await
        .map_err(|error| anyhow::anyhow!("the answer broke off: {error}"))?;
    connection.abort();
    String::from_utf8(body.to_bytes().into()).context("the answer is not text")
}
