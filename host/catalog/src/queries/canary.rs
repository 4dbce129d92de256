//! Measurements that hosts make of plugin releases, as sums over all hosts.

use yearbook_domain::{Digest, Millis};

use super::ReleaseIdRow;
use super::sql_enum::{RowContext, encode_u64};
use crate::catalog::transaction;
use crate::sql::Connection;
use crate::{Catalog, CatalogError, ReleaseId};

/// Keeps the first fault.
const ADD_CANARY_TOTALS: &str = "
    INSERT INTO plugin_trials (
        kind, name, digest, incumbent, samples, rewritten, cpu_ns, incumbent_ns, memory, incumbent_memory, fault, first_at
    ) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
    ON CONFLICT (kind, name, digest, incumbent) DO UPDATE SET
        samples = plugin_trials.samples + excluded.samples,
        rewritten = plugin_trials.rewritten + excluded.rewritten,
        cpu_ns = plugin_trials.cpu_ns + excluded.cpu_ns,
        incumbent_ns = plugin_trials.incumbent_ns + excluded.incumbent_ns,
        memory = CASE WHEN excluded.memory > plugin_trials.memory THEN excluded.memory ELSE plugin_trials.memory END,
        incumbent_memory = CASE WHEN excluded.incumbent_memory > plugin_trials.incumbent_memory
            THEN excluded.incumbent_memory ELSE plugin_trials.incumbent_memory END,
        fault = COALESCE(plugin_trials.fault, excluded.fault),
        first_at = CASE WHEN excluded.first_at < plugin_trials.first_at THEN excluded.first_at ELSE plugin_trials.first_at END
    RETURNING kind, name, digest, incumbent, samples, rewritten, cpu_ns, incumbent_ns, memory, incumbent_memory, fault, first_at";

const CANARY_TOTALS: &str = "
    SELECT kind, name, digest, incumbent, samples, rewritten, cpu_ns, incumbent_ns, memory, incumbent_memory, fault, first_at
    FROM plugin_trials ORDER BY kind, name, first_at, digest";

/// Forgets the totals of a release: one that is installed again is compared again.
const DELETE_CANARY_TOTALS: &str =
    "DELETE FROM plugin_trials WHERE kind = $1 AND name = $2 AND digest = $3";

const ADD_RELEASE_USAGE: &str = "
    INSERT INTO plugin_use (kind, name, digest, responses, failures, last_at) VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT (kind, name, digest) DO UPDATE SET
        responses = plugin_use.responses + excluded.responses,
        failures = plugin_use.failures + excluded.failures,
        last_at = CASE WHEN excluded.last_at > plugin_use.last_at THEN excluded.last_at ELSE plugin_use.last_at END";

const RELEASE_USAGE: &str = "SELECT kind, name, digest, responses, failures, last_at FROM plugin_use ORDER BY kind, name, digest";

/// Comparisons of a release that waits with the one that serves: of one host since its last report,
/// or the sum of all hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CanaryTotals {
    /// The release that waits.
    pub id: ReleaseId,
    /// Digest of the release that serves.
    pub incumbent: Digest,
    /// Responses that both made.
    pub samples: u64,
    /// Responses of these with other bytes for the same values.
    pub rewritten: u64,
    /// Processor time of the release that waits, nanoseconds.
    pub cpu_ns: u64,
    /// Processor time of the one that serves for the same responses, nanoseconds.
    pub incumbent_ns: u64,
    /// Largest memory of the release that waits, bytes.
    pub memory: u64,
    /// Largest memory of the one that serves, bytes.
    pub incumbent_memory: u64,
    /// The first difference or failure that any host saw.
    pub fault: Option<String>,
    /// Time of the first comparison.
    pub first_at: Millis,
}

/// Responses of one release: of one host since its last report, or of all hosts together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReleaseUsage {
    /// The release.
    pub id: ReleaseId,
    /// Responses begun.
    pub responses: u64,
    /// Responses that the release failed: traps, time-outs, faults of its own.
    pub failures: u64,
    /// Start of the last of them.
    pub last_at: Millis,
}

