//! `/v1`, its machine description, and health: routes, requests, plans, responses
//! (`docs/spec`). Holds no rule that can be judged without a request: those are the domain's. Never
//! touches SQL, a stored file or a guest except through the crates that own them, and knows
//! releases of plugins by the trait `ReleasePolicy` alone.
//!
//! Start at `routes/rows`: one straight line from the key to the body.

pub mod adapted;
mod cited_rows;
mod link_settings;
mod openapi;
mod request;
mod response;
mod routes;
mod state;

use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::{MethodRouter, get};
use yearbook_http::ignored_parameters::IgnoredParametersLayer;
use yearbook_http::{authentication, rate_limit};

use crate::request::known_parameters::{
    BULK, CHANGES, DATA, INTEGRATION, LANGUAGE, LINK, LINK_READ, NONE, REVISIONS, VALUES,
};
use crate::routes::{bulk, datasets, docs, health, integrations, link, me, preview, rows, values};

pub use link_settings::{LinkSettings, PreviewAgent};
pub use openapi::openapi;
pub use response::response_cache::ResponseCacheStats;
pub use state::{ApiSettings, ApiState, LinkPreview};

/// Every route, one a line, with the parameters that it knows.
pub fn routes(state: &Arc<ApiState>) -> Router {
    let core = || Arc::clone(&state.core);
    // Laid under each route alone, so that an unknown route or method is told so without a key.
    let keyed = |parameters, route: MethodRouter<Arc<ApiState>>| {
        let check = from_fn_with_state(core(), authentication::check);
        route.route_layer((check, IgnoredParametersLayer::new(&state.core, parameters)))
    };
    let by_address = |route: MethodRouter<Arc<ApiState>>| {
        route.route_layer(from_fn_with_state(core(), rate_limit::limit_by_address))
    };
    let preview = get(preview::show).route_layer(IgnoredParametersLayer::new(&state.core, NONE));
    // The key that a link stands for is admitted by its handler.
    let linked = get(link::read).route_layer(IgnoredParametersLayer::new(&state.core, LINK_READ));
    Router::new()
        .route("/v1/datasets", keyed(LANGUAGE, get(datasets::list)))
        .route("/v1/datasets/{name}", keyed(LANGUAGE, get(datasets::show)))
        .route("/v1/datasets/{name}/preview", by_address(preview))
        .route("/v1/datasets/{name}/data", keyed(DATA, get(rows::show)))
        .route("/v1/series/{name}/data", keyed(DATA, get(rows::show)))
        .route("/v1/datasets/{name}/changes", keyed(CHANGES, get(rows::show)))
        .route("/v1/datasets/{name}/revisions", keyed(REVISIONS, get(rows::show)))
        .route("/v1/datasets/{name}/values", keyed(VALUES, get(values::show)))
        .route("/v1/datasets/{name}/link", keyed(LINK, get(link::make)))
        .route("/l/{file}", linked)
        .route("/v1/bulk/{namespace}/{name}", keyed(BULK, get(bulk::download)))
        .route("/v1/integrations/{tool}", keyed(INTEGRATION, get(integrations::generate_files)))
        .route("/v1/me", keyed(NONE, get(me::show)))
        .route("/openapi.json", by_address(get(docs::openapi)))
        .route("/docs", by_address(get(docs::page)))
        .route("/docs/{asset}", by_address(get(docs::asset)))
        .with_state(Arc::clone(state))
        .merge(health(state))
}

/// `/health` and `/health/full`, which every listener answers.
pub fn health(state: &Arc<ApiState>) -> Router {
    Router::new()
        .route("/health", get(health::liveness))
        .route("/health/full", get(health::readiness))
        .with_state(Arc::clone(state))
}
