//! An answer: its head, and a body that nobody reads without a bound.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use reqwest::Url;

use crate::error::OutboundError;
use crate::redact;

/// An answer whose head has arrived.
#[derive(Debug)]
pub struct OutboundResponse {
    pub(crate) response: reqwest::Response,
    pub(crate) idle: Duration,
}

impl OutboundResponse {
    /// Status.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        self.response.status()
    }

    /// Headers.
    #[must_use]
    pub fn headers(&self) -> &HeaderMap {
        self.response.headers()
    }

    /// Header as text.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers().get(name).and_then(|value| value.to_str().ok())
    }

    /// Address that answered, after redirects.
    #[must_use]
    pub fn url(&self) -> &Url {
        self.response.url()
    }

    /// Bytes that the head announces.
    #[must_use]
    pub fn content_length(&self) -> Option<u64> {
        self.response.content_length()
    }

    /// The body, of `limit` bytes at most.
    ///
    /// # Errors
    /// [`OutboundError::TooLarge`] if the head announces more.
    pub fn into_body(self, limit: u64) -> Result<BoundedBody, OutboundError> {
        if let Some(announced) = self.content_length().filter(|announced| *announced > limit) {
            let (place, found) = (redact(self.url()), announced.to_string());
            return Err(OutboundError::TooLarge { place, found, limit });
        }
        Ok(BoundedBody { response: self.response, idle: self.idle, limit, received: 0 })
    }
}

/// The body of an answer while it arrives.
#[derive(Debug)]
pub struct BoundedBody {
    response: reqwest::Response,
    idle: Duration,
    limit: u64,
    received: u64,
}

impl BoundedBody {
    /// The next bytes; `None` at the end.
    ///
    /// # Errors
    /// [`OutboundError`] if it breaks off, is silent for too long, or is too large.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, OutboundError> {
        let chunk = tokio::time::timeout(self.idle, self.response.chunk()).await;
        let url = self.response.url();
        let chunk = chunk.map_err(|_| OutboundError::silent(url))?;
        let Some(chunk) = chunk.map_err(|error| OutboundError::new(error, url))? else {
            return Ok(None);
        };
        self.received = self.received.saturating_add(chunk.len() as u64);
        if self.received > self.limit {
            let (place, limit) = (redact(url), self.limit);
            return Err(OutboundError::TooLarge {
                place,
                found: format!("more than {limit}"),
                limit,
            });
        }
        Ok(Some(chunk))
    }

    /// Bytes that have come.
    #[must_use]
    pub fn received(&self) -> u64 {
        self.received
    }

    /// All of it, in memory.
    ///
    /// # Errors
    /// As [`BoundedBody::chunk`].
    pub async fn read(mut self) -> Result<Vec<u8>, OutboundError> {
        let mut body = Vec::new();
        while let Some(chunk) = self.chunk().await? {
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }
}
