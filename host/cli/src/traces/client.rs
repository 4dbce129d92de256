//! One POST to the collector: plain HTTP/1.1, a connection for each batch, with a thread and a
//! runtime of its own, so that no collector can hold the server's threads.

use std::io::Read as _;

use async_trait::async_trait;
use bytes::Bytes;
use http::{Request, Response};
use opentelemetry_http::{HttpClient, HttpError};
use reqwest::blocking::{Client, ClientBuilder};

use crate::http_client::{TIMEOUT, client_builder};

/// Longest response body that is read, bytes; it says how many spans were refused, and why.
const MAX_RESPONSE_BYTES: u64 = 64 << 10;

/// Sender of batches.
#[derive(Debug)]
pub(super) struct CollectorClient(Client);

impl CollectorClient {
    /// Client that gives the collector [`TIMEOUT`] for each batch. Made outside an async runtime.
    pub(super) fn new() -> reqwest::Result<Self> {
        ClientBuilder::from(client_builder(TIMEOUT)).timeout(TIMEOUT).build().map(Self)
    }
}

#[async_trait]
impl HttpClient for CollectorClient {
    /// Blocks its thread, which is the exporter's own and has no async runtime.
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (head, body) = request.into_parts();
        let response = self
            .0
            .request(head.method, head.uri.to_string())
            .headers(head.headers)
            .body(body)
            .send()?;
        let mut answer = Response::builder().status(response.status());
        if let Some(headers) = answer.headers_mut() {
            headers.clone_from(response.headers());
        }
        let mut body = Vec::new();
        if response.take(MAX_RESPONSE_BYTES + 1).read_to_end(&mut body)? as u64 > MAX_RESPONSE_BYTES
        {
            return Err("the collector's answer is too long".into());
        }
        Ok(answer.body(body.into())?)
    }
}
