//! Every route, one a line.

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::{MethodRouter, get};

use crate::error::Error;
use crate::http::{middleware, rate_limit};
use crate::openapi;
use crate::pages;
use crate::request::authentication;
use crate::routes::{bulk, datasets, docs, health, integrations, me, not_found, preview, rows};
use crate::share;
use crate::state::AppState;

/// The whole service, from request id to body.
pub fn app(state: AppState) -> Router {
    // Laid under each route alone, so that an unknown route or method is told so without a key.
    let keyed = |route: MethodRouter<AppState>| {
        route.route_layer(from_fn_with_state(state.clone(), authentication::check))
    };
    let by_address = |route: MethodRouter<AppState>| {
        route.route_layer(from_fn_with_state(state.clone(), rate_limit::limit_by_address))
    };

    let pages = if state.settings.pages.enabled { pages::routes(&state) } else { Router::new() };
    let routes = Router::new()
        .route("/health", get(health::liveness))
        .route("/health/full", get(health::readiness))
        .route("/v1/datasets", keyed(get(datasets::list)))
        .route("/v1/datasets/{name}", keyed(get(datasets::show)))
        .route("/v1/datasets/{name}/preview", by_address(get(preview::show)))
        .route("/v1/datasets/{name}/data", keyed(get(rows::data)))
        .route("/v1/series/{name}/data", keyed(get(rows::data)))
        .route("/v1/datasets/{name}/changes", keyed(get(rows::changes)))
        .route("/v1/bulk/{namespace}/{name}", keyed(get(bulk::download)))
        .route("/v1/integrations/{tool}", keyed(get(integrations::generate_files)))
        .route("/v1/me", keyed(get(me::show)))
        .route("/openapi.json", by_address(get(openapi::show)))
        .route("/docs", by_address(get(docs::page)))
        .route("/docs/{asset}", by_address(get(docs::asset)))
        .merge(pages)
        .merge(share::routes(&state))
        .method_not_allowed_fallback(|| async { Error::MethodNotAllowed })
        .fallback(not_found::not_found);
    middleware::wrap(routes, &state).with_state(state)
}
