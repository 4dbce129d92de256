//! The catalog in a database: one method a transaction. The methods stand in `queries/`, each
//! beside its SQL; this file begins and ends their transactions. Has no line for a particular
//! database.

#[cfg(test)]
pub(crate) mod faults;

use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use tokio::sync::watch;

use crate::CatalogError;
use crate::database::{CatalogDescription, Database, DatabaseSession};
use crate::error::DeletedConcurrently;
use crate::sql::TransactionMode;
use crate::sqlite;

/// A catalog, shared by every host and by every command that runs beside them.
///
/// Every method is one transaction. Dropping a future before it is done leaves either all of its
/// effect or none.
pub struct Catalog {
    database: Arc<Database>,
    /// Names this process's uploads.
    uploader: String,
    #[cfg(test)]
    faults: Arc<faults::Faults>,
}

impl Catalog {
    /// Wraps `database`, whose tables are up to date.
    pub(crate) fn new(database: impl Into<Database>) -> Self {
        // Without random numbers no two processes of a machine have the same name, and nothing else
        // of the catalog works.
        let random = getrandom::u64().unwrap_or_default();
        Self {
            database: Arc::new(database.into()),
            uploader: format!("{}-{random:016x}", std::process::id()),
            #[cfg(test)]
            faults: Arc::default(),
        }
    }

    /// Describes the database, for people.
    #[must_use]
    pub fn describe(&self) -> CatalogDescription {
        self.database.describe()
    }

    /// Returns a receiver that wakes when the database notifies of a change, which is sooner than
    /// polling finds out. None: the database sends no notifications.
    #[must_use]
    pub fn change_notifications(&self) -> Option<watch::Receiver<()>> {
        self.database.change_notifications()
    }

    /// Looks through the whole database for damage and returns a sentence for each finding; empty:
    /// sound. Takes as long as reading the database does: for `yearbook doctor`.
    ///
    /// # Errors
    /// [`CatalogError::Query`] when the database does not answer.
    pub async fn check_integrity(&self) -> Result<Vec<String>, CatalogError> {
        transaction!(self, "check itself", SingleRead, |connection| {
            crate::database::problems(connection)
        })
    }

    /// Finishes what is under way and closes every connection. Every later call fails.
    pub async fn close(&self) {
        self.database.close().await;
    }

    /// Name under which this process registers uploads.
    pub(crate) fn uploader(&self) -> &str {
        &self.uploader
    }

    /// Begins a transaction. `operation` completes "the catalog failed to …".
    pub(crate) fn begin(
        &self,
        operation: &'static str,
        mode: TransactionMode,
    ) -> BoxFuture<'_, Result<DatabaseSession, CatalogError>> {
        async move {
            #[cfg(test)]
            self.faults.before(operation).await?;
            self.database.begin(mode).await.map_err(|source| self.failed(operation, source))
        }
        .boxed()
    }

    /// Ends a transaction and returns its outcome: commits a value that `keep` accepts, rolls back
    /// any other value and errors.
    pub(crate) async fn finish<T>(
        &self,
        operation: &'static str,
        session: DatabaseSession,
        outcome: Result<T, sqlx::Error>,
        keep: impl Fn(&T) -> bool,
    ) -> Result<T, CatalogError> {
        match outcome {
            Ok(value) => {
                self.end(operation, session, keep(&value)).await?;
                Ok(value)
            }
            Err(source) => Err(self.abandon(operation, session, source).await),
        }
    }

    /// Commits a transaction, or rolls it back.
    fn end(
        &self,
        operation: &'static str,
        session: DatabaseSession,
        commits: bool,
    ) -> BoxFuture<'_, Result<(), CatalogError>> {
        async move {
            if !commits {
                let rolled_back = session.roll_back().await;
                return rolled_back.map_err(|source| self.failed(operation, source));
            }
            session.commit().await.map_err(|source| {
                if sqlite::is_full(&source) {
                    return self.failed(operation, source);
                }
                let location = self.describe().location;
                CatalogError::CommitUnknown { location, operation, source }
            })
        }
        .boxed()
    }

    /// Rolls a transaction back because of an error.
    fn abandon(
        &self,
        operation: &'static str,
        session: DatabaseSession,
        source: sqlx::Error,
    ) -> BoxFuture<'_, CatalogError> {
        async move {
            session.abandon(&source).await;
            self.failed(operation, source)
        }
        .boxed()
    }

    fn failed(&self, operation: &'static str, source: sqlx::Error) -> CatalogError {
        if let sqlx::Error::Decode(inner) = &source
            && let Some(DeletedConcurrently(stored)) = inner.downcast_ref()
        {
            return CatalogError::DeletedConcurrently(stored.clone());
        }
        CatalogError::Query { location: self.describe().location, operation, source }
    }
}

/// Runs `$work`, a future on `$connection`, in one transaction of `$mode` that commits its value.
/// With `$keep` it commits only values that this predicate accepts. Errors are rolled back.
macro_rules! transaction {
    ($catalog:expr, $operation:expr, $mode:ident, |$connection:ident| $work:expr) => {
        $crate::catalog::transaction!($catalog, $operation, $mode, |_| true, |$connection| $work)
    };
    ($catalog:expr, $operation:expr, $mode:ident, $keep:expr, |$connection:ident| $work:expr) => {{
        let mode = $crate::sql::TransactionMode::$mode;
        let mut session = $catalog.begin($operation, mode).await?;
        let outcome = {
            let $connection = &mut session.connection();
            $work.await
        };
        $catalog.finish($operation, session, outcome, $keep).await
    }};
}

pub(crate) use transaction;
