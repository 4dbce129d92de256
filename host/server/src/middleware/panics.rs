//! A bug in one handler is one 500, never a lost connection or process.

use std::panic::AssertUnwindSafe;

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures::FutureExt;

use crate::error::Error;

/// Turns a panic into a 500; its message went to the log by the panic hook.
pub(crate) async fn catch(request: Request, next: Next) -> Response {
    // What the request owned is dropped here; shared state guards itself by locks that survive
    // poisoning.
    match AssertUnwindSafe(next.run(request)).catch_unwind().await {
        Ok(response) => response,
        Err(panic) => {
            let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
            let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
            Error::internal("answer: a handler panicked", &text).into_response()
        }
    }
}
