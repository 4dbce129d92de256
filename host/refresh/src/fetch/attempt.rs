//! One attempt: a request, and the body of its answer on disk.

use bytes::Bytes;
use http::Method;
use http::header::{
    ACCEPT, ACCEPT_ENCODING, HeaderMap, HeaderValue, IF_MODIFIED_SINCE, IF_NONE_MATCH,
};
use tokio::sync::mpsc;
use yearbook_domain::FailureCause;
use yearbook_outbound::{BoundedBody, OutboundClient, OutboundRequest, Url};

use super::answer::{self, BodyFraming, RequestConditions};
use crate::download::{self, BodyCoding, DownloadedFile};
use crate::failure::CheckFailure;

/// Chunks between the network and the disk; each is some ten kilobytes.
const QUEUED_CHUNKS: usize = 16;

/// Hears how many bytes of the answer have come.
pub(crate) type ByteListener<'a> = &'a (dyn Fn(u64) + Send + Sync);

/// An answer that can be believed.
#[derive(Debug)]
pub(crate) enum FetchedAnswer {
    /// The kept answer is still right.
    NotModified,
    /// A whole new one.
    Body {
        /// Its bytes.
        download: DownloadedFile,
        /// Its validators.
        validators: RequestConditions,
    },
}

/// Asks `url` once. The body has `max_bytes` at most, as it is sent and as it is decoded.
pub(super) async fn ask(
    client: &OutboundClient,
    url: &Url,
    conditions: &RequestConditions,
    max_bytes: u64,
    listener: ByteListener<'_>,
) -> Result<FetchedAnswer, CheckFailure> {
    let mut request = OutboundRequest::new(Method::GET, url.clone());
    request.headers = request_headers(conditions);
    let response = client.send(&request).await?;
    let (headers, url) = (response.headers(), response.url());
    let asked = !conditions.is_empty();
    if answer::is_not_modified(response.status().as_u16(), headers, asked, url)? {
        return Ok(FetchedAnswer::NotModified);
    }
    let framing = BodyFraming::read(headers, url)?;
    let validators = answer::validators(headers);
    let body = response.into_body(max_bytes)?;
    let download = receive(body, framing.coding, max_bytes, listener).await?;
    framing.check_digest(&download.content)?;
    Ok(FetchedAnswer::Body { download, validators })
}

/// Reads the body to its end.
async fn receive(
    mut body: BoundedBody,
    coding: BodyCoding,
    max_bytes: u64,
    listener: ByteListener<'_>,
) -> Result<DownloadedFile, CheckFailure> {
    let (sender, receiver) = mpsc::channel::<Bytes>(QUEUED_CHUNKS);
    let writer =
        tokio::task::spawn_blocking(move || download::write_body(receiver, coding, max_bytes));
    while let Some(chunk) = body.chunk().await? {
        listener(body.received());
        if sender.send(chunk).await.is_err() {
            // The writer has given up and says why.
            break;
        }
    }
    drop(sender);
    writer.await.unwrap_or_else(|_| {
        Err(CheckFailure::new(FailureCause::Internal, "the answer could not be written to disk"))
    })
}

fn request_headers(conditions: &RequestConditions) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(ACCEPT, HeaderValue::from_static("*/*"));
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
    let kept = [(IF_NONE_MATCH, &conditions.etag), (IF_MODIFIED_SINCE, &conditions.last_modified)];
    for (name, value) in kept {
        if let Some(value) = value.as_ref().and_then(|value| HeaderValue::from_str(value).ok()) {
            headers.insert(name, value);
        }
    }
    headers
}
