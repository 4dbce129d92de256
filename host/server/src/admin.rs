//! The admin listener: `/metrics`, and health as on the public routes. It is a listener of its own
//! (`server.admin_listen`), which clients cannot reach: nothing here needs a key.

use std::sync::Arc;
use std::{fmt, io};

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, VARY};
use tokio::net::TcpListener;
use yearbook_http::metrics::{self, MetricsWriter};
use yearbook_http::middleware::error_bodies::RequestedErrors;
use yearbook_http::middleware::guards;
use yearbook_http::serve::accept;
use yearbook_http::settings::ServerSettings;
use yearbook_http::{Error, accept};
use yearbook_webhooks::{DeliveryOutcome, Webhooks};

use crate::state::AppState;

/// Connections at once: a few scrapers and people. One address has half of them at most.
const CONNECTIONS: usize = 64;

/// Serves the routes of the admin listener until it is dropped.
///
/// # Errors
/// Fails when the listener has no address.
pub async fn serve_admin(listener: TcpListener, state: AppState) -> io::Result<()> {
    let core = Arc::clone(&state.core);
    let settings = ServerSettings { connections: CONNECTIONS, ..core.settings.server.clone() };
    let metrics = Arc::clone(&core.listener_metrics.admin);
    let pace = Arc::clone(&core.refusal_pace);
    accept(listener, admin(state), &settings, metrics, pace, std::future::pending()).await
}

/// The routes of the admin listener.
pub fn admin(state: AppState) -> Router {
    let health = yearbook_api::health(&state.api);
    Router::new()
        .route("/metrics", get(metrics_text))
        .with_state(state)
        .merge(health)
        .method_not_allowed_fallback(|| async { Error::MethodNotAllowed })
        .fallback(|| async { Error::NoSuchRoute })
        .layer(from_fn(answer_guarded))
}

/// Makes the bodies of everything that is declined, by panics too.
async fn answer_guarded(request: Request, next: Next) -> Response {
    let errors = RequestedErrors::new(&[], None, &request);
    errors.render(guards::catch_panics(next.run(request)).await, "")
}

/// `GET /metrics`: OpenMetrics for scrapers that name it in `Accept`, the older format for all
/// others.
async fn metrics_text(State(state): State<AppState>, request: Request) -> Result<Response, Error> {
    // Without an answer of the database their families are left out, as it says elsewhere.
    let checks = state.core.catalog_cache.check_summary().await.ok();
    let text = metrics::text(move |sheet| {
        metrics::write(&state.core, checks.as_deref(), &state.caches(), sheet)?;
        #[cfg(feature = "pages")]
        if let Some(pages) = &state.pages {
            pages.write_metrics(sheet)?;
        }
        #[cfg(feature = "share")]
        state.share.write_metrics(sheet)?;
        state.webhooks.as_ref().map_or(Ok(()), |webhooks| write_deliveries(webhooks, sheet))
    })
    .map_err(|error| Error::internal("write metrics", &error))?;
    let (content_type, text) = if accept::names(request.headers(), "application/openmetrics-text") {
        (metrics::OPENMETRICS_CONTENT_TYPE, text)
    } else {
        (metrics::PROMETHEUS_CONTENT_TYPE, metrics::prometheus_text(&text))
    };
    Ok(([(CONTENT_TYPE, content_type), (CACHE_CONTROL, "no-store"), (VARY, "Accept")], text)
        .into_response())
}

/// Writes what became of messages about new versions (contract-21-webhooks).
fn write_deliveries(webhooks: &Webhooks, sheet: &mut MetricsWriter<'_>) -> fmt::Result {
    sheet.counter(
        "yearbook_webhook_deliveries",
        "Attempts to tell an address of a version, by what became of them.",
        DeliveryOutcome::ALL
            .map(|outcome| (vec![("outcome", outcome.as_str())], webhooks.deliveries(outcome))),
    )
}
