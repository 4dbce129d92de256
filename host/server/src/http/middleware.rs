//! Middleware of every route: one ordered list. Compression is no part of it, because an entity tag
//! has to know the coding; see `response/compression`.

pub(crate) mod cors;
pub(crate) mod error_bodies;
pub(crate) mod guards;
pub(crate) mod request_id;
mod traces;

use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use tower::ServiceBuilder;

use crate::http::rate_limit::pace_refusals;
use crate::metrics;
use crate::pages::error_page;
use crate::state::AppState;

/// Lays the list around `routes`; the first is the outermost.
pub(crate) fn wrap(routes: Router<AppState>, state: &AppState) -> Router<AppState> {
    routes.layer(
        ServiceBuilder::new()
            // Before all others, so that every answer is counted and timed whole.
            .layer(from_fn_with_state(state.clone(), metrics::count))
            // Before what may log or answer, so that every line they log and every answer they give
            // has the id, and limits know who asks.
            .layer(from_fn_with_state(state.clone(), request_id::mark))
            // Outside of whatever may refuse; inside of what counts, times and knows who asks.
            .layer(from_fn_with_state(state.clone(), pace_refusals))
            // Outside of whatever may refuse: a browser must be able to read refusals.
            .layer(cors::layer())
            // Shows browsers a page in place of the body that the next one made.
            .layer(from_fn_with_state(state.clone(), error_page::render))
            // Makes the bodies of everything that the inner ones and the handlers decline.
            .layer(from_fn(error_bodies::render))
            // Inside of what makes bodies of refusals, since it may refuse; outside of all that
            // makes others.
            .layer(from_fn_with_state(state.clone(), guards::monitor_body))
            .layer(from_fn(guards::catch_panics))
            .layer(from_fn_with_state(state.clone(), guards::limit_sizes))
            .layer(from_fn_with_state(state.clone(), guards::limit_first_byte)),
    )
}
