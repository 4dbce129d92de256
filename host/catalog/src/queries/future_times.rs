//! Times that have not come yet: a clock was ahead when they were written. Reads alone.

use yearbook_domain::Millis;

use super::database_time;
use super::sql_enum::RowContext;
use crate::catalog::transaction;
use crate::{Catalog, CatalogError};

/// Rows that say when something happened, by the words for them.
const HAPPENED: [(&str, &str); 13] = [
    ("snapshots", "SELECT COUNT(*), MAX(created_at) FROM snapshots WHERE created_at > $1"),
    (
        "dropped versions",
        "SELECT COUNT(*), MAX(created_at) FROM past_versions WHERE created_at > $1",
    ),
    ("checks of datasets", "SELECT COUNT(*), MAX(checked_at) FROM datasets WHERE checked_at > $1"),
    ("checks of sources", "SELECT COUNT(*), MAX(ended_at) FROM source_checks WHERE ended_at > $1"),
    ("keys", "SELECT COUNT(*), MAX(created_at) FROM keys WHERE created_at > $1"),
    ("uses of keys", "SELECT COUNT(*), MAX(used_at) FROM key_uses WHERE used_at > $1"),
    ("mailed links", "SELECT COUNT(*), MAX(created_at) FROM signup_links WHERE created_at > $1"),
    ("mails", "SELECT COUNT(*), MAX(created_at) FROM mails WHERE created_at > $1"),
    ("accounts", "SELECT COUNT(*), MAX(created_at) FROM accounts WHERE created_at > $1"),
    (
        "releases of plugins",
        "SELECT COUNT(*), MAX(installed_at) FROM plugin_releases WHERE installed_at > $1",
    ),
    // A day beyond the present: a replaced key works for that long, and no lease ends later.
    (
        "leases and revocations",
        "SELECT COUNT(*), MAX(at) FROM (
            SELECT claimed_until AS at FROM source_checks UNION ALL SELECT revoked_at FROM keys
        ) AS ends WHERE at > $1 + 90000000",
    ),
    // Further beyond the present than any pause between attempts.
    (
        "attempts of webhooks",
        "SELECT COUNT(*), MAX(due_at) FROM webhooks
        WHERE ended_at IS NULL AND due_at > $1 + 97200000",
    ),
    ("unreferenced objects", "SELECT COUNT(*), MAX(since) FROM loose_files WHERE since > $1"),
];

/// Rows of one kind that happened after the present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FutureTimes {
    /// Kind of the rows, "snapshots".
    pub what: &'static str,
    /// Number of them.
    pub rows: u64,
    /// The latest time.
    pub latest: Millis,
}

impl Catalog {
    /// Counts what happened more than `tolerance` milliseconds after the present, by the database's
    /// clock. Kinds without any are left out.
    ///
    /// # Errors
    /// [`CatalogError::Query`] when the database does not answer.
    pub async fn future_times(&self, tolerance: i64) -> Result<Vec<FutureTimes>, CatalogError> {
        transaction!(self, "look for times of the future", Read, |connection| async {
            let latest = database_time(connection).await?.0.saturating_add(tolerance);
            let mut found = Vec::new();
            for (what, statement) in HAPPENED {
                let (rows, latest): (i64, Option<i64>) =
                    connection.query(statement).bind(latest).fetch_one().await?;
                if let Some(latest) = latest {
                    let rows = RowContext { table: what, row: "all" }.count("count", rows)?;
                    found.push(FutureTimes { what, rows, latest: Millis(latest) });
                }
            }
            Ok(found)
        })
    }
}
