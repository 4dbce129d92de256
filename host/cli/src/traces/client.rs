//! One POST to the collector: plain HTTP/1.1, a connection and a runtime for each batch on the
//! exporter's own thread, so that no collector can hold the server's threads.

use async_trait::async_trait;
use bytes::Bytes;
use http::{Request, Response};
use opentelemetry_http::{HttpClient, HttpError};
use yearbook_outbound::{ClientSetupError, OutboundClient, OutboundRequest, Url};

use crate::http_client::{TIMEOUT, new_client};

/// Longest response body that is read, bytes; it says how many spans were refused, and why.
const MAX_RESPONSE_BYTES: u64 = 64 << 10;

/// Sender of batches.
#[derive(Debug)]
pub(super) struct CollectorClient(OutboundClient);

impl CollectorClient {
    /// Client that gives the collector [`TIMEOUT`] for each batch.
    pub(super) fn new() -> Result<Self, ClientSetupError> {
        new_client(TIMEOUT).map(Self)
    }

    async fn send(&self, request: OutboundRequest) -> Result<Response<Bytes>, HttpError> {
        let response = self.0.send(&request).await?;
        let mut answer = Response::builder().status(response.status());
        if let Some(headers) = answer.headers_mut() {
            headers.clone_from(response.headers());
        }
        let body = response.into_body(MAX_RESPONSE_BYTES)?.read().await?;
        Ok(answer.body(body.into())?)
    }
}

#[async_trait]
impl HttpClient for CollectorClient {
    /// Blocks its thread, which is the exporter's own and has no async runtime.
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (head, body) = request.into_parts();
        let url = Url::parse(&head.uri.to_string())?;
        let mut request = OutboundRequest::new(head.method, url).with_body(body);
        request.headers = head.headers;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async { tokio::time::timeout(TIMEOUT, self.send(request)).await })?
    }
}
