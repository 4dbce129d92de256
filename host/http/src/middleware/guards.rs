//! Guards around every handler: panics become 500, sizes and deadlines have bounds, and long bodies
//! are monitored on their way to the client. Never touches what a handler does.

use std::net::IpAddr;
use std::panic::AssertUnwindSafe;

use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use futures::FutureExt;

use crate::Core;
use crate::Error;
use crate::links;
use crate::open_responses::OpenResponse;

/// Turns a panic of one handler into a 500; its message went to the log by the panic hook.
pub fn catch_panics(next: impl Future<Output = Response>) -> impl Future<Output = Response> {
    // The request is dropped here. Shared state guards itself by locks that survive poisoning.
    AssertUnwindSafe(next).catch_unwind().map(|answered| match answered {
        Ok(response) => response,
        Err(panic) => {
            let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
            let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
            Error::internal("answer: a handler panicked", &text).into_response()
        }
    })
}

/// Refuses addresses and headers beyond their limits, in words, before hyper would refuse them
/// without any.
///
/// # Errors
/// 414 for the address, 431 for headers.
pub fn check_sizes(app: &Core, request: &Request) -> Result<(), Error> {
    let settings = &app.settings.server;
    if links::counted_bytes(request.uri()) > settings.uri_bytes {
        return Err(Error::AddressTooLong { limit: settings.uri_bytes });
    }
    let headers: usize =
        request.headers().iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
    if headers > settings.header_bytes {
        return Err(Error::HeadersTooLarge { limit: settings.header_bytes });
    }
    Ok(())
}

/// Answers 503 when the response has not begun in time; its work is dropped, which stops it. The
/// speed at which a client takes its body is the matter of [`monitor_body`].
pub fn limit_first_byte(
    app: &Core,
    next: impl Future<Output = Response>,
) -> impl Future<Output = Response> {
    let settings = &app.settings.server;
    tokio::time::timeout(settings.first_byte(), next).map(move |in_time| {
        in_time.unwrap_or_else(|_| {
            let patience_ms = settings.first_byte_ms;
            tracing::warn!(patience_ms, "a response did not begin in time");
            Error::TimedOut.into_response()
        })
    })
}

/// Monitors the body of `answered`, whichever handler made it. Refuses a body that was opened by no
/// reservation and that there is no room for. `address`: the block that the request came from.
pub fn monitor_body(app: &Core, address: Option<IpAddr>, answered: Response) -> Response {
    let (mut parts, body) = answered.into_parts();
    let open = parts.extensions.remove::<OpenResponse>();
    match app.open_responses.watch(body, open, address) {
        Ok(body) => Response::from_parts(parts, body),
        Err(error) => error.into_response(),
    }
}
