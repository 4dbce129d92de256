//! The HTTP client of the bucket: object_store's own, with every attempt counted and no answer read
//! beyond what was asked for.

use std::sync::Arc;

use async_trait::async_trait;
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpRequest, HttpResponse, HttpService, ReqwestConnector,
};
use reqwest::StatusCode;

use super::body_limit::ExpectedBody;
use crate::object_storage::metrics::StoreRequestMetrics;

/// Connects as usual and counts.
#[derive(Debug)]
pub(super) struct MeteredConnector(pub(super) Arc<StoreRequestMetrics>);

impl HttpConnector for MeteredConnector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let client = ReqwestConnector::default().connect(options)?;
        Ok(HttpClient::new(MeteredService { client, requests: Arc::clone(&self.0) }))
    }
}

#[derive(Debug)]
struct MeteredService {
    client: HttpClient,
    requests: Arc<StoreRequestMetrics>,
}

#[async_trait]
impl HttpService for MeteredService {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        self.requests.count_sent();
        let expected = ExpectedBody::from_request(&request);
        let answer = self.client.execute(request).await.map(|answer| expected.limit_body(answer));
        let good = |answer: &HttpResponse| {
            !answer.status().is_server_error() && answer.status() != StatusCode::TOO_MANY_REQUESTS
        };
        if !answer.as_ref().is_ok_and(good) {
            self.requests.count_failed();
        }
        answer
    }
}
