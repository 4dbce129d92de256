//! Cross-origin reads: any origin, the methods of the routes that read, every header of ours
//! readable (contract-2-cors).

use std::time::Duration;

use http::Method;
use http::header::{
    ACCEPT, AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE, HeaderName, IF_MATCH, IF_MODIFIED_SINCE,
    IF_NONE_MATCH, IF_RANGE, IF_UNMODIFIED_SINCE, RANGE,
};
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

/// The layer. Keys travel in a header, never in cookies, so any origin may be answered with `*`,
/// and answers do not vary by origin.
pub fn layer() -> CorsLayer {
    CorsLayer::new()
        .allow_origin(Any)
        // Queries of the share are posted. Forms of other pages are refused by who sent them.
        .allow_methods([Method::GET, Method::HEAD, Method::POST, Method::OPTIONS])
        .allow_headers(ALLOWED)
        .expose_headers(CORS_EXPOSED)
        .max_age(REMEMBERED)
        .vary(Vary::list([]))
}
