//! Brings the tables of a database up to date, or refuses with a reason. Under a lock, all or
//! nothing: of several hosts that start at once, one migrates and the others find it done.
//!
//! Later migrations that this binary does not know are no error by themselves: while a fleet is
//! upgraded, an older host may restart on a catalog that a newer one has expanded. A migration that
//! must be known says so in `revision.least_migration`.

use sqlx::Connection;
use sqlx::migrate::{MigrateError, Migrator};
use sqlx::sqlite::SqliteConnection;

use crate::CatalogError;

const LEAST_MIGRATION: &str = "SELECT least_migration FROM revision WHERE only_row = 1";

/// Migrates an SQLite file under its write lock.
///
/// # Errors
/// [`CatalogError::Open`] when the lock is not to be had, [`CatalogError::Migrate`],
/// [`CatalogError::TooNew`].
pub(crate) async fn migrate_sqlite(
    connection: &mut SqliteConnection,
    location: &str,
) -> Result<(), CatalogError> {
    let failed =
        |source: MigrateError| CatalogError::Migrate { location: location.to_owned(), source };
    let mut transaction = connection
        .begin_with("BEGIN IMMEDIATE")
        .await
        .map_err(|source| CatalogError::Open { location: location.to_owned(), source })?;
    let migrator = sqlite_migrator();
    migrator.run_direct(None, &mut *transaction, false).await.map_err(failed)?;
    let least = sqlx::query_scalar(LEAST_MIGRATION).fetch_one(&mut *transaction).await;
    check_least_migration(location, least.map_err(|source| failed(source.into()))?, &migrator)?;
    transaction.commit().await.map_err(|source| failed(source.into()))
}

/// The migrations of `migrations/sqlite`.
pub(crate) fn sqlite_migrator() -> Migrator {
    let mut migrator = sqlx::migrate!("../../migrations/sqlite");
    migrator.set_ignore_missing(true);
    migrator
}

/// Returns the number of the newest migration that this program knows.
pub(crate) fn newest_migration() -> i64 {
    sqlite_migrator().iter().map(|migration| migration.version).max().unwrap_or(0)
}

#[cfg(feature = "postgres")]
pub(crate) use postgres::migrate_postgres;

#[cfg(all(test, feature = "postgres"))]
pub(crate) use postgres::postgres_migrator;

#[cfg(feature = "postgres")]
mod postgres {
    use sqlx::{Connection, PgConnection};

    use super::{CatalogError, LEAST_MIGRATION, MigrateError, Migrator, check_least_migration};

    /// Waits for another host that migrates: seconds, minutes where a migration rewrites a large
    /// table.
    const SET_TIMEOUTS: &str = "SET LOCAL lock_timeout = '10min'; SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0";

    /// Until the transaction ends, no other host migrates.
    const LOCK_MIGRATIONS: &str =
        "SELECT pg_advisory_xact_lock(79410001, hashtext(current_setting('search_path')))";

    /// Makes the schema that the address names, where it does not exist.
    const MAKE_SCHEMA: &str = "
    DO $$ BEGIN
        IF current_schema() IS NULL THEN
            EXECUTE format('CREATE SCHEMA %I', btrim(split_part(current_setting('search_path'), ',', 1), ' \"'));
        END IF;
    END $$";

    /// Migrates a schema of a PostgreSQL server.
    ///
    /// # Errors
    /// [`CatalogError::Migrate`], [`CatalogError::TooNew`].
    pub(crate) async fn migrate_postgres(
        connection: &mut PgConnection,
        location: &str,
    ) -> Result<(), CatalogError> {
        let not_migrated =
            |source: MigrateError| CatalogError::Migrate { location: location.to_owned(), source };
        let failed = |source: sqlx::Error| not_migrated(source.into());
        let mut transaction = connection.begin().await.map_err(failed)?;
        sqlx::raw_sql(SET_TIMEOUTS).execute(&mut *transaction).await.map_err(failed)?;
        sqlx::query(LOCK_MIGRATIONS).execute(&mut *transaction).await.map_err(failed)?;
        sqlx::raw_sql(MAKE_SCHEMA).execute(&mut *transaction).await.map_err(failed)?;
        let migrator = postgres_migrator();
        migrator.run_direct(None, &mut *transaction, false).await.map_err(not_migrated)?;
        let least = sqlx::query_scalar(LEAST_MIGRATION)
            .fetch_one(&mut *transaction)
            .await
            .map_err(failed)?;
        check_least_migration(location, least, &migrator)?;
        transaction.commit().await.map_err(failed)
    }

    /// The migrations of `migrations/postgres`, numbered as those of `migrations/sqlite`.
    pub(crate) fn postgres_migrator() -> Migrator {
        let mut migrator = sqlx::migrate!("../../migrations/postgres");
        // The migrator would take a lock of the whole server; ours is the schema's.
        migrator.set_ignore_missing(true).set_locking(false);
        migrator
    }
}

/// Refuses tables that a migration has contracted and that this binary does not know. Migrations
/// that only expand do not matter.
fn check_least_migration(location: &str, least: i64, known: &Migrator) -> Result<(), CatalogError> {
    let known = known.iter().map(|migration| migration.version).max().unwrap_or(0);
    if least > known {
        Err(CatalogError::TooNew { location: location.to_owned(), least, known })
    } else {
        Ok(())
    }
}
