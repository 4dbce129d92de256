//! The databases, and the begin and end of a transaction on each: the one place where they differ
//! while the catalog is in use. Knows no table.

use sqlx::Transaction;
use sqlx::pool::PoolConnection;
use sqlx::sqlite::Sqlite;
use tokio::sync::watch;

use crate::postgres::{PostgresServer, PostgresSession};
use crate::sql::{Connection, TransactionMode};
use crate::sqlite::{self, SqliteFile};

/// A database with the tables of the catalog.
pub(crate) enum Database {
    Sqlite(SqliteFile),
    Postgres(PostgresServer),
}

/// Kind and place of the database, for people. Holds no credentials.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CatalogDescription {
    /// `sqlite` or `postgres`.
    pub kind: &'static str,
    /// Path of the file, or host and database.
    pub location: String,
}

/// A connection with a transaction. Dropped before [`DatabaseSession::commit`], it leaves no trace.
pub(crate) enum DatabaseSession {
    SqliteConnection(PoolConnection<Sqlite>),
    Sqlite(Transaction<'static, Sqlite>),
    Postgres(PostgresSession),
}

impl Database {
    pub(crate) fn describe(&self) -> CatalogDescription {
        let (kind, location) = match self {
            Self::Sqlite(file) => ("sqlite", &file.location),
            Self::Postgres(server) => ("postgres", &server.location),
        };
        CatalogDescription { kind, location: location.clone() }
    }

    /// Returns a receiver that wakes when a host moved the revision, where the database notifies.
    pub(crate) fn change_notifications(&self) -> Option<watch::Receiver<()>> {
        match self {
            Self::Sqlite(_) => None,
            Self::Postgres(server) => Some(server.change_notifications()),
        }
    }

    pub(crate) async fn begin(
        &self,
        mode: TransactionMode,
    ) -> Result<DatabaseSession, sqlx::Error> {
        Ok(match (self, mode) {
            (Self::Sqlite(file), TransactionMode::Probe | TransactionMode::SingleRead) => {
                DatabaseSession::SqliteConnection(file.acquire_reader().await?)
            }
            (Self::Sqlite(file), TransactionMode::Read) => {
                DatabaseSession::Sqlite(file.read().await?)
            }
            // A file has one writer at a time.
            (Self::Sqlite(file), TransactionMode::Write | TransactionMode::WriteReleases) => {
                DatabaseSession::Sqlite(file.write().await?)
            }
            (Self::Postgres(server), mode) => DatabaseSession::Postgres(server.begin(mode).await?),
        })
    }

    pub(crate) async fn close(&self) {
        match self {
            Self::Sqlite(file) => file.close().await,
            Self::Postgres(server) => server.close().await,
        }
    }
}

impl DatabaseSession {
    /// Returns the connection for statements.
    pub(crate) fn connection(&mut self) -> Connection<'_> {
        match self {
            Self::SqliteConnection(connection) => Connection::Sqlite(connection),
            Self::Sqlite(transaction) => Connection::Sqlite(transaction),
            Self::Postgres(session) => session.connection(),
        }
    }

    /// Commits the transaction. After an error its outcome is unknown.
    pub(crate) async fn commit(self) -> Result<(), sqlx::Error> {
        match self {
            Self::SqliteConnection(_) => Ok(()),
            Self::Sqlite(transaction) => transaction.commit().await,
            Self::Postgres(session) => session.commit().await,
        }
    }

    /// Rolls the transaction back without an error.
    pub(crate) async fn roll_back(self) -> Result<(), sqlx::Error> {
        match self {
            Self::SqliteConnection(_) => Ok(()),
            Self::Sqlite(transaction) => transaction.rollback().await,
            Self::Postgres(session) => session.roll_back().await,
        }
    }

    /// Rolls the transaction back because of `error`.
    pub(crate) async fn abandon(self, error: &sqlx::Error) {
        match self {
            // Rolled back as it is dropped.
            Self::SqliteConnection(_) | Self::Sqlite(_) => {}
            Self::Postgres(session) => session.abandon(error).await,
        }
    }
}

/// Looks for damage in the database of `connection` and returns a sentence for each finding.
pub(crate) async fn problems(connection: &mut Connection<'_>) -> Result<Vec<String>, sqlx::Error> {
    match connection {
        Connection::Sqlite(_) => sqlite::problems(connection).await,
        #[cfg(feature = "postgres")]
        Connection::Postgres(..) => crate::postgres::problems(connection).await,
    }
}

impl From<SqliteFile> for Database {
    fn from(file: SqliteFile) -> Self {
        Self::Sqlite(file)
    }
}

impl From<PostgresServer> for Database {
    fn from(server: PostgresServer) -> Self {
        Self::Postgres(server)
    }
}
