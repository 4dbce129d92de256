//! The admin listener: `/metrics`, and health as on the public routes. It is a listener of its own
//! (`server.admin_listen`), which clients cannot reach: nothing here needs a key.

use std::io;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::from_fn;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, VARY};
use tokio::net::TcpListener;

use crate::error::Error;
use crate::http::middleware;
use crate::http::serve::accept;
use crate::metrics;
use crate::request::accept;
use crate::routes::health;
use crate::settings::ServerSettings;
use crate::state::AppState;

/// Connections at once: a few scrapers and people. One address has half of them at most.
const CONNECTIONS: usize = 64;

/// Serves the routes of the admin listener until it is dropped.
///
/// # Errors
/// Fails when the listener has no address.
pub async fn serve_admin(listener: TcpListener, state: AppState) -> io::Result<()> {
    let settings = ServerSettings { connections: CONNECTIONS, ..state.settings.server.clone() };
    let metrics = Arc::clone(&state.listener_metrics.admin);
    let pace = Arc::clone(&state.refusal_pace);
    accept(listener, admin(state), &settings, metrics, pace, std::future::pending()).await
}

/// The routes of the admin listener.
pub fn admin(state: AppState) -> Router {
    Router::new()
        .route("/metrics", get(metrics_text))
        .route("/health", get(health::liveness))
        .route("/health/full", get(health::readiness))
        .method_not_allowed_fallback(|| async { Error::MethodNotAllowed })
        .fallback(|| async { Error::NoSuchRoute })
        .layer(from_fn(middleware::guards::catch_panics))
        .layer(from_fn(middleware::error_bodies::render))
        .with_state(state)
}

/// `GET /metrics`: OpenMetrics for scrapers that name it in `Accept`, the older format for all
/// others.
async fn metrics_text(State(state): State<AppState>, request: Request) -> Result<Response, Error> {
    // Without an answer of the database their families are left out, as it says elsewhere.
    let checks = state.catalog_cache.check_summary().await.ok();
    let text =
        metrics::text(&state, checks).map_err(|error| Error::internal("write metrics", &error))?;
    let (content_type, text) = if accept::names(request.headers(), "application/openmetrics-text") {
        (metrics::OPENMETRICS_CONTENT_TYPE, text)
    } else {
        (metrics::PROMETHEUS_CONTENT_TYPE, metrics::prometheus_text(&text))
    };
    Ok(([(CONTENT_TYPE, content_type), (CACHE_CONTROL, "no-store"), (VARY, "Accept")], text)
        .into_response())
}
