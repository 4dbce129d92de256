//! The catalogue in PostgreSQL, which any number of hosts share. How it is opened stands in
//! `postgres/connect.rs`, how the tables are brought up to date in `postgres/migrate.rs`, what is
//! told between hosts in `postgres/listen.rs`.

mod circuit_breaker;
mod connect;
mod integrity;
mod listen;
mod migrate;
mod session;

#[cfg(test)]
pub(crate) mod tests;

use std::sync::Arc;
use std::time::Duration;

use sqlx::postgres::PgPool;
use tokio::sync::watch;
use tokio::time::timeout;

use crate::database::TransactionMode;
use circuit_breaker::PostgresCircuitBreaker;

pub(crate) use integrity::problems;
pub(crate) use session::PostgresSession;

/// A database on a server.
pub(crate) struct PostgresServer {
    pool: PgPool,
    presence: Arc<PostgresCircuitBreaker>,
    /// How long a statement may take, waits for locks included.
    answer: Duration,
    /// Wakes when a host moved the revision.
    moves: watch::Receiver<()>,
    /// Host and database, for messages.
    pub(crate) location: String,
}

impl PostgresServer {
    /// Begins on a connection of the pool. Refused at once while the database is known to be away.
    pub(crate) async fn begin(
        &self,
        begin: TransactionMode,
    ) -> Result<PostgresSession, sqlx::Error> {
        if begin != TransactionMode::Probe && !self.presence.allows_request() {
            return Err(circuit_breaker::circuit_open_error());
        }
        self.presence.record_attempt();
        let connection =
            self.pool.acquire().await.inspect_err(|error| self.presence.failed(error))?;
        PostgresSession::begin(connection, begin, self.answer, Arc::clone(&self.presence)).await
    }

    /// Wakes when a host moved the revision.
    pub(crate) fn change_notifications(&self) -> watch::Receiver<()> {
        self.moves.clone()
    }

    /// Connections in use come back as soon as their statements have ended; nobody waits longer
    /// than for one.
    pub(crate) async fn close(&self) {
        let _ = timeout(self.answer, self.pool.close()).await;
    }
}
