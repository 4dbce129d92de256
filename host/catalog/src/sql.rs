//! Statements, bound values and rows of types that both databases know, whichever database answers.
//! Knows neither how transactions begin and end (`database.rs`) nor tables.
//!
//! Futures that wait for a driver have most behind them: functions without parameters of type box
//! them.

#[cfg(feature = "postgres")]
use std::io::ErrorKind;
#[cfg(feature = "postgres")]
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
#[cfg(feature = "postgres")]
use sqlx::postgres::{PgArguments, PgRow};
use sqlx::query::Query;
use sqlx::sqlite::{SqliteArguments, SqliteRow};
use sqlx::{Encode, FromRow, Sqlite, SqliteConnection, Type};
#[cfg(feature = "postgres")]
use sqlx::{PgConnection, Postgres};
#[cfg(feature = "postgres")]
use tokio::time::timeout;

/// A connection for statements, within a transaction or without.
pub(crate) enum Connection<'c> {
    /// SQLite bounds its own waits.
    Sqlite(&'c mut SqliteConnection),
    /// The duration limits each statement: a network may swallow its answer.
    #[cfg(feature = "postgres")]
    Postgres(&'c mut PgConnection, Duration),
}

/// Kind of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TransactionMode {
    /// One statement that reads, sent even to a database that did not answer the last time: to find
    /// out.
    Probe,
    /// One statement that reads.
    SingleRead,
    /// Several that see the same instant.
    Read,
    /// Several that write, all or none.
    Write,
    /// As `Write`, and no other transaction writes plugin releases meanwhile: they are read before
    /// they are written.
    WriteReleases,
}

/// A statement whose values are being bound.
#[must_use = "a statement that is not run does nothing"]
pub(crate) enum Statement<'c> {
    Sqlite(&'c mut SqliteConnection, Query<'static, Sqlite, SqliteArguments>),
    #[cfg(feature = "postgres")]
    Postgres(&'c mut PgConnection, Query<'static, Postgres, PgArguments>, Duration),
}

/// Rows of one of the databases.
enum FetchedRows {
    Sqlite(Vec<SqliteRow>),
    #[cfg(feature = "postgres")]
    Postgres(Vec<PgRow>),
}

/// A value that every database of this build knows.
#[cfg(feature = "postgres")]
pub(crate) trait BindValue<'v>:
    Encode<'v, Sqlite> + Type<Sqlite> + Encode<'v, Postgres> + Type<Postgres>
{
}

#[cfg(feature = "postgres")]
impl<'v, T: Encode<'v, Sqlite> + Type<Sqlite> + Encode<'v, Postgres> + Type<Postgres>> BindValue<'v>
    for T
{
}

/// A value that every database of this build knows.
#[cfg(not(feature = "postgres"))]
pub(crate) trait BindValue<'v>: Encode<'v, Sqlite> + Type<Sqlite> {}

#[cfg(not(feature = "postgres"))]
impl<'v, T: Encode<'v, Sqlite> + Type<Sqlite>> BindValue<'v> for T {}

/// A row that can be read from every database of this build.
#[cfg(feature = "postgres")]
pub(crate) trait DatabaseRow:
    for<'r> FromRow<'r, SqliteRow> + for<'r> FromRow<'r, PgRow>
{
}

#[cfg(feature = "postgres")]
impl<T: for<'r> FromRow<'r, SqliteRow> + for<'r> FromRow<'r, PgRow>> DatabaseRow for T {}

/// A row that can be read from every database of this build.
#[cfg(not(feature = "postgres"))]
pub(crate) trait DatabaseRow: for<'r> FromRow<'r, SqliteRow> {}

#[cfg(not(feature = "postgres"))]
impl<T: for<'r> FromRow<'r, SqliteRow>> DatabaseRow for T {}

