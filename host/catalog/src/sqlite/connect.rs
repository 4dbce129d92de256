//! Opens SQLite so that several processes can share one file and no acknowledged write is lost.
//!
//! - Write-ahead logging: readers never wait for a writer, nor it for them.
//! - `synchronous=FULL`: a commit is on the disk before it is acknowledged. NORMAL would be faster,
//!   but after a power cut a revoked key could work again, a key shown once could be unknown and a
//!   quota could be exceeded (contract-5-exact, contract-5-crash). Plans without a limit
//!   write once a second, not once a request, so the wait falls on limited plans alone.
//! - The lock of the file is waited for, and every write takes it at its beginning.
//! - A connection with a transaction that one of SQLite and the driver thinks is open is replaced
//!   before its next use: SQLite ends transactions by itself, as when the disk is full, and the
//!   driver counts them as open for ever.

use std::str::FromStr;
use std::time::{Duration, Instant};

use sqlx::sqlite::{
    SqliteConnectOptions, SqliteConnection, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};
use sqlx::{ConnectOptions, Connection, Row};

use super::{SQLITE_BUSY, SqliteFile, primary_code};
use crate::migrations::migrate_sqlite;
use crate::{CatalogError, DatabaseSettings};

/// Wait for another process that makes or migrates the file.
const OPENING_TIMEOUT: Duration = Duration::from_secs(10);

/// Delay before trying again to switch to write-ahead logging.
const WAL_RETRY_DELAY: Duration = Duration::from_millis(20);

/// Connections for reading: SQLite reads from memory, so more than a few only contend for cores.
const READER_CONNECTIONS: u32 = 4;

/// Rows that SQLite's thread reads ahead: where they are fewer, two threads wait for each other at
/// every one while a catalogue is read.
const ROWS_AHEAD: usize = 1_000;

/// Takes no lock, and reads and writes nothing.
const TRY_TRANSACTION: &str = "BEGIN; ROLLBACK";

/// The write-ahead log shrinks to this many bytes at a checkpoint.
const WAL_SIZE_LIMIT: &str = "67108864";

impl SqliteFile {
    /// Opens `sqlite:<path>` or `sqlite::memory:`, and migrates it.
    pub(crate) async fn open(url: &str, settings: &DatabaseSettings) -> Result<Self, CatalogError> {
        let options = SqliteConnectOptions::from_str(url)
            .map_err(|_| address_error("it has parameters that SQLite does not know"))?;
        let path = url.trim_start_matches("sqlite:").trim_start_matches("//");
        if path.is_empty() || path.starts_with('?') {
            return Err(address_error("it names no file"));
        }
        let options = options
            .create_if_missing(true)
            .foreign_keys(true)
            .busy_timeout(settings.statement_timeout())
            .synchronous(SqliteSynchronous::Full)
            .row_buffer_size(ROWS_AHEAD)
            .pragma("journal_size_limit", WAL_SIZE_LIMIT);
        if path.starts_with(":memory:") {
            Self::open_in_memory(options, settings).await
        } else {
            Self::open_file(options, settings).await
        }
    }

    async fn open_file(
        options: SqliteConnectOptions,
        settings: &DatabaseSettings,
    ) -> Result<Self, CatalogError> {
        let location = options.get_filename().display().to_string();
        let failed = |source| open_error(&location, source);
        let patient = options.clone().busy_timeout(OPENING_TIMEOUT);
        let mut connection = patient.connect().await.map_err(failed)?;
        enable_wal(&mut connection, &location).await?;
        migrate_sqlite(&mut connection, &location).await?;
        // Before the first one is closed: the last one to close removes the write-ahead log.
        let writer = connect(&pool_options(1, settings), &options).await.map_err(failed)?;
        connection.close().await.map_err(failed)?;
        let readers = pool_options(READER_CONNECTIONS, settings)
            .connect_lazy_with(options.pragma("query_only", "ON"));
        Ok(Self { readers, writer, location })
    }

    /// A database in memory lives in its connection, so there is only one, which is never replaced.
    async fn open_in_memory(
        options: SqliteConnectOptions,
        settings: &DatabaseSettings,
    ) -> Result<Self, CatalogError> {
        let location = "(memory)".to_owned();
        let writer = keeping_pool_options(1, settings)
            .connect_with(options.shared_cache(false))
            .await
            .map_err(|source| open_error(&location, source))?;
        let mut connection =
            writer.acquire().await.map_err(|source| open_error(&location, source))?;
        migrate_sqlite(&mut connection, &location).await?;
        drop(connection);
        Ok(Self { readers: writer.clone(), writer, location })
    }
}

/// Opens a pool with its first connection. On a busy machine that may take longer than requests
/// wait for one.
async fn connect(
    pool: &SqlitePoolOptions,
    options: &SqliteConnectOptions,
) -> Result<SqlitePool, sqlx::Error> {
    let deadline = Instant::now() + OPENING_TIMEOUT;
    loop {
        match pool.clone().connect_with(options.clone()).await {
            Err(sqlx::Error::PoolTimedOut) if Instant::now() < deadline => {}
            outcome => return outcome,
        }
    }
}

/// Replaces a connection that was given back with a transaction.
fn pool_options(connections: u32, settings: &DatabaseSettings) -> SqlitePoolOptions {
    keeping_pool_options(connections, settings).before_acquire(|connection, _| {
        Box::pin(async move {
            // Neither SQLite nor the driver is to think that a transaction is open: in one of
            // SQLite's, another cannot begin.
            sqlx::raw_sql(TRY_TRANSACTION).execute(&mut *connection).await?;
            Ok(!connection.is_in_transaction())
        })
    })
}

/// Keeps every connection: one to a local file does not go stale, so none is tested.
fn keeping_pool_options(connections: u32, settings: &DatabaseSettings) -> SqlitePoolOptions {
    SqlitePoolOptions::new()
        .max_connections(connections)
        .acquire_timeout(settings.acquire_timeout())
        .idle_timeout(None)
        .max_lifetime(None)
        .test_before_acquire(false)
}

/// Switches the file to write-ahead logging, which then holds for every connection. The switch does
/// not wait for locks by itself, and two processes may make a new file at the same time.
async fn enable_wal(connection: &mut SqliteConnection, location: &str) -> Result<(), CatalogError> {
    let deadline = Instant::now() + OPENING_TIMEOUT;
    loop {
        let outcome = sqlx::query("PRAGMA journal_mode = WAL").fetch_one(&mut *connection).await;
        let outcome = outcome.and_then(|row| row.try_get::<String, _>(0));
        match outcome {
            Ok(mode) if mode.eq_ignore_ascii_case("wal") => return Ok(()),
            Ok(mode) if Instant::now() >= deadline => {
                return Err(CatalogError::NoWriteAheadLog { location: location.to_owned(), mode });
            }
            Err(source)
                if primary_code(&source) != Some(SQLITE_BUSY) || Instant::now() >= deadline =>
            {
                return Err(open_error(location, source));
            }
            Ok(_) | Err(_) => tokio::time::sleep(WAL_RETRY_DELAY).await,
        }
    }
}

fn open_error(location: &str, source: sqlx::Error) -> CatalogError {
    CatalogError::Open { location: location.to_owned(), source }
}

fn address_error(reason: &str) -> CatalogError {
    CatalogError::BadSqliteAddress { reason: reason.to_owned() }
}
