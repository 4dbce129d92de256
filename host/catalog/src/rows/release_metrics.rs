//! Rows of what hosts observe of plugin releases.

use yearbook_domain::Millis;

use crate::sql_enum::RowContext;
use crate::{CanaryTotals, ReleaseId, ReleaseUsage};

/// A row of `plugin_trials`.
#[derive(sqlx::FromRow)]
pub(crate) struct CanaryTotalsRow {
    kind: String,
    name: String,
    digest: String,
    incumbent: String,
    samples: i64,
    rewritten: i64,
    cpu_ns: i64,
    incumbent_ns: i64,
    memory: i64,
    incumbent_memory: i64,
    fault: Option<String>,
    first_at: i64,
}

impl CanaryTotalsRow {
    pub(crate) fn read(self) -> Result<CanaryTotals, sqlx::Error> {
        let place = RowContext { table: "plugin_trials", row: &self.name };
        Ok(CanaryTotals {
            samples: place.count("samples", self.samples)?,
            rewritten: place.count("rewritten", self.rewritten)?,
            cpu_ns: place.count("cpu_ns", self.cpu_ns)?,
            incumbent_ns: place.count("incumbent_ns", self.incumbent_ns)?,
            memory: place.count("memory", self.memory)?,
            incumbent_memory: place.count("incumbent_memory", self.incumbent_memory)?,
            incumbent: self.incumbent,
            fault: self.fault,
            first_at: Millis(self.first_at),
            id: ReleaseId { kind: self.kind, name: self.name, digest: self.digest },
        })
    }
}

/// A row of `plugin_use`.
#[derive(sqlx::FromRow)]
pub(crate) struct ReleaseUsageRow {
    kind: String,
    name: String,
    digest: String,
    responses: i64,
    failures: i64,
    last_at: i64,
}

impl ReleaseUsageRow {
    pub(crate) fn read(self) -> Result<ReleaseUsage, sqlx::Error> {
        let place = RowContext { table: "plugin_use", row: &self.name };
        Ok(ReleaseUsage {
            responses: place.count("responses", self.responses)?,
            failures: place.count("failures", self.failures)?,
            last_at: Millis(self.last_at),
            id: ReleaseId { kind: self.kind, name: self.name, digest: self.digest },
        })
    }
}
