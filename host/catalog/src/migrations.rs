//! What holds for the migrations of every database.

use sqlx::migrate::Migrator;

use crate::CatalogError;

/// Refuses tables that a migration has contracted (`revision.least_migration`) which this binary
/// does not know. Those that only expand are none of its business.
pub(crate) fn check_least_migration(
    location: &str,
    least: i64,
    known: &Migrator,
) -> Result<(), CatalogError> {
    let known = known.iter().map(|migration| migration.version).max().unwrap_or(0);
    if least > known {
        Err(CatalogError::TooNew { location: location.to_owned(), least, known })
    } else {
        Ok(())
    }
}
