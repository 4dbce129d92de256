//! Cross-origin reads: any origin, the methods of the routes that read, every header of ours
//! readable (contract-2-cors).

use std::sync::LazyLock;
use std::time::Duration;

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use http::header::{
    ACCEPT, ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS, AUTHORIZATION,
    CACHE_CONTROL, CONTENT_TYPE, HeaderName, IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_RANGE,
    IF_UNMODIFIED_SINCE, RANGE,
};
use http::{HeaderMap, HeaderValue, Method};
use tower::{Layer, ServiceExt};
use tower_http::cors::{Any, CorsLayer, Vary};

use crate::headers::{API_KEY, CORS_EXPOSED, REQUEST_ID, SHARING_CAPABILITIES};

/// Time that a browser may remember a preflight: the longest that any honours.
const REMEMBERED: Duration = Duration::from_secs(86_400);

/// Mark of requests by scripts, which several libraries send.
const REQUESTED_WITH: HeaderName = HeaderName::from_static("x-requested-with");

/// Headers of requests that scripts on other pages may send.
const ALLOWED: [HeaderName; 14] = [
    API_KEY,
    AUTHORIZATION,
    REQUESTED_WITH,
    ACCEPT,
    CACHE_CONTROL,
    CONTENT_TYPE,
    IF_MATCH,
    IF_NONE_MATCH,
    IF_MODIFIED_SINCE,
    IF_UNMODIFIED_SINCE,
    IF_RANGE,
    RANGE,
    REQUEST_ID,
    SHARING_CAPABILITIES,
];

/// Headers that scripts may read. Of static bytes, so that no two threads count its copies.
static EXPOSED: LazyLock<HeaderValue> = LazyLock::new(|| {
    HeaderValue::from_static(CORS_EXPOSED.map(|name| name.to_string()).join(",").leak())
});

/// Answers OPTIONS, a preflight or not; `next` is not asked.
pub async fn preflight(request: Request, next: Next) -> Response {
    let layer = CorsLayer::new()
        .allow_origin(Any)
        // Queries of the share are posted. Forms of other pages are refused by who sent them.
        .allow_methods([Method::GET, Method::HEAD, Method::POST, Method::OPTIONS])
        .allow_headers(ALLOWED)
        .max_age(REMEMBERED)
        .vary(Vary::list([]));
    match layer.layer(next).oneshot(request).await {
        Ok(response) => response,
        Err(never) => match never {},
    }
}

/// Inserts the headers of any other answer. Keys travel in a header, never in cookies, so any
/// origin may be answered with `*`, and answers do not vary by origin.
pub fn insert_headers(headers: &mut HeaderMap) {
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED.clone());
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
}
