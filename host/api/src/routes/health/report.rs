//! Reports of health: what they say, and how long one holds. Never checks anything.

use std::time::{Duration, Instant};

use http::StatusCode;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::Mutex;
use yearbook_http::body_schema::{BodySchema, Rfc3339};
use yearbook_http::{Error, RenderedDocument, json_body, status};

/// Time that a readiness report holds (spec-4-readiness).
pub(super) const REPORT_TTL: Duration = Duration::from_secs(60);

/// The last report. The lock is held while a new one is made, so that any number of callers cost
/// one check.
#[derive(Default)]
pub(crate) struct ReadinessCache {
    last: Mutex<Option<(Instant, StatusCode, RenderedDocument)>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum HealthStatus {
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
        pub(super) status: HealthStatus => {"enum": [HealthStatus::Ok]},
    }

    pub(crate) struct ReadinessView named "Readiness":
        "What the service needs, looked at once a minute."
    {
        pub(super) status: HealthStatus,
        pub(super) checked_at: Rfc3339,
        pub(super) version: &'static str,
        pub(super) checks: DependencyChecks,
    }

    pub(crate) struct DependencyCheck: "One thing that the service needs." {
        pub(super) status: HealthStatus,
        pub(super) latency_ms: f64 => {"minimum": 0},
    }

    pub(crate) struct DependencyChecks: "Each by itself." {
        pub(super) database: DependencyCheck,
        pub(super) object_storage: DependencyCheck,
        pub(super) catalogue: DependencyCheck,
        pub(super) plugins: DependencyCheck,
    }
}

impl ReadinessCache {
    /// The last report while it is younger than [`REPORT_TTL`] by `clock`, and what `check` makes
    /// otherwise.
    pub(super) async fn report(
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

impl DependencyChecks {
    pub(super) fn worst(&self) -> HealthStatus {
        let statuses = [&self.database, &self.object_storage, &self.catalogue, &self.plugins]
            .map(|check| check.status);
        statuses.into_iter().max().unwrap_or(HealthStatus::Ok)
    }
}

impl HealthStatus {
    pub(super) fn status(self) -> StatusCode {
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
}
