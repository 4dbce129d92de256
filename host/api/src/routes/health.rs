//! `/health`: the process is alive, nothing is asked. `/health/full`: what it needs is there
//! (spec-4-health, spec-4-readiness).

use std::sync::Arc;

use std::time::{Duration, Instant};

use axum::extract::{Request, State};
use axum::response::Response;
use http::header::RETRY_AFTER;
use http::{HeaderValue, StatusCode};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::Mutex;

use crate::ApiState;
use yearbook_http::Error;
use yearbook_http::RenderedDocument;
use yearbook_http::body_schema::{BodySchema, Rfc3339};
use yearbook_http::document::CachePolicy;
use yearbook_http::json_body;
use yearbook_http::status;

/// Time that a readiness report holds (spec-4-readiness).
const REPORT_TTL: Duration = Duration::from_secs(60);

/// A check that takes longer has failed: a client in need of the same thing would have given up.
const CHECK_TIMEOUT: Duration = Duration::from_secs(5);

/// The last report. The lock is held while a new one is made, so that any number of callers cost
/// one check.
#[derive(Default)]
pub(crate) struct ReadinessCache {
    last: Mutex<Option<(Instant, StatusCode, RenderedDocument)>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
enum HealthStatus {
    Ok,
    Degraded,
    Unavailable,
}

impl BodySchema for HealthStatus {
    fn schema() -> Value {
        json!({"type": "string", "enum": [Self::Ok, Self::Degraded, Self::Unavailable]})
    }
}

json_body! {
    pub(crate) struct LivenessView named "Health": "Alive." {
        status: HealthStatus => {"enum": [HealthStatus::Ok]},
    }

    pub(crate) struct ReadinessView named "Readiness":
        "What the service needs, looked at once a minute."
    {
        status: HealthStatus,
        checked_at: Rfc3339,
        version: &'static str,
        checks: DependencyChecks,
    }

    struct DependencyCheck: "One thing that the service needs." {
        status: HealthStatus,
        latency_ms: f64 => {"minimum": 0},
    }

    struct DependencyChecks: "Each by itself." {
        database: DependencyCheck,
        object_storage: DependencyCheck,
        catalogue: DependencyCheck,
        plugins: DependencyCheck,
    }
}

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

impl ReadinessCache {
    /// The last report while it is younger than [`REPORT_TTL`] by `clock`, and what `check` makes
    /// otherwise.
    async fn report(
        &self,
        clock: impl Fn() -> Instant,
        check: impl Future<Output = Result<(StatusCode, RenderedDocument), Error>>,
    ) -> Result<(StatusCode, RenderedDocument), Error> {
        let mut last = self.last.lock().await;
        if let Some((created, status, report)) = &*last
            && clock().duration_since(*created) < REPORT_TTL
        {
            return Ok((*status, report.clone()));
        }
        let (status, report) = check.await?;
        *last = Some((clock(), status, report.clone()));
        Ok((status, report))
    }
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

impl DependencyChecks {
    fn worst(&self) -> HealthStatus {
        let statuses = [&self.database, &self.object_storage, &self.catalogue, &self.plugins]
            .map(|check| check.status);
        statuses.into_iter().max().unwrap_or(HealthStatus::Ok)
    }
}

impl HealthStatus {
    fn status(self) -> StatusCode {
        match self {
            Self::Ok | Self::Degraded => status::OK,
            Self::Unavailable => status::SERVICE_UNAVAILABLE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_check_decides_contract_4() {
        let check = |status| DependencyCheck { status, latency_ms: 0.0 };
        let of = |a, b| DependencyChecks {
            database: check(a),
            object_storage: check(HealthStatus::Ok),
            catalogue: check(b),
            plugins: check(HealthStatus::Ok),
        };
        assert_eq!(of(HealthStatus::Ok, HealthStatus::Ok).worst(), HealthStatus::Ok);
        assert_eq!(of(HealthStatus::Ok, HealthStatus::Degraded).worst(), HealthStatus::Degraded);
        assert_eq!(
            of(HealthStatus::Unavailable, HealthStatus::Degraded).worst(),
            HealthStatus::Unavailable
        );
        assert_eq!(HealthStatus::Degraded.status(), StatusCode::OK);
        assert_eq!(HealthStatus::Unavailable.status(), StatusCode::SERVICE_UNAVAILABLE);
    }

    #[tokio::test]
    async fn a_report_holds_for_60_s_and_then_everything_is_checked_again_spec_8() {
        let (readiness, begun) = (ReadinessCache::default(), Instant::now());
        let mut checks = 0;
        // The second check is at 60 s, and its report holds as long as the first.
        for (milliseconds, expected) in
            [(0, 1), (1, 1), (59_999, 1), (60_000, 2), (119_999, 2), (120_000, 3), (600_000, 4)]
        {
            let clock = || begun + Duration::from_millis(milliseconds);
            let check = async {
                checks += 1;
                let status = StatusCode::from_u16(200 + checks).unwrap_or_default();
                Ok((status, RenderedDocument::new(&json!({"check": checks}))?))
            };
            let (status, _) =
                readiness.report(clock, check).await.unwrap_or_else(|error| panic!("{error:?}"));
            assert_eq!(
                (checks, status.as_u16()),
                (expected, 200 + expected),
                "after {milliseconds} ms"
            );
        }
    }

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
