//! Cross-origin reads: any origin, reading methods only, every header of ours readable (contract 2).

use std::time::Duration;

use http::Method;
use http::header::{ACCEPT, CONTENT_TYPE, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_RANGE, RANGE};
use tower_http::cors::{Any, CorsLayer, Vary};

use crate::headers::{API_KEY, EXPOSED, REQUEST_ID};

/// How long a browser may remember a preflight: the longest that any honours.
const REMEMBERED: Duration = Duration::from_secs(86_400);

/// The layer. Keys travel in a header, never in cookies, so any origin may be answered with `*`, and answers do not
/// vary by origin.
pub(crate) fn layer() -> CorsLayer {
    CorsLayer::new()
        .allow_origin(Any)
        .allow_methods([Method::GET, Method::HEAD, Method::OPTIONS])
        .allow_headers([API_KEY, ACCEPT, CONTENT_TYPE, IF_NONE_MATCH, IF_MODIFIED_SINCE, IF_RANGE, RANGE, REQUEST_ID])
        .expose_headers(EXPOSED)
        .max_age(REMEMBERED)
        .vary(Vary::list([]))
}
