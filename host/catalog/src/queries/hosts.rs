//! Hosts that serve, as they last said (contract-21-release-clock): what operators ask about a
//! fleet. Nothing that is served depends on it.

use yearbook_domain::Millis;

use super::sql_enum::RowContext;
use crate::catalog::transaction;
use crate::migrations::newest_migration;
use crate::{Catalog, CatalogError};

/// Time after which a host that has said nothing is forgotten, milliseconds.
const FORGOTTEN_MS: i64 = 24 * 3_600_000;

const NOTE: &str = "
    INSERT INTO hosts (id, name, release, migration, seen_at, offset_ms, uncertainty_ms)
    VALUES ($1, $2, $3, $4, $5, $6, $7)
    ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at, offset_ms = excluded.offset_ms,
        uncertainty_ms = excluded.uncertainty_ms";

const FORGET_OLD: &str = "DELETE FROM hosts WHERE seen_at < $1";

const FORGET: &str = "DELETE FROM hosts WHERE id = $1";

const SEEN: &str = "
    SELECT id, name, release, migration, seen_at, offset_ms, uncertainty_ms FROM hosts
    WHERE seen_at >= $1 ORDER BY name, id";

/// A host that serves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostRecord {
    /// Identifier, made anew at each start.
    pub id: String,
    /// Machine and address.
    pub name: String,
    /// Release of the program.
    pub release: String,
    /// Newest migration that it knows.
    pub migration: i64,
    /// Time at which it said so, by the database's clock as it knows it.
    pub seen_at: Millis,
    /// Milliseconds by which the database's clock is ahead of the machine's at least, and by which
    /// it may be more. `None` if the host does not know it.
    pub clock: Option<(i64, u64)>,
}

type HostRow = (String, String, String, i64, i64, Option<i64>, Option<i64>);

impl Catalog {
    /// Returns the number of the newest migration that this program knows.
    #[must_use]
    pub fn newest_migration() -> i64 {
        newest_migration()
    }

    /// Notes what a host says of itself, and forgets those that have said nothing for a day.
    ///
    /// # Errors
    /// [`CatalogError::Query`] when the database takes no writes.
    pub async fn note_host(&self, host: &HostRecord) -> Result<(), CatalogError> {
        transaction!(self, "note a host", Write, |connection| async {
            let before = host.seen_at.0.saturating_sub(FORGOTTEN_MS);
            connection.query(FORGET_OLD).bind(before).execute().await?;
            let offset = host.clock.map(|(offset, _)| offset);
            let uncertainty = host.clock.and_then(|(_, more)| i64::try_from(more).ok());
            let statement = connection.query(NOTE).bind(&host.id).bind(&host.name);
            let statement = statement.bind(&host.release).bind(host.migration);
            let statement = statement.bind(host.seen_at.0).bind(offset).bind(uncertainty);
            statement.execute().await.map(drop)
        })
    }

    /// Forgets a host that stops.
    ///
    /// # Errors
    /// [`CatalogError::Query`] when the database takes no writes.
    pub async fn forget_host(&self, id: &str) -> Result<(), CatalogError> {
        transaction!(self, "forget a host", Write, |connection| async {
            connection.query(FORGET).bind(id).execute().await.map(drop)
        })
    }

    /// Lists the hosts that have said something since `since`, by name.
    ///
    /// # Errors
    /// [`CatalogError::Query`] when the database does not answer.
    pub async fn hosts(&self, since: Millis) -> Result<Vec<HostRecord>, CatalogError> {
        transaction!(self, "list hosts", SingleRead, |connection| async {
            let rows: Vec<HostRow> = connection.query(SEEN).bind(since.0).all().await?;
            rows.into_iter().map(read).collect()
        })
    }
}

fn read(row: HostRow) -> Result<HostRecord, sqlx::Error> {
    let (id, name, release, migration, seen_at, offset, uncertainty) = row;
    let place = RowContext { table: "hosts", row: &id };
    let uncertainty = uncertainty.map(|more| place.count("uncertainty_ms", more)).transpose()?;
    let clock = offset.zip(uncertainty);
    Ok(HostRecord { name, release, migration, seen_at: Millis(seen_at), clock, id })
}
