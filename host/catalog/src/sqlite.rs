//! The catalog in an SQLite file. Several processes may share it (`yearbook serve` beside
//! `yearbook publish`); `sqlite/connect.rs` sets what that takes.

mod connect;

#[cfg(test)]
mod tests;

use sqlx::Transaction;
use sqlx::error::DatabaseError;
use sqlx::pool::PoolConnection;
use sqlx::sqlite::{Sqlite, SqliteError, SqlitePool};

use crate::sql::Connection;

/// Another connection holds the lock of the file.
const SQLITE_BUSY: u32 = 5;

/// The disk has no room.
const SQLITE_FULL: u32 = 13;

/// A file, or a database in memory.
pub(crate) struct SqliteFile {
    readers: SqlitePool,
    /// One connection: within a process writers queue here, first come first served, and only
    /// processes contend for the file's lock.
    writer: SqlitePool,
    /// Path of the file, for messages.
    pub(crate) location: String,
}

impl SqliteFile {
    /// Acquires a connection for one statement that reads.
    pub(crate) async fn acquire_reader(&self) -> Result<PoolConnection<Sqlite>, sqlx::Error> {
        self.readers.acquire().await
    }

    /// Begins a transaction of several statements that see the same instant.
    pub(crate) async fn read(&self) -> Result<Transaction<'static, Sqlite>, sqlx::Error> {
        self.readers.begin().await
    }

    /// Takes the write lock at once: a transaction that began by reading could not wait for it.
    pub(crate) async fn write(&self) -> Result<Transaction<'static, Sqlite>, sqlx::Error> {
        self.writer.begin_with("BEGIN IMMEDIATE").await
    }

    pub(crate) async fn close(&self) {
        self.readers.close().await;
        self.writer.close().await;
    }
}

/// Returns true for an error that says that the disk is full. SQLite has then undone the whole
/// transaction, even where that was about to be committed.
pub(crate) fn is_full(error: &sqlx::Error) -> bool {
    primary_code(error) == Some(SQLITE_FULL)
}

/// Result code of an error of SQLite, without what its extended code adds.
fn primary_code(error: &sqlx::Error) -> Option<u32> {
    let error = error.as_database_error()?.try_downcast_ref::<SqliteError>()?;
    error.code()?.parse::<u32>().ok().map(|code| code & 0xff)
}

/// Looks for damage and returns a sentence for each finding.
pub(crate) async fn problems(connection: &mut Connection<'_>) -> Result<Vec<String>, sqlx::Error> {
    // SQLite itself stops at a hundred sentences; "ok" alone means none.
    let sentences: Vec<(String,)> = connection.query("PRAGMA quick_check").all().await?;
    let mut problems: Vec<String> = sentences
        .into_iter()
        .map(|(sentence,)| sentence)
        .filter(|sentence| sentence != "ok")
        .collect();
    let strays: Vec<(String, Option<i64>, String)> =
        connection.query("PRAGMA foreign_key_check").all().await?;
    problems.extend(strays.iter().map(|(table, _, parent)| {
        format!("a row of {table} refers to a row of {parent} that does not exist")
    }));
    Ok(problems)
}
