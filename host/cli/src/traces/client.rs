//! One POST to the collector: plain HTTP/1.1 on a connection of its own, on the thread that
//! exports, so that no collector can keep the server's threads.

use std::fmt;
use std::io;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use http::header::HOST;
use http::{HeaderValue, Request, Response};
use http_body_util::{BodyExt, Full, Limited};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use opentelemetry_http::{HttpClient, HttpError};
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};

/// How long the collector may take for a batch.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Longest answer that is read, bytes; it says how many spans were refused, and why.
const MAX_RESPONSE_BYTES: usize = 64 << 10;

/// Sends batches.
pub(super) struct CollectorClient(Runtime);

impl CollectorClient {
    pub(super) fn new() -> io::Result<Self> {
        Builder::new_current_thread().enable_all().build().map(Self)
    }
}

impl fmt::Debug for CollectorClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Client")
    }
}

#[async_trait]
impl HttpClient for CollectorClient {
    /// Blocks its thread, which is the exporter's own.
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        self.0.block_on(async { tokio::time::timeout(TIMEOUT, send(request)).await? })
    }
}

async fn send(mut request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
    let uri = request.uri().clone();
    let authority = uri.authority().ok_or("the collector's address has no host")?;
    let host = authority.host().trim_matches(['[', ']']);
    let stream = TcpStream::connect((host, authority.port_u16().unwrap_or(80))).await?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    let connection = tokio::spawn(connection);
    *request.uri_mut() = uri.path().parse()?;
    request.headers_mut().insert(HOST, HeaderValue::try_from(authority.as_str())?);
    let (parts, body) = sender.send_request(request.map(Full::new)).await?.into_parts();
    let body = Limited::new(body, MAX_RESPONSE_BYTES).collect().await?.to_bytes();
    connection.abort();
    Ok(Response::from_parts(parts, body))
}
