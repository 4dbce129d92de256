//! A connection with a transaction. A silent server or network is not waited for: a session that is
//! not known to have ended well closes its connection, and the server rolls back the transaction.

use std::sync::Arc;
use std::time::Duration;

use sqlx::Postgres;
use sqlx::pool::PoolConnection;

use super::circuit_breaker::PostgresCircuitBreaker;
use crate::sql::{Connection, TransactionMode, with_timeout};

/// Every statement sees what was committed before it, and a row that is written stays locked until
/// the end: the statements rely on that. Explicit, since a server's default may be another.
const BEGIN_WRITE: &str = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE";

/// Until the transaction ends, nobody else decides what becomes of plugin releases.
const LOCK_RELEASES: &str = "SELECT pg_advisory_xact_lock(79410002, hashtext(current_schema()))";

/// All statements see one instant, and nobody waits.
const BEGIN_READ: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

/// A connection from the pool.
pub(crate) struct PostgresSession {
    connection: PoolConnection<Postgres>,
    limit: Duration,
    transaction: bool,
    /// True when the connection may go back to the pool.
    settled: bool,
    circuit_breaker: Arc<PostgresCircuitBreaker>,
}

impl PostgresSession {
    pub(super) async fn begin(
        connection: PoolConnection<Postgres>,
        mode: TransactionMode,
        limit: Duration,
        circuit_breaker: Arc<PostgresCircuitBreaker>,
    ) -> Result<Self, sqlx::Error> {
        let transaction = !matches!(mode, TransactionMode::Probe | TransactionMode::SingleRead);
        let mut session = Self { connection, limit, transaction, settled: false, circuit_breaker };
        let begun = match mode {
            TransactionMode::Probe | TransactionMode::SingleRead => Ok(()),
            TransactionMode::Read => session.execute_raw(BEGIN_READ).await,
            TransactionMode::Write => session.execute_raw(BEGIN_WRITE).await,
            TransactionMode::WriteReleases => match session.execute_raw(BEGIN_WRITE).await {
                Ok(()) => session.connection().query(LOCK_RELEASES).execute().await.map(drop),
                failed => failed,
            },
        };
        match begun {
            Ok(()) => Ok(session),
            Err(error) => {
                session.abandon(&error).await;
                Err(error)
            }
        }
    }

    /// Returns the connection for statements.
    pub(crate) fn connection(&mut self) -> Connection<'_> {
        Connection::Postgres(&mut self.connection, self.limit)
    }

    /// Commits the transaction.
    pub(crate) async fn commit(self) -> Result<(), sqlx::Error> {
        self.end("COMMIT").await
    }

    /// Rolls the transaction back without an error.
    pub(crate) async fn roll_back(self) -> Result<(), sqlx::Error> {
        self.end("ROLLBACK").await
    }

    async fn end(mut self, statement: &'static str) -> Result<(), sqlx::Error> {
        if self.transaction {
            let ended = self.execute_raw(statement).await;
            ended.inspect_err(|error| self.circuit_breaker.failed(error))?;
        }
        self.settled = true;
        self.circuit_breaker.record_success();
        Ok(())
    }

    /// Rolls the transaction back because of `error`.
    pub(crate) async fn abandon(mut self, error: &sqlx::Error) {
        self.circuit_breaker.failed(error);
        // Any error but one that the server sent leaves the protocol in the middle.
        if error.as_database_error().is_some() {
            self.settled = !self.transaction || self.execute_raw("ROLLBACK").await.is_ok();
        }
    }

    async fn execute_raw(&mut self, sql: &'static str) -> Result<(), sqlx::Error> {
        with_timeout(self.limit, sqlx::raw_sql(sql).execute(&mut *self.connection)).await.map(drop)
    }
}

impl Drop for PostgresSession {
    fn drop(&mut self) {
        if !self.settled {
            self.connection.close_on_drop();
        }
    }
}
