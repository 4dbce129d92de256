//! The catalog in PostgreSQL, which any number of hosts share. `postgres/connect.rs` opens it,
//! `migrations.rs` brings the tables up to date, `postgres/listen.rs` receives notifications of
//! other hosts.

mod circuit_breaker;
mod connect;
mod listen;
mod session;

#[cfg(test)]
pub(crate) mod tests;

use std::sync::Arc;
use std::time::Duration;

use sqlx::postgres::PgPool;
use tokio::sync::watch;
use tokio::time::timeout;

use crate::sql::{Connection, TransactionMode};
use circuit_breaker::PostgresCircuitBreaker;

pub(crate) use session::PostgresSession;

/// A database on a server.
pub(crate) struct PostgresServer {
    pool: PgPool,
    circuit_breaker: Arc<PostgresCircuitBreaker>,
    /// Limit of a statement's time, waits for locks included.
    answer: Duration,
    /// Wakes when a host moved the revision.
    notifications: watch::Receiver<()>,
    /// Host and database, for messages.
    pub(crate) location: String,
}

impl PostgresServer {
    /// Begins on a connection of the pool. Fails at once while the circuit breaker is open.
    pub(crate) async fn begin(
        &self,
        mode: TransactionMode,
    ) -> Result<PostgresSession, sqlx::Error> {
        if mode != TransactionMode::Probe && !self.circuit_breaker.allows_request() {
            return Err(circuit_breaker::circuit_open_error());
        }
        self.circuit_breaker.record_attempt();
        let connection =
            self.pool.acquire().await.inspect_err(|error| self.circuit_breaker.failed(error))?;
        PostgresSession::begin(connection, mode, self.answer, Arc::clone(&self.circuit_breaker))
            .await
    }

    /// Returns a receiver that wakes when a host moved the revision.
    pub(crate) fn change_notifications(&self) -> watch::Receiver<()> {
        self.notifications.clone()
    }

    /// Closes the pool. Connections in use come back as soon as their statements have ended; this
    /// waits no longer than one statement may take.
    pub(crate) async fn close(&self) {
        let _ = timeout(self.answer, self.pool.close()).await;
    }
}

/// Queries that count what should not be, each with the sentence for it. The server itself enforces
/// foreign keys and checks.
const INTEGRITY_CHECKS: [(&str, &str); 4] = [
    (
        "SELECT COUNT(*) FROM pg_settings WHERE name = 'server_encoding' AND setting <> 'UTF8'",
        "the database's encoding is not UTF8",
    ),
    (
        "SELECT COUNT(*) FROM pg_settings WHERE name = 'synchronous_commit' AND setting = 'off'",
        "synchronous_commit is off: after a crash of the server a revoked key may work again, and a quota may be exceeded",
    ),
    (
        "SELECT COUNT(*) FROM datasets d WHERE d.retired_at IS NULL AND d.versions > 0 AND NOT EXISTS (SELECT 1 FROM snapshots s WHERE s.dataset = d.name)",
        "a dataset has no snapshot",
    ),
    (
        "SELECT COUNT(*) FROM pg_constraint WHERE NOT convalidated AND connamespace = current_schema()::regnamespace",
        "a constraint was never checked against the rows that are there",
    ),
];

/// Looks for damage, and for a server that does not suit; returns a sentence for each finding.
pub(crate) async fn problems(connection: &mut Connection<'_>) -> Result<Vec<String>, sqlx::Error> {
    let mut problems = Vec::new();
    let (standby,): (bool,) = connection.query("SELECT pg_is_in_recovery()").fetch_one().await?;
    if standby {
        problems.push(
            "the server is a standby, which takes no writes: use the address of the primary"
                .to_owned(),
        );
    }
    for (question, sentence) in INTEGRITY_CHECKS {
        let (found,): (i64,) = connection.query(question).fetch_one().await?;
        if found > 0 {
            problems.push(sentence.to_owned());
        }
    }
    Ok(problems)
}
