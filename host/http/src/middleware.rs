//! Middleware of every route: two ordered lists, between which a room may change how errors look.
//! Compression is no part of them, because an entity tag has to know the coding; see
//! `compression`.

pub mod cors;
pub mod error_bodies;
pub mod guards;
mod logged_path;
pub mod request_id;
mod traces;

use std::sync::Arc;

use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use tower::ServiceBuilder;

use crate::rate_limit::pace_refusals;
use crate::{Core, metrics};

pub use error_bodies::ErrorLook;

/// Lays around `routes` what makes bodies of errors, in the shapes of `looks`, and what may refuse;
/// the first is the outermost.
pub fn guard(routes: Router, core: &Arc<Core>, looks: &'static [ErrorLook]) -> Router {
    routes.layer(
        ServiceBuilder::new()
            // Makes the bodies of everything that the inner ones and the handlers decline.
            .layer(from_fn_with_state(looks, error_bodies::render))
            // Inside of what makes bodies of refusals, since it may refuse; outside of all that
            // makes others.
            .layer(from_fn_with_state(Arc::clone(core), guards::monitor_body))
            .layer(from_fn(guards::catch_panics))
            .layer(from_fn_with_state(Arc::clone(core), guards::limit_sizes))
            .layer(from_fn_with_state(Arc::clone(core), guards::limit_first_byte)),
    )
}

/// Lays around guarded `routes` what counts and marks requests; the first is the outermost.
pub fn observe(routes: Router, core: &Arc<Core>) -> Router {
    routes.layer(
        ServiceBuilder::new()
            // Before all others, so that every answer is counted and timed whole.
            .layer(from_fn_with_state(Arc::clone(core), metrics::count))
            // Before what may log or answer, so that every line they log and every answer they give
            // has the id, and limits know who asks.
            .layer(from_fn_with_state(Arc::clone(core), request_id::mark))
            // Outside of whatever may refuse; inside of what counts, times and knows who asks.
            .layer(from_fn_with_state(Arc::clone(core), pace_refusals))
            // Outside of whatever may refuse: a browser must be able to read refusals.
            .layer(cors::layer()),
    )
}