impl Catalog {
    /// Adds what one host measured of a release that waits, and returns the sum of all hosts.
    ///
    /// # Errors
    /// [`CatalogError::Query`] when the database does not answer.
    pub async fn add_canary_totals(
        &self,
        seen: &CanaryTotals,
    ) -> Result<CanaryTotals, CatalogError> {
        transaction!(self, "add to a trial", Write, |connection| async {
            let row: CanaryTotalsRow = connection
                .query(ADD_CANARY_TOTALS)
                .bind_release(&seen.id)
                .bind(seen.incumbent.as_str())
                .bind(encode_u64(seen.samples)?)
                .bind(encode_u64(seen.rewritten)?)
                .bind(encode_u64(seen.cpu_ns)?)
                .bind(encode_u64(seen.incumbent_ns)?)
                .bind(encode_u64(seen.memory)?)
                .bind(encode_u64(seen.incumbent_memory)?)
                .bind(&seen.fault)
                .bind(seen.first_at.0)
                .fetch_one()
                .await?;
            row.read()
        })
    }

    /// Lists every sum of [`Catalog::add_canary_totals`].
    ///
    /// # Errors
    /// [`CatalogError::Query`] when the database does not answer.
    pub async fn canary_totals(&self) -> Result<Vec<CanaryTotals>, CatalogError> {
        transaction!(self, "list trials", SingleRead, |connection| async {
            let rows: Vec<CanaryTotalsRow> = connection.query(CANARY_TOTALS).all().await?;
            rows.into_iter().map(CanaryTotalsRow::read).collect()
        })
    }

    /// Adds responses of releases, all or none.
    ///
    /// # Errors
    /// [`CatalogError::Query`] when the database does not answer.
    pub async fn add_release_usage(&self, seen: &[ReleaseUsage]) -> Result<(), CatalogError> {
        transaction!(self, "add to the use of plugins", Write, |connection| async {
            // One order for all hosts rules deadlocks out.
            let mut seen: Vec<&ReleaseUsage> = seen.iter().collect();
            seen.sort_unstable_by_key(|seen| &seen.id);
            for ReleaseUsage { id, responses, failures, last_at } in seen {
                connection
                    .query(ADD_RELEASE_USAGE)
                    .bind_release(id)
                    .bind(encode_u64(*responses)?)
                    .bind(encode_u64(*failures)?)
                    .bind(last_at.0)
                    .execute()
                    .await?;
            }
            Ok(())
        })
    }

    /// Lists every sum of [`Catalog::add_release_usage`].
    ///
    /// # Errors
    /// [`CatalogError::Query`] when the database does not answer.
    pub async fn release_usage(&self) -> Result<Vec<ReleaseUsage>, CatalogError> {
        transaction!(self, "list the use of plugins", SingleRead, |connection| async {
            let rows: Vec<ReleaseUsageRow> = connection.query(RELEASE_USAGE).all().await?;
            rows.into_iter().map(ReleaseUsageRow::read).collect()
        })
    }
}

/// A row of `plugin_trials`.
#[derive(sqlx::FromRow)]
struct CanaryTotalsRow {
    #[sqlx(flatten)]
    id: ReleaseIdRow,
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
    fn read(self) -> Result<CanaryTotals, sqlx::Error> {
        let place = RowContext { table: "plugin_trials", row: &self.id.name };
        Ok(CanaryTotals {
            samples: place.count("samples", self.samples)?,
            rewritten: place.count("rewritten", self.rewritten)?,
            cpu_ns: place.count("cpu_ns", self.cpu_ns)?,
            incumbent_ns: place.count("incumbent_ns", self.incumbent_ns)?,
            memory: place.count("memory", self.memory)?,
            incumbent_memory: place.count("incumbent_memory", self.incumbent_memory)?,
            incumbent: place.parse("incumbent", &self.incumbent)?,
            fault: self.fault,
            first_at: Millis(self.first_at),
            id: self.id.read("plugin_trials")?,
        })
    }
}

/// A row of `plugin_use`.
#[derive(sqlx::FromRow)]
struct ReleaseUsageRow {
    #[sqlx(flatten)]
    id: ReleaseIdRow,
    responses: i64,
    failures: i64,
    last_at: i64,
}

impl ReleaseUsageRow {
    fn read(self) -> Result<ReleaseUsage, sqlx::Error> {
        let place = RowContext { table: "plugin_use", row: &self.id.name };
        Ok(ReleaseUsage {
            responses: place.count("responses", self.responses)?,
            failures: place.count("failures", self.failures)?,
            last_at: Millis(self.last_at),
            id: self.id.read("plugin_use")?,
        })
    }
}

/// Forgets the totals of a release.
pub(super) async fn delete_canary_totals(
    connection: &mut Connection<'_>,
    id: &ReleaseId,
) -> Result<(), sqlx::Error> {
    connection.query(DELETE_CANARY_TOTALS).bind_release(id).execute().await.map(drop)
}
