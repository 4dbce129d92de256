//! Sizes of what a client may send, refused in our own words before hyper would refuse them in
//! none.

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::error::Error;
use crate::state::AppState;

/// Refuses addresses and headers beyond their limits.
pub(crate) async fn check(State(state): State<AppState>, request: Request, next: Next) -> Response {
    let settings = &state.settings.server;
    let address = request.uri().path_and_query().map_or(0, |text| text.as_str().len());
    if address > settings.uri_bytes {
        return Error::AddressTooLong { limit: settings.uri_bytes }.into_response();
    }
    let headers: usize =
        request.headers().iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
    if headers > settings.header_bytes {
        return Error::HeadersTooLarge { limit: settings.header_bytes }.into_response();
    }
    next.run(request).await
}
