//! Every body of some size is watched on its way to the client, whatever made it.

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::bodies::OpenResponse;
use crate::limits;
use crate::state::AppState;

/// Watches the body of the answer; refuses one that nobody has opened and that there is no room
/// for.
pub(crate) async fn watch(State(state): State<AppState>, request: Request, next: Next) -> Response {
    let address = limits::address_block_of(&request);
    let (mut parts, body) = next.run(request).await.into_parts();
    let open = parts.extensions.remove::<OpenResponse>();
    match state.open_responses.watch(body, open, address) {
        Ok(body) => Response::from_parts(parts, body),
        Err(error) => error.into_response(),
    }
}
