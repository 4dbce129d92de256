//! `/health`: the process is alive, nothing is asked. `/health/full`: what it needs is there
//! (spec-4-health, spec-4-readiness).

pub(crate) mod report;

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::{Request, State};
use axum::response::Response;
use http::header::RETRY_AFTER;
use http::{HeaderValue, StatusCode};
use yearbook_http::body_schema::Rfc3339;
use yearbook_http::document::CachePolicy;
use yearbook_http::{Error, RenderedDocument, status};

use self::report::{
    DependencyCheck, DependencyChecks, HealthStatus, LivenessView, REPORT_TTL, ReadinessView,
};
use crate::ApiState;

/// A check that takes longer has failed: a client in need of the same thing would have given up.
const CHECK_TIMEOUT: Duration = Duration::from_secs(5);

/// `GET /health`.
pub(crate) async fn liveness(
    State(state): State<Arc<ApiState>>,
    request: Request,
) -> Result<Response, Error> {
    RenderedDocument::new(&LivenessView { status: HealthStatus::Ok })?
        .respond(&state.core, request.headers(), CachePolicy::NoStore)
        .await
}

/// `GET /health/full`.
pub(crate) async fn readiness(
    State(state): State<Arc<ApiState>>,
    request: Request,
) -> Result<Response, Error> {
    let (code, report) = Box::pin(state.readiness.report(Instant::now, run_checks(&state))).await?;
    let mut response = report.respond(&state.core, request.headers(), CachePolicy::NoStore).await?;
    *response.status_mut() = code;
    if code == status::SERVICE_UNAVAILABLE {
        // Asked sooner, the answer would be the same.
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(REPORT_TTL.as_secs()));
    }
    Ok(response)
}

async fn run_checks(state: &ApiState) -> Result<(StatusCode, RenderedDocument), Error> {
    let catalogue = async {
        Ok::<_, std::convert::Infallible>(if state.core.catalog_cache.healthy() {
            HealthStatus::Ok
        } else {
            HealthStatus::Degraded
        })
    };
    let plugins = async { Ok::<_, std::convert::Infallible>(plugins_health(state)) };
    let (database, object_storage, catalogue, plugins) = tokio::join!(
        timed_check("database", CHECK_TIMEOUT, async {
            state.core.catalog.check_writable().await.map(|()| HealthStatus::Ok)
        }),
        timed_check("object storage", CHECK_TIMEOUT, async {
            state.core.storage.ping().await.map(|()| HealthStatus::Ok)
        }),
        timed_check("catalogue", CHECK_TIMEOUT, catalogue),
        timed_check("plugins", CHECK_TIMEOUT, plugins),
    );
    let checks = DependencyChecks { database, object_storage, catalogue, plugins };
    let health = checks.worst();
    let document = RenderedDocument::new(&ReadinessView {
        status: health,
        checked_at: Rfc3339(yearbook_catalog::clock::now()),
        version: env!("CARGO_PKG_VERSION"),
        checks,
    })?;
    Ok((health.status(), document))
}

/// Requests for a required format fail without its encoder (spec-4.1-format); without any, all do.
fn plugins_health(app: &ApiState) -> HealthStatus {
    let (plugins, required) = (app.core.plugins.current(), &app.settings.required_formats);
    match required.iter().filter(|format| plugins.encoder(format).is_some()).count() {
        loaded if loaded == required.len() => HealthStatus::Ok,
        0 => HealthStatus::Unavailable,
        _ => HealthStatus::Degraded,
    }
}

async fn timed_check<E: std::fmt::Display>(
    what: &str,
    patience: Duration,
    work: impl Future<Output = Result<HealthStatus, E>>,
) -> DependencyCheck {
    let begun = Instant::now();
    let status = match tokio::time::timeout(patience, work).await {
        Ok(Ok(health)) => health,
        Ok(Err(failure)) => {
            tracing::error!(%failure, "not ready: {what}");
            HealthStatus::Unavailable
        }
        Err(_) => {
            tracing::error!("not ready: {what} does not answer within {} s", patience.as_secs());
            HealthStatus::Unavailable
        }
    };
    let latency_ms = (begun.elapsed().as_secs_f64() * 1e6).round() / 1e3;
    DependencyCheck { status, latency_ms }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_check_that_hangs_has_failed() {
        let hung = timed_check(
            "nothing",
            Duration::ZERO,
            std::future::pending::<Result<HealthStatus, String>>(),
        )
        .await;
        assert_eq!(hung.status, HealthStatus::Unavailable);
    }
}
