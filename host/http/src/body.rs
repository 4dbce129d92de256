//! Data bodies: whole with a length, or chunks as the client takes them. A body that fails midway
//! is cut, so that hyper drops the connection instead of ending it well (contract-3-cut).

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::Body;
use bytes::Bytes;
use futures::stream::{self, BoxStream};
use futures::{StreamExt, TryStreamExt};
use http_body::{Frame, SizeHint};
use yearbook_sandbox::EncodedBody;
use yearbook_shares::CallerShare;
use yearbook_workers::Workers;

use super::compression;
use crate::content_coding::ContentCoding;

/// A body was cut off after its first byte.
#[derive(Debug, thiserror::Error)]
#[error("the response was cut off: {0}")]
pub struct BodyError(String);

impl BodyError {
    /// With the reason, which only the log sees.
    pub fn new(reason: impl std::fmt::Display) -> Self {
        Self(reason.to_string())
    }
}

/// A body in its coding.
pub enum BodyContent {
    /// All of it.
    Whole(Bytes),
    /// Its chunks as the client takes them.
    Stream(Body),
}

impl From<BodyContent> for Body {
    fn from(content: BodyContent) -> Self {
        match content {
            BodyContent::Whole(bytes) => Self::from(bytes),
            BodyContent::Stream(body) => body,
        }
    }
}

/// Compresses `encoded` in `coding` on the account of `caller`.
///
/// # Errors
/// [`BodyError`] when a whole body cannot be compressed.
pub async fn apply_coding(
    workers: &Arc<Workers>,
    caller: &CallerShare,
    coding: Option<ContentCoding>,
    encoded: EncodedBody,
) -> Result<BodyContent, BodyError> {
    match (encoded, coding) {
        (EncodedBody::Whole(bytes), None) => Ok(BodyContent::Whole(bytes)),
        (EncodedBody::Whole(bytes), Some(coding)) => {
            compression::compress(workers, caller, coding, bytes).await.map(BodyContent::Whole)
        }
        (EncodedBody::Stream(chunks), coding) => {
            let chunks = match coding {
                Some(coding) => compression::compress_stream(
                    Arc::clone(workers),
                    caller.clone(),
                    coding,
                    chunks,
                ),
                None => chunks
                    .map_ok(|chunk| stream::iter(chunk.map(Ok)))
                    .map_err(BodyError::new)
                    .try_flatten()
                    .boxed(),
            };
            Ok(BodyContent::Stream(Body::from_stream(log_errors(chunks))))
        }
    }
}

/// A body that ends at once and claims no length: for HEAD, where the length is not known without
/// making the body, and for 304, where `Content-Length: 0` would be a lie about the 200 (RFC
/// 9110, 8.6).
pub fn empty() -> Body {
    Body::new(EmptyBody)
}

/// Ended, so that hyper keeps the connection; of unknown size, so that nobody adds a length.
struct EmptyBody;

impl http_body::Body for EmptyBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(None)
    }

    fn is_end_stream(&self) -> bool {
        true
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::new()
    }
}

/// The same chunks, with a cut in the log under the request's id.
pub fn log_errors(
    chunks: BoxStream<'static, Result<Bytes, BodyError>>,
) -> impl futures::Stream<Item = Result<Bytes, BodyError>> + Send {
    let span = tracing::Span::current();
    chunks.inspect(move |chunk| {
        if let Err(cut) = chunk {
            span.in_scope(|| tracing::error!(%cut, "the connection is dropped"));
        }
    })
}
