//! Counted requests, within a transaction.

use sqlx::SqliteConnection;

use crate::words::{Place, whole};
use crate::{Reserved, UsageCount, statements};

pub(super) async fn reserve(connection: &mut SqliteConnection, key_id: &str, month: &str, limit: u64) -> Result<Reserved, sqlx::Error> {
    if limit > 0 {
        // A limit beyond what can be counted is none.
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let granted: Option<i64> =
            sqlx::query_scalar(statements::RESERVE).bind(key_id).bind(month).bind(limit).fetch_optional(&mut *connection).await?;
        if let Some(used) = granted {
            return Ok(Reserved::Granted { used: count(key_id, used)? });
        }
    }
    Ok(Reserved::UsedUp { used: used(connection, key_id, month).await? })
}

pub(super) async fn release(connection: &mut SqliteConnection, key_id: &str, month: &str) -> Result<(), sqlx::Error> {
    sqlx::query(statements::RELEASE).bind(key_id).bind(month).execute(connection).await.map(drop)
}

pub(super) async fn add(connection: &mut SqliteConnection, counts: &[UsageCount]) -> Result<(), sqlx::Error> {
    for UsageCount { key_id, month, requests } in counts {
        sqlx::query(statements::ADD_USAGE).bind(key_id).bind(month).bind(whole(*requests)?).execute(&mut *connection).await?;
    }
    Ok(())
}

pub(super) async fn used(connection: &mut SqliteConnection, key_id: &str, month: &str) -> Result<u64, sqlx::Error> {
    let used: Option<i64> = sqlx::query_scalar(statements::USED).bind(key_id).bind(month).fetch_optional(connection).await?;
    used.map_or(Ok(0), |used| count(key_id, used))
}

fn count(key_id: &str, used: i64) -> Result<u64, sqlx::Error> {
    Place { table: "usage", row: key_id }.count("used", used)
}
