//! Errors of the catalog, for operators: the database, the operation, and what to do next. Clients
//! never see these sentences, and no credential is ever in them.

use std::sync::Arc;
use std::time::Duration;

/// A failure of the catalog.
#[derive(Debug, thiserror::Error)]
pub enum CatalogError {
    /// The address has no known scheme. Holds the scheme alone: the rest may carry a
    /// password.
    #[error(
        "the database address starts with {scheme:?}: use sqlite:/path/to/catalogue.db or postgres://user@host/database, or leave the address out for the file in the data directory"
    )]
    UnknownScheme {
        /// Text before the first colon.
        scheme: String,
    },
    /// A database that this build was made without.
    #[error(
        "this build of yearbook cannot use {what}: take a release build, or build with `cargo build --release --features {feature}`"
    )]
    FeatureDisabled {
        /// The database.
        what: &'static str,
        /// The cargo feature that brings it.
        feature: &'static str,
    },
    /// A `sqlite:` address that names no file or has parameters that SQLite does not know.
    #[error("the SQLite address is not understood ({reason}): use sqlite:/path/to/catalogue.db")]
    BadSqliteAddress {
        /// Reason.
        reason: String,
    },
    /// A `postgres:` address that makes no sense. Holds nothing of it: there may be a password
    /// anywhere.
    #[error(
        "the PostgreSQL address is not understood ({reason}): use postgres://user:password@host:5432/database"
    )]
    BadPostgresAddress {
        /// Reason.
        reason: String,
    },
    /// PostgreSQL refuses the connection.
    #[error(
        "cannot reach the catalog {location}: {source}. Check that PostgreSQL runs there, that the database exists, and that the address has the right user, password and sslmode"
    )]
    Unreachable {
        /// Location of the database.
        location: String,
        /// Error of the driver.
        source: sqlx::Error,
    },
    /// The database cannot be opened.
    #[error(
        "cannot open the catalog {location}: {source}. Check that its folder exists on a local disk, that this user may write to both, and that the disk is not full"
    )]
    Open {
        /// Location of the database.
        location: String,
        /// Error of the driver.
        source: sqlx::Error,
    },
    /// The file system cannot share memory between processes, which write-ahead logging needs.
    #[error(
        "the catalog {location} cannot use write-ahead logging (journal mode is {mode:?}): move it from a network share to a local disk"
    )]
    NoWriteAheadLog {
        /// Location of the database.
        location: String,
        /// The mode that SQLite fell back to.
        mode: String,
    },
    /// The tables cannot be brought up to date.
    #[error(
        "cannot bring the catalog {location} up to date: {source}. Nothing was changed; run the version of yearbook that made it, or restore a backup"
    )]
    Migrate {
        /// Location of the database.
        location: String,
        /// Error of the migrator.
        source: sqlx::migrate::MigrateError,
    },
    /// A newer version has changed the tables in a way that this one does not know.
    #[error(
        "the catalog {location} was brought to migration {least} by a newer version of yearbook, and this one knows {known}: run a newer version"
    )]
    TooNew {
        /// Location of the database.
        location: String,
        /// The migration that must be known.
        least: i64,
        /// The newest one that is.
        known: i64,
    },
    /// A query failed, or its answer could not be read.
    #[error(
        "the catalog {location} failed to {operation}: {source}. `yearbook doctor` checks the database"
    )]
    Query {
        /// Location of the database.
        location: String,
        /// The operation, "list datasets".
        operation: &'static str,
        /// Error of the driver.
        source: sqlx::Error,
    },
    /// The commit of a transaction failed, so its outcome is unknown.
    #[error(
        "the catalog {location} failed to finish a transaction ({operation}), which may or may not have happened: {source}. `yearbook doctor` checks the database"
    )]
    CommitUnknown {
        /// Location of the database.
        location: String,
        /// The operation.
        operation: &'static str,
        /// Error of the driver.
        source: sqlx::Error,
    },
    /// The database did not answer in time.
    #[error("the catalog {location} did not answer within {} s", after.as_secs())]
    TimedOut {
        /// Location of the database.
        location: String,
        /// Time waited.
        after: Duration,
    },
    /// Too many keys or snapshots that may not exist wait to be looked up.
    #[error("too many unknown names are being looked up: one waited {} ms for its turn", after.as_millis())]
    TooManyLookups {
        /// Time waited.
        after: Duration,
    },
    /// An object that was to be referenced is no longer certain to be stored.
    #[error(
        "{0} was declared too long ago or by another process, and `yearbook gc` may have removed it: nothing was changed; do it again"
    )]
    DeletedConcurrently(yearbook_domain::ObjectKey),
    /// The operating system gives no random numbers, so no key or secret can be made.
    #[error("the operating system gave no random numbers: {0}")]
    Random(#[from] getrandom::Error),
    /// A task ended before it answered, as at shutdown.
    #[error("the work on the catalog was cut short: {0}")]
    TaskAborted(#[from] tokio::task::JoinError),
    /// One failure for several waiters.
    #[error(transparent)]
    Shared(Arc<CatalogError>),
}

impl CatalogError {
    /// Returns true when the catalog works and is merely overloaded: the caller may retry in a
    /// moment.
    #[must_use]
    pub fn is_overload(&self) -> bool {
        match self {
            Self::TooManyLookups { .. } => true,
            Self::Shared(failure) => failure.is_overload(),
            _ => false,
        }
    }

    /// Returns true when the operation has certainly not happened, so that it may be retried.
    #[must_use]
    pub fn is_safe_to_retry(&self) -> bool {
        match self {
            Self::CommitUnknown { .. } | Self::TimedOut { .. } | Self::TaskAborted(_) => false,
            Self::Shared(failure) => failure.is_safe_to_retry(),
            _ => true,
        }
    }
}

/// [`CatalogError::DeletedConcurrently`] on its way out of a transaction.
#[derive(Debug, thiserror::Error)]
#[error("{0} is not declared")]
pub(crate) struct DeletedConcurrently(pub(crate) yearbook_domain::ObjectKey);

impl From<DeletedConcurrently> for sqlx::Error {
    fn from(swept: DeletedConcurrently) -> Self {
        // A variant that the circuit breaker does not count.
        Self::Decode(Box::new(swept))
    }
}

/// A stored value that this version cannot read: written by a newer version, or damaged.
#[derive(Debug, thiserror::Error)]
#[error("{table}.{column} of {row} holds {value}, which this version of yearbook does not know")]
pub(crate) struct UnreadableValue {
    /// The table.
    pub(crate) table: &'static str,
    /// The column.
    pub(crate) column: &'static str,
    /// The row, as people would call it.
    pub(crate) row: String,
    /// The value.
    pub(crate) value: String,
}

impl From<UnreadableValue> for sqlx::Error {
    fn from(unreadable: UnreadableValue) -> Self {
        Self::Decode(Box::new(unreadable))
    }
}
