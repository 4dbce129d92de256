//! How long an answer may take to begin. How fast a client has to take its body is looked after by
//! `bodies`.

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::error::Error;
use crate::state::AppState;

/// Answers 503 when the response has not begun in time; its work is dropped, which stops it.
pub(crate) async fn first_byte(
    State(state): State<AppState>,
    request: Request,
    next: Next,
) -> Response {
    let patience = state.settings.server.first_byte();
    match tokio::time::timeout(patience, next.run(request)).await {
        Ok(response) => response,
        Err(_) => {
            tracing::warn!(
                patience_ms = state.settings.server.first_byte_ms,
                "a response did not begin in time"
            );
            Error::TimedOut.into_response()
        }
    }
}
