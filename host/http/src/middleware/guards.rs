//! Guards around every handler: panics become 500, sizes and deadlines have bounds, and long bodies
//! are monitored on their way to the client. Never touches what a handler does.

use std::panic::AssertUnwindSafe;

use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use futures::FutureExt;

use crate::Core;
use crate::Error;
use crate::client_address::address_block_of;
use crate::links;
use crate::open_responses::OpenResponse;

/// Turns a panic of one handler into a 500; its message went to the log by the panic hook.
pub async fn catch_panics<F: Future<Output = Response>>(
    request: Request,
    next: impl FnOnce(Request) -> F,
) -> Response {
    // The request is dropped here. Shared state guards itself by locks that survive poisoning.
    match AssertUnwindSafe(next(request)).catch_unwind().await {
        Ok(response) => response,
        Err(panic) => {
            let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
            let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
            Error::internal("answer: a handler panicked", &text).into_response()
        }
    }
}

/// Refuses addresses and headers beyond their limits, in words, before hyper would refuse them
/// without any.
pub async fn limit_sizes<F: Future<Output = Response>>(
    app: &Core,
    request: Request,
    next: impl FnOnce(Request) -> F,
) -> Response {
    let settings = &app.settings.server;
    if links::counted_bytes(request.uri()) > settings.uri_bytes {
        return Error::AddressTooLong { limit: settings.uri_bytes }.into_response();
    }
    let headers: usize =
        request.headers().iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
    if headers > settings.header_bytes {
        return Error::HeadersTooLarge { limit: settings.header_bytes }.into_response();
    }
    next(request).await
}

/// Answers 503 when the response has not begun in time; its work is dropped, which stops it. The
/// speed at which a client takes its body is the matter of [`monitor_body`].
pub async fn limit_first_byte<F: Future<Output = Response>>(
    app: &Core,
    request: Request,
    next: impl FnOnce(Request) -> F,
) -> Response {
    let patience = app.settings.server.first_byte();
    match tokio::time::timeout(patience, next(request)).await {
        Ok(response) => response,
        Err(_) => {
            tracing::warn!(
                patience_ms = app.settings.server.first_byte_ms,
                "a response did not begin in time"
            );
            Error::TimedOut.into_response()
        }
    }
}

/// Monitors the body of the answer, whichever handler made it. Refuses a body that was opened by no
/// reservation and that there is no room for.
pub async fn monitor_body<F: Future<Output = Response>>(
    app: &Core,
    request: Request,
    next: impl FnOnce(Request) -> F,
) -> Response {
    let address = address_block_of(&request);
    let (mut parts, body) = next(request).await.into_parts();
    let open = parts.extensions.remove::<OpenResponse>();
    match app.open_responses.watch(body, open, address) {
        Ok(body) => Response::from_parts(parts, body),
        Err(error) => error.into_response(),
    }
}
