//! The catalogue in an SQLite file. Several processes may share it (`yearbook serve` beside
//! `yearbook publish`): see `sqlite/connect.rs` for what that takes.

mod connect;
mod integrity;

#[cfg(test)]
mod tests;

use sqlx::Transaction;
use sqlx::pool::PoolConnection;
use sqlx::sqlite::{Sqlite, SqlitePool};

pub(crate) use integrity::problems;

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
    /// For one statement that reads.
    pub(crate) async fn acquire_reader(&self) -> Result<PoolConnection<Sqlite>, sqlx::Error> {
        self.readers.acquire().await
    }

    /// For several that see the same.
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
