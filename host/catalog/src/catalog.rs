//! The catalog in a database: one method a transaction. The methods stand in `queries/`, each
//! beside its SQL; this file begins and ends their transactions. Has no line for a particular
//! database.

#[cfg(test)]
pub(crate) mod faults;

use std::sync::Arc;

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
    pub(crate) async fn begin(
        &self,
        operation: &'static str,
        mode: TransactionMode,
    ) -> Result<DatabaseSession, CatalogError> {
        #[cfg(test)]
        self.faults.before(operation).await?;
        self.database.begin(mode).await.map_err(|source| self.failed(operation, source))
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
        let value = match outcome {
            Ok(value) => value,
            Err(source) => {
                session.abandon(&source).await;
                return Err(self.failed(operation, source));
            }
        };
        if keep(&value) {
            let failed = |source| {
                if sqlite::is_full(&source) {
                    return self.failed(operation, source);
                }
                CatalogError::CommitUnknown {
                    location: self.describe().location,
                    operation,
                    source,
                }
            };
            session.commit().await.map_err(failed)?;
        } else {
            session.roll_back().await.map_err(|source| self.failed(operation, source))?;
        }
        Ok(value)
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
