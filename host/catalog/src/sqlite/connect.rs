//! Opens SQLite so that several processes can share one file and no acknowledged write is lost.
//!
//! - Write-ahead logging: readers never wait for a writer, nor it for them.
//! - `synchronous=FULL`: a commit is on the disk before it is acknowledged. NORMAL would be faster,
//!   but after a power cut a revoked key could work again, a key shown once could be unknown and a
//!   quota could be exceeded (contract-5-exact, contract-5-crash). Plans without a limit
//!   write once a second, not once a request, so the wait falls on limited plans alone.
//! - The lock of the file is waited for, and every write takes it at its beginning.

use std::str::FromStr;
use std::time::{Duration, Instant};

use sqlx::Row;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqlitePoolOptions, SqliteSynchronous};

use super::SqliteFile;
use crate::CatalogError;
use crate::migrations::migrate_sqlite;

/// Wait for another process to finish writing, and for a free connection. A commit
/// holds the lock for milliseconds; the rest is room for a slow disk.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// Delay before trying again to switch to write-ahead logging.
const WAL_RETRY_DELAY: Duration = Duration::from_millis(20);

/// Connections for reading: SQLite reads from memory, so more than a few only contend for cores.
const READER_CONNECTIONS: u32 = 4;

/// The write-ahead log shrinks to this many bytes at a checkpoint.
const WAL_SIZE_LIMIT: &str = "67108864";

impl SqliteFile {
    /// Opens `sqlite:<path>` or `sqlite::memory:`, and migrates it.
    pub(crate) async fn open(url: &str) -> Result<Self, CatalogError> {
        let options = SqliteConnectOptions::from_str(url)
            .map_err(|_| address_error("it has parameters that SQLite does not know"))?;
        let path = url.trim_start_matches("sqlite:").trim_start_matches("//");
        if path.is_empty() || path.starts_with('?') {
            return Err(address_error("it names no file"));
        }
        let options = options
            .create_if_missing(true)
            .foreign_keys(true)
            .busy_timeout(BUSY_TIMEOUT)
            .synchronous(SqliteSynchronous::Full)
            .pragma("journal_size_limit", WAL_SIZE_LIMIT);
        if path.starts_with(":memory:") {
            Self::open_in_memory(options).await
        } else {
            Self::open_file(options).await
        }
    }

    async fn open_file(options: SqliteConnectOptions) -> Result<Self, CatalogError> {
        let location = options.get_filename().display().to_string();
        let writer = pool_options(1)
            .connect_with(options.clone())
            .await
            .map_err(|source| open_error(&location, source))?;
        let mut connection =
            writer.acquire().await.map_err(|source| open_error(&location, source))?;
        enable_wal(&mut connection, &location).await?;
        migrate_sqlite(&mut connection, &location).await?;
        drop(connection);
        let readers =
            pool_options(READER_CONNECTIONS).connect_lazy_with(options.pragma("query_only", "ON"));
        Ok(Self { readers, writer, location })
    }

    /// A database in memory lives in its connection, so there is only one.
    async fn open_in_memory(options: SqliteConnectOptions) -> Result<Self, CatalogError> {
        let location = "(memory)".to_owned();
        let writer = pool_options(1)
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

/// Connections to a local file do not go stale, so none is ever tested or replaced.
fn pool_options(connections: u32) -> SqlitePoolOptions {
    SqlitePoolOptions::new()
        .max_connections(connections)
        .acquire_timeout(BUSY_TIMEOUT)
        .idle_timeout(None)
        .max_lifetime(None)
        .test_before_acquire(false)
}

/// Switches the file to write-ahead logging, which then holds for every connection. The switch does
/// not wait for locks by itself, and two processes may make a new file at the same time.
async fn enable_wal(connection: &mut SqliteConnection, location: &str) -> Result<(), CatalogError> {
    let deadline = Instant::now() + BUSY_TIMEOUT;
    loop {
        let outcome = sqlx::query("PRAGMA journal_mode = WAL").fetch_one(&mut *connection).await;
        let outcome = outcome.and_then(|row| row.try_get::<String, _>(0));
        match outcome {
            Ok(mode) if mode.eq_ignore_ascii_case("wal") => return Ok(()),
            Ok(mode) if Instant::now() >= deadline => {
                return Err(CatalogError::NoWriteAheadLog { location: location.to_owned(), mode });
            }
            Err(source) if !is_busy(&source) || Instant::now() >= deadline => {
                return Err(open_error(location, source));
            }
            Ok(_) | Err(_) => tokio::time::sleep(WAL_RETRY_DELAY).await,
        }
    }
}

/// `SQLITE_BUSY` and its extended codes.
fn is_busy(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(|error| error.code());
    code.and_then(|code| code.parse::<u32>().ok()).is_some_and(|code| code & 0xff == 5)
}

fn open_error(location: &str, source: sqlx::Error) -> CatalogError {
    CatalogError::Open { location: location.to_owned(), source }
}

fn address_error(reason: &str) -> CatalogError {
    CatalogError::BadSqliteAddress { reason: reason.to_owned() }
}
