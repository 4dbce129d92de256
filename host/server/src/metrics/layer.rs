//! The outermost layer: counts a request when it begins, when its response begins, and when that
//! ends.

use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::Response;
use http_body::Body as _;

use super::RequestLabels;
use super::metered_body::{InFlightRequest, meter_body};
use crate::state::AppState;

/// Label of what matches no route.
const UNMATCHED: &str = "unmatched";

/// Counts a request.
pub(crate) async fn count(
    State(state): State<AppState>,
    mut request: Request,
    next: Next,
) -> Response {
    let begun = Instant::now();
    let http = &state.http_metrics;
    let route = http.route_number(
        request.extensions().get::<MatchedPath>().map_or(UNMATCHED, MatchedPath::as_str),
    );
    let (facts, method) = (RequestLabels::default(), request.method().clone());
    request.extensions_mut().insert(facts.clone());
    let mut underway = InFlightRequest::begin(state.clone(), route, begun);
    let response = next.run(request).await;
    http.answered(route, &method, response.status(), &facts);
    http.route_metrics(route).first_byte.observe(begun.elapsed());
    // What lies ready and fits what the operating system takes at once is as good as sent.
    match response.body().size_hint().exact() {
        Some(bytes) if bytes <= SENT_AT_ONCE => underway.complete(bytes),
        _ if response.body().is_end_stream() => underway.complete(0),
        _ => return meter_body(response, underway),
    }
    response
}

/// Bytes of a body that are written to a socket in one go.
const SENT_AT_ONCE: u64 = 64 << 10;