impl Connection<'_> {
    /// Returns true when statements that only PostgreSQL understands may be sent.
    pub(crate) fn is_postgres(&self) -> bool {
        match self {
            Self::Sqlite(_) => false,
            #[cfg(feature = "postgres")]
            Self::Postgres(..) => true,
        }
    }

    /// Begins a statement.
    pub(crate) fn query(&mut self, sql: &'static str) -> Statement<'_> {
        match self {
            Self::Sqlite(connection) => Statement::Sqlite(connection, sqlx::query(sql)),
            #[cfg(feature = "postgres")]
            Self::Postgres(connection, limit) => {
                Statement::Postgres(connection, sqlx::query(sql), *limit)
            }
        }
    }
}

impl<'c> Statement<'c> {
    /// Binds the next value, `$1` first.
    pub(crate) fn bind<'v>(self, value: impl BindValue<'v>) -> Self {
        match self {
            Self::Sqlite(connection, query) => Self::Sqlite(connection, query.bind(value)),
            #[cfg(feature = "postgres")]
            Self::Postgres(connection, query, limit) => {
                Self::Postgres(connection, query.bind(value), limit)
            }
        }
    }

    /// Runs the statement and returns the number of rows that it wrote.
    pub(crate) fn execute(self) -> BoxFuture<'c, Result<u64, sqlx::Error>> {
        async move {
            match self {
                Self::Sqlite(connection, query) => {
                    Ok(query.execute(connection).await?.rows_affected())
                }
                #[cfg(feature = "postgres")]
                Self::Postgres(connection, query, limit) => {
                    Ok(with_timeout(limit, query.execute(connection)).await?.rows_affected())
                }
            }
        }
        .boxed()
    }

    /// Fetches every row.
    pub(crate) async fn all<R: DatabaseRow>(self) -> Result<Vec<R>, sqlx::Error> {
        match self.fetch_all().await? {
            FetchedRows::Sqlite(rows) => rows.iter().map(R::from_row).collect(),
            #[cfg(feature = "postgres")]
            FetchedRows::Postgres(rows) => rows.iter().map(R::from_row).collect(),
        }
    }

    /// Fetches the first row, if there is one.
    pub(crate) async fn fetch_optional<R: DatabaseRow>(self) -> Result<Option<R>, sqlx::Error> {
        match self.fetch_first().await? {
            FetchedRows::Sqlite(rows) => rows.first().map(R::from_row).transpose(),
            #[cfg(feature = "postgres")]
            FetchedRows::Postgres(rows) => rows.first().map(R::from_row).transpose(),
        }
    }

    fn fetch_all(self) -> BoxFuture<'c, Result<FetchedRows, sqlx::Error>> {
        async move {
            Ok(match self {
                Self::Sqlite(connection, query) => {
                    FetchedRows::Sqlite(query.fetch_all(connection).await?)
                }
                #[cfg(feature = "postgres")]
                Self::Postgres(connection, query, limit) => {
                    FetchedRows::Postgres(with_timeout(limit, query.fetch_all(connection)).await?)
                }
            })
        }
        .boxed()
    }

    fn fetch_first(self) -> BoxFuture<'c, Result<FetchedRows, sqlx::Error>> {
        async move {
            Ok(match self {
                Self::Sqlite(connection, query) => {
                    let row = query.fetch_optional(connection).await?;
                    FetchedRows::Sqlite(row.into_iter().collect())
                }
                #[cfg(feature = "postgres")]
                Self::Postgres(connection, query, limit) => {
                    let row = with_timeout(limit, query.fetch_optional(connection)).await?;
                    FetchedRows::Postgres(row.into_iter().collect())
                }
            })
        }
        .boxed()
    }

    /// Fetches the first row; an error when there is none.
    pub(crate) async fn fetch_one<R: DatabaseRow>(self) -> Result<R, sqlx::Error> {
        self.fetch_optional().await?.ok_or(sqlx::Error::RowNotFound)
    }
}

/// Awaits `work` for at most `limit`. A late answer may still arrive, so the connection is of no
/// use after a timeout.
#[cfg(feature = "postgres")]
pub(crate) async fn with_timeout<T>(
    limit: Duration,
    work: impl Future<Output = Result<T, sqlx::Error>>,
) -> Result<T, sqlx::Error> {
    let late =
        |_| Err(sqlx::Error::Io(std::io::Error::new(ErrorKind::TimedOut, "no answer in time")));
    timeout(limit, work).await.unwrap_or_else(late)
}
