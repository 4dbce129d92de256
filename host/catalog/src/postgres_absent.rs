//! Stand-in for PostgreSQL where the feature `postgres` is off: the same names, no value of theirs,
//! and an error that names the build that has it.

use std::convert::Infallible;

use tokio::sync::watch;

use crate::sql::{Connection, TransactionMode};
use crate::{CatalogError, DatabaseSettings};

/// A database on a server, which this build cannot reach.
pub(crate) struct PostgresServer {
    /// Host and database, for messages.
    pub(crate) location: String,
    absent: Infallible,
}

/// A connection to one, likewise.
pub(crate) struct PostgresSession(Infallible);

#[expect(clippy::unused_async, reason = "the signatures are those of the real thing")]
impl PostgresServer {
    pub(crate) async fn open(
        _url: &str,
        _settings: &DatabaseSettings,
    ) -> Result<Self, CatalogError> {
        Err(CatalogError::FeatureDisabled { what: "PostgreSQL", feature: "postgres" })
    }

    pub(crate) async fn begin(
        &self,
        _mode: TransactionMode,
    ) -> Result<PostgresSession, sqlx::Error> {
        match self.absent {}
    }

    pub(crate) fn change_notifications(&self) -> watch::Receiver<()> {
        match self.absent {}
    }

    pub(crate) async fn close(&self) {
        match self.absent {}
    }
}

#[expect(clippy::unused_async, reason = "the signatures are those of the real thing")]
impl PostgresSession {
    pub(crate) fn connection(&mut self) -> Connection<'_> {
        match self.0 {}
    }

    pub(crate) async fn commit(self) -> Result<(), sqlx::Error> {
        match self.0 {}
    }

    pub(crate) async fn roll_back(self) -> Result<(), sqlx::Error> {
        match self.0 {}
    }

    pub(crate) async fn abandon(self, _error: &sqlx::Error) {
        match self.0 {}
    }
}
