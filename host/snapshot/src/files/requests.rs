//! Requests to a store on the network, each attempt by itself: one that is made again is there twice.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use object_store::ClientOptions;
use object_store::client::{HttpClient, HttpConnector, HttpError, HttpRequest, HttpResponse, HttpService, ReqwestConnector};
use reqwest::StatusCode;

/// Attempts so far, and those of them that were no use: 5xx, 429, or no answer.
#[derive(Debug, Default)]
pub(super) struct Requests {
    sent: AtomicU64,
    failed: AtomicU64,
}

impl Requests {
    /// Attempts, and those that failed.
    pub(super) fn read(&self) -> (u64, u64) {
        (self.sent.load(Ordering::Relaxed), self.failed.load(Ordering::Relaxed))
    }
}

/// Connects as usual and counts.
#[derive(Debug)]
pub(super) struct Counting(pub(super) Arc<Requests>);

impl HttpConnector for Counting {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let client = ReqwestConnector::default().connect(options)?;
        Ok(HttpClient::new(Counted { client, requests: Arc::clone(&self.0) }))
    }
}

#[derive(Debug)]
struct Counted {
    client: HttpClient,
    requests: Arc<Requests>,
}

#[async_trait]
impl HttpService for Counted {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        self.requests.sent.fetch_add(1, Ordering::Relaxed);
        let answer = self.client.execute(request).await;
        let good = |answer: &HttpResponse| !answer.status().is_server_error() && answer.status() != StatusCode::TOO_MANY_REQUESTS;
        if !answer.as_ref().is_ok_and(good) {
            self.requests.failed.fetch_add(1, Ordering::Relaxed);
        }
        answer
    }
}
