//! Statements, bound values and rows of types that both databases know, whichever database answers.
//! Knows neither how transactions begin and end (`database.rs`) nor tables.
//!
//! Futures that wait for a driver have most behind them: functions without parameters of type box
//! them.

#[cfg(feature = "postgres")]
use std::io::ErrorKind;
#[cfg(feature = "postgres")]
use std::time::Duration;

use futures::future::BoxFuture;
use futures::{FutureExt as _, StreamExt as _, TryStreamExt as _};
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

/// A row of one of the databases.
enum FetchedRow<'r> {
    Sqlite(&'r SqliteRow),
    #[cfg(feature = "postgres")]
    Postgres(&'r PgRow),
}

/// Takes rows as they arrive: all of a catalogue as a driver holds them take four times what is
/// read of them.
type ReadRow<'r> = dyn FnMut(FetchedRow<'_>) -> Result<(), sqlx::Error> + Send + 'r;

impl FetchedRow<'_> {
    fn read<R: DatabaseRow>(self) -> Result<R, sqlx::Error> {
        match self {
            Self::Sqlite(row) => R::from_row(row),
            #[cfg(feature = "postgres")]
            Self::Postgres(row) => R::from_row(row),
        }
    }
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
    for<'r> FromRow<'r, SqliteRow> + for<'r> FromRow<'r, PgRow> + Send
{
}

#[cfg(feature = "postgres")]
impl<T: for<'r> FromRow<'r, SqliteRow> + for<'r> FromRow<'r, PgRow> + Send> DatabaseRow for T {}

/// A row that can be read from every database of this build.
#[cfg(not(feature = "postgres"))]
pub(crate) trait DatabaseRow: for<'r> FromRow<'r, SqliteRow> + Send {}

#[cfg(not(feature = "postgres"))]
impl<T: for<'r> FromRow<'r, SqliteRow> + Send> DatabaseRow for T {}

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
        let mut rows = Vec::new();
        self.for_each(|row| {
            rows.push(row);
            Ok(())
        })
        .await?;
        Ok(rows)
    }

    /// Hands every row to `take` as it arrives.
    pub(crate) async fn for_each<R: DatabaseRow>(
        self,
        mut take: impl FnMut(R) -> Result<(), sqlx::Error> + Send,
    ) -> Result<(), sqlx::Error> {
        self.read(false, &mut |row: FetchedRow<'_>| take(row.read()?)).await
    }

    /// Fetches the first row, if there is one.
    pub(crate) async fn fetch_optional<R: DatabaseRow>(self) -> Result<Option<R>, sqlx::Error> {
        let mut first = None;
        let mut read = |row: FetchedRow<'_>| {
            first = Some(row.read()?);
            Ok(())
        };
        self.read(true, &mut read).await?;
        Ok(first)
    }

    /// Has `take` read every row, or the first alone.
    fn read<'r>(
        self,
        only_first: bool,
        take: &'r mut ReadRow<'_>,
    ) -> BoxFuture<'r, Result<(), sqlx::Error>>
    where
        'c: 'r,
    {
        let most = if only_first { 1 } else { usize::MAX };
        async move {
            match self {
                Self::Sqlite(connection, query) => {
                    let mut rows = query.fetch(connection).take(most);
                    while let Some(row) = rows.try_next().await? {
                        take(FetchedRow::Sqlite(&row))?;
                    }
                    Ok(())
                }
                #[cfg(feature = "postgres")]
                Self::Postgres(connection, query, limit) => {
                    let read = async {
                        let mut rows = query.fetch(connection).take(most);
                        while let Some(row) = rows.try_next().await? {
                            take(FetchedRow::Postgres(&row))?;
                        }
                        Ok(())
                    };
                    with_timeout(limit, read).await
                }
            }
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
