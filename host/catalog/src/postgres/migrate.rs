//! Brings the tables up to date, or says why this version may not.

use sqlx::migrate::{MigrateError, Migrator};
use sqlx::{Connection, PgConnection};

use crate::migrations::check_least_migration;
use crate::{CatalogError, statements};

/// Longest wait for another host that migrates: it is seconds, minutes where a migration rewrites a
/// large table.
const SET_TIMEOUTS: &str = "SET LOCAL lock_timeout = '10min'; SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0";

/// Under a lock, all or nothing: of several hosts that start at once, one migrates and the others
/// find it done.
pub(super) async fn migrate(
    connection: &mut PgConnection,
    location: &str,
) -> Result<(), CatalogError> {
    let told =
        |source: MigrateError| CatalogError::Migrate { location: location.to_owned(), source };
    let failed = |source: sqlx::Error| told(source.into());
    let mut transaction = connection.begin().await.map_err(failed)?;
    sqlx::raw_sql(SET_TIMEOUTS).execute(&mut *transaction).await.map_err(failed)?;
    sqlx::query(statements::LOCK_MIGRATIONS).execute(&mut *transaction).await.map_err(failed)?;
    sqlx::raw_sql(statements::MAKE_SCHEMA).execute(&mut *transaction).await.map_err(failed)?;
    migrator().run_direct(None, &mut *transaction, false).await.map_err(told)?;
    let least = sqlx::query_scalar(statements::LEAST_MIGRATION)
        .fetch_one(&mut *transaction)
        .await
        .map_err(failed)?;
    check_least_migration(location, least, &migrator())?;
    transaction.commit().await.map_err(failed)
}

/// The migrations of `migrations/postgres`, numbered as those of `migrations/sqlite`. Later ones
/// that this binary does not know are no error by themselves: while a fleet is upgraded, an older
/// host may restart on a catalogue that a newer one has expanded.
pub(super) fn migrator() -> Migrator {
    let mut migrator = sqlx::migrate!("../../migrations/postgres");
    // The lock that the migrator would take is one for the whole server; ours is.
    migrator.set_ignore_missing(true).set_locking(false);
    migrator
}
