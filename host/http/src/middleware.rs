//! Middleware of every route: two ordered lists, between which a room may change how errors look.
//! Each list is one layer and nests functions: a layer of its own for each costs a request a box of
//! all that it lies around, one of its future, and copies of request and response (4 % of a small
//! response for the six that are spared here). Compression is no part of them, because an entity
//! tag has to know the coding; see `compression`.

pub mod cors;
pub mod error_bodies;
pub mod guards;
mod logged_path;
pub mod request_id;
mod traces;

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use tower::ServiceBuilder;

use crate::rate_limit::pace_refusals;
use crate::{Core, metrics};

pub use error_bodies::ErrorLook;

/// Lays around `routes` what makes bodies of errors, in the shapes of `looks`, and what may refuse.
pub fn guard(routes: Router, core: &Arc<Core>, looks: &'static [ErrorLook]) -> Router {
    routes.layer(from_fn_with_state((Arc::clone(core), looks), answer_guarded))
}

/// The first is the outermost.
async fn answer_guarded(
    State((core, looks)): State<(Arc<Core>, &'static [ErrorLook])>,
    request: Request,
    next: Next,
) -> Response {
    // Makes the bodies of everything that the inner ones and the handlers decline.
    error_bodies::render(looks, request, |request| {
        // Inside of what makes bodies of refusals, since it may refuse; outside of all that makes
        // others.
        guards::monitor_body(&core, request, |request| {
            guards::catch_panics(request, |request| {
                guards::limit_sizes(&core, request, |request| {
                    guards::limit_first_byte(&core, request, |request| next.run(request))
                })
            })
        })
    })
    .await
}

/// Lays around guarded `routes` what counts and marks requests.
pub fn observe(routes: Router, core: &Arc<Core>) -> Router {
    routes.layer(
        ServiceBuilder::new()
            .layer(from_fn_with_state(Arc::clone(core), answer_observed))
            // Outside of whatever may refuse: a browser must be able to read refusals.
            .layer(cors::layer()),
    )
}

/// The first is the outermost.
async fn answer_observed(State(core): State<Arc<Core>>, request: Request, next: Next) -> Response {
    // Before all others, so that every answer is counted and timed whole.
    metrics::count(&core, request, |request| {
        // Before what may log or answer, so that every line they log and every answer they give has
        // the id, and limits know who asks.
        request_id::mark(&core, request, |request| {
            // Outside of whatever may refuse; inside of what counts, times and knows who asks.
            pace_refusals(&core, request, |request| next.run(request))
        })
    })
    .await
}
