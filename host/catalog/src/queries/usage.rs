//! Counted requests of keys, by month.

use yearbook_domain::KeyId;

use super::sql_enum::{RowContext, encode_u64};
use crate::catalog::transaction;
use crate::sql::Connection;
use crate::{Catalog, CatalogError};

/// Counts a request in one statement, so that no two hosts can both take the last one. No row: the
/// limit was reached. A limit of 0 must not come here.
const RESERVE_REQUEST: &str = "
    INSERT INTO usage (key_id, month, used) VALUES ($1, $2, 1)
    ON CONFLICT (key_id, month) DO UPDATE SET used = usage.used + 1 WHERE usage.used < $3
    RETURNING used";

const REFUND_REQUEST: &str =
    "UPDATE usage SET used = used - 1 WHERE key_id = $1 AND month = $2 AND used > 0";

const ADD_USAGE: &str = "
    INSERT INTO usage (key_id, month, used) VALUES ($1, $2, $3)
    ON CONFLICT (key_id, month) DO UPDATE SET used = usage.used + excluded.used";

const USED: &str = "SELECT used FROM usage WHERE key_id = $1 AND month = $2";

/// Operation that charges a request.
pub(crate) const COUNT_REQUEST: &str = "count a request";

/// Outcome of a reservation of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReserveOutcome {
    /// Counted; `used` includes it.
    Granted {
        /// Requests of the month, this one included.
        used: u64,
    },
    /// Not counted: the limit was reached.
    Exhausted {
        /// Requests of the month.
        used: u64,
    },
}

/// Requests to add to a key's month.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageIncrement {
    /// Identifier of the key.
    pub key_id: KeyId,
    /// Calendar month in UTC, `2026-11`.
    pub month: String,
    /// Number of requests.
    pub requests: u64,
}

impl Catalog {
    /// Counts one request of `key_id` in `month` if fewer than `limit` are counted: exact however
    /// many hosts ask at once.
    ///
    /// # Errors
    /// [`CatalogError::Query`] when the database does not answer.
    pub async fn reserve_request(
        &self,
        key_id: &KeyId,
        month: &str,
        limit: u64,
    ) -> Result<ReserveOutcome, CatalogError> {
        transaction!(self, COUNT_REQUEST, Write, |connection| async {
            if limit > 0 {
                // A limit beyond what can be counted never ends.
                let limit = i64::try_from(limit).unwrap_or(i64::MAX);
                let granted: Option<(i64,)> = connection
                    .query(RESERVE_REQUEST)
                    .bind(key_id.as_str())
                    .bind(month)
                    .bind(limit)
                    .fetch_optional()
                    .await?;
                if let Some((used,)) = granted {
                    return Ok(ReserveOutcome::Granted { used: decode_count(key_id, used)? });
                }
            }
            Ok(ReserveOutcome::Exhausted { used: used(connection, key_id, month).await? })
        })
    }

    /// Takes one counted request back. Never goes below zero.
    ///
    /// # Errors
    /// [`CatalogError::Query`] when the database does not answer.
    pub async fn refund_request(&self, key_id: &KeyId, month: &str) -> Result<(), CatalogError> {
        transaction!(self, "give a request back", Write, |connection| async {
            connection
                .query(REFUND_REQUEST)
                .bind(key_id.as_str())
                .bind(month)
                .execute()
                .await
                .map(drop)
        })
    }

    /// Adds requests of plans without a limit, all or none.
    ///
    /// # Errors
    /// [`CatalogError::Query`] when the database does not answer.
    pub async fn add_usage(&self, counts: &[UsageIncrement]) -> Result<(), CatalogError> {
        transaction!(self, "add to usage", Write, |connection| async {
            // Each row stays locked until the end: one order for all hosts rules deadlocks out.
            let mut counts: Vec<&UsageIncrement> = counts.iter().collect();
            counts.sort_unstable_by(|left, right| {
                (&left.key_id, &left.month).cmp(&(&right.key_id, &right.month))
            });
            for UsageIncrement { key_id, month, requests } in counts {
                connection
                    .query(ADD_USAGE)
                    .bind(key_id.as_str())
                    .bind(month)
                    .bind(encode_u64(*requests)?)
                    .execute()
                    .await?;
            }
            Ok(())
        })
    }

    /// Reads the requests counted for `key_id` in `month`.
    ///
    /// # Errors
    /// [`CatalogError::Query`] when the database does not answer.
    pub async fn used_requests(&self, key_id: &KeyId, month: &str) -> Result<u64, CatalogError> {
        transaction!(self, "read usage", SingleRead, |connection| used(connection, key_id, month))
    }
}

async fn used(
    connection: &mut Connection<'_>,
    key_id: &KeyId,
    month: &str,
) -> Result<u64, sqlx::Error> {
    let used: Option<(i64,)> =
        connection.query(USED).bind(key_id.as_str()).bind(month).fetch_optional().await?;
    used.map_or(Ok(0), |(used,)| decode_count(key_id, used))
}

fn decode_count(key_id: &KeyId, used: i64) -> Result<u64, sqlx::Error> {
    RowContext { table: "usage", row: key_id.as_str() }.count("used", used)
}
