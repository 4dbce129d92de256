//! The catalogue in PostgreSQL, which any number of hosts share. How it is opened stands in
//! `postgres/connect.rs`, how the tables are brought up to date in `migrations.rs`, what hosts notify
//! each other of in `postgres/listen.rs`.

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

use crate::database::TransactionMode;
use crate::database::sql::Connection;
use circuit_breaker::PostgresCircuitBreaker;

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
        "SELECT COUNT(*) FROM datasets d WHERE d.retired_at IS NULL AND NOT EXISTS (SELECT 1 FROM snapshots s WHERE s.dataset = d.name)",
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
