//! Everything that the catalog asks of its database: one file a group of tables, each with SQL, row
//! types, functions that work within a transaction, and the methods of [`Catalog`] that run them.
//! The SQL is what SQLite and PostgreSQL share (`$1`, `ON CONFLICT`, `RETURNING`), so databases
//! differ in how they connect and begin transactions and not in what they are asked. Never
//! connects.

pub(crate) mod accounts;
pub(crate) mod canary;
pub(crate) mod changes;
pub(crate) mod citations;
mod commit_times;
pub(crate) mod datasets;
pub(crate) mod future_times;
mod history_writes;
pub(crate) mod holds;
pub(crate) mod hosts;
pub(crate) mod key_uses;
pub(crate) mod keys;
pub(crate) mod known_history;
pub(crate) mod log_entries;
pub(crate) mod mails;
pub(crate) mod past_versions;
pub(crate) mod preview_facts;
pub(crate) mod publications;
pub(crate) mod release_events;
pub(crate) mod releases;
pub(crate) mod signup_links;
pub(crate) mod signup_purge;
mod snapshot_writes;
pub(crate) mod snapshots;
pub(crate) mod source_checks;
pub(crate) mod sql_enum;
pub(crate) mod unreferenced;
pub(crate) mod usage;
pub(crate) mod versions;
pub(crate) mod waiting;
pub(crate) mod waiting_commits;
pub(crate) mod waiting_datasets;
pub(crate) mod webhooks;

use yearbook_domain::Millis;

use crate::Catalog;
use crate::catalog::transaction;
use crate::sql::Connection;
use crate::{CatalogError, ReleaseId};
use sql_enum::RowContext;

const BUMP_REVISION: &str = "UPDATE revision SET value = value + 1 WHERE only_row = 1";

const BUMP_WAITING: &str = "UPDATE revision SET waiting = waiting + 1 WHERE only_row = 1";

/// The clock as an expression.
macro_rules! clock {
    (sqlite) => {
        "CAST((julianday('now') - 2440587.5) * 86400000.0 AS INTEGER)"
    };
    (postgres) => {
        "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint"
    };
}

const CLOCK_OF_SQLITE: &str = concat!("SELECT ", clock!(sqlite));

const CLOCK_OF_POSTGRES: &str = concat!("SELECT ", clock!(postgres));

/// The question that hosts ask twice a second.
macro_rules! poll {
    ($database:ident) => {
        concat!(
            "SELECT value, keys, waiting, ",
            clock!($database),
            " FROM revision WHERE only_row = 1"
        )
    };
}

const POLL_OF_SQLITE: &str = poll!(sqlite);

const POLL_OF_POSTGRES: &str = poll!(postgres);

/// Counts of changes of the catalog. The numbers grow, and mean nothing except by comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Revisions {
    /// Changes that a running server must notice: datasets, snapshots, keys and plugin releases,
    /// not usage.
    pub all: i64,
    /// Changes that end what was known of keys: revocations and alterations. New keys do not count.
    pub keys: i64,
    /// Changes of what waits for its time and of announcements, of which no client may notice.
    pub waiting: i64,
}

impl Catalog {
    /// Writes a counter, on the way of every request that is counted: a database with a full disk,
    /// one that another process has locked and a standby answer questions alone.
    ///
    /// # Errors
    /// [`CatalogError`] when the database takes no writes.
    pub async fn check_writable(&self) -> Result<(), CatalogError> {
        transaction!(self, "take a write", Write, |connection| async {
            connection.query(signup_links::PASS_GATE).execute().await.map(drop)
        })
    }

    /// Reads the database's clock, which every host shares.
    ///
    /// # Errors
    /// [`CatalogError::Query`] when the database does not answer.
    pub async fn database_time(&self) -> Result<Millis, CatalogError> {
        transaction!(self, "tell the time", SingleRead, |connection| database_time(connection))
    }

    /// Reads the counts of changes.
    ///
    /// # Errors
    /// [`CatalogError::Query`] when the database does not answer.
    pub async fn revisions(&self) -> Result<Revisions, CatalogError> {
        self.poll().await.map(|(revisions, _)| revisions)
    }

    /// Reads the counts of changes, and the database's clock at that moment.
    ///
    /// # Errors
    /// As [`Catalog::revisions`].
    pub(crate) async fn poll(&self) -> Result<(Revisions, Millis), CatalogError> {
        transaction!(self, READ_REVISION, Probe, |connection| async {
            let statement =
                if connection.is_postgres() { POLL_OF_POSTGRES } else { POLL_OF_SQLITE };
            let (all, keys, waiting, now) = connection.query(statement).fetch_one().await?;
            Ok((Revisions { all, keys, waiting }, Millis(now)))
        })
    }

    /// Reads [`Revisions::all`].
    ///
    /// # Errors
    /// As [`Catalog::revisions`].
    pub async fn revision(&self) -> Result<i64, CatalogError> {
        Ok(self.revisions().await?.all)
    }
}

/// Operation that runs twice a second on every host.
pub(crate) const READ_REVISION: &str = "read its revision";

/// Tells every host that what waits has changed. Last in its transaction, as [`bump_revision`].
async fn bump_waiting(connection: &mut Connection<'_>) -> Result<(), sqlx::Error> {
    connection.query(BUMP_WAITING).execute().await.map(drop)
}

/// Tells every host that something changed. Last in its transaction, since all writers pass this
/// one row, each until it has committed.
async fn bump_revision(connection: &mut Connection<'_>) -> Result<(), sqlx::Error> {
    connection.query(BUMP_REVISION).execute().await.map(drop)
}

/// Reads the database's clock.
async fn database_time(connection: &mut Connection<'_>) -> Result<Millis, sqlx::Error> {
    let statement = if connection.is_postgres() { CLOCK_OF_POSTGRES } else { CLOCK_OF_SQLITE };
    let (now,): (i64,) = connection.query(statement).fetch_one().await?;
    Ok(Millis(now))
}

/// Columns that name a release.
#[derive(sqlx::FromRow)]
struct ReleaseIdRow {
    kind: String,
    name: String,
    digest: String,
}

impl ReleaseIdRow {
    /// Reads the columns of a row of `table`.
    fn read(self, table: &'static str) -> Result<ReleaseId, sqlx::Error> {
        let place = RowContext { table, row: &self.name };
        Ok(ReleaseId {
            kind: place.parse("kind", &self.kind)?,
            digest: place.parse("digest", &self.digest)?,
            name: self.name,
        })
    }
}
