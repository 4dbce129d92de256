//! Counted requests, within a transaction.

use crate::sql::Connection;

use crate::sql_enum::{RowContext, encode_u64};
use crate::{ReserveOutcome, UsageIncrement, statements};

pub(crate) async fn reserve(
    connection: &mut Connection<'_>,
    key_id: &str,
    month: &str,
    limit: u64,
) -> Result<ReserveOutcome, sqlx::Error> {
    if limit > 0 {
        // A limit beyond what can be counted is none.
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let granted: Option<(i64,)> = connection
            .query(statements::RESERVE_REQUEST)
            .bind(key_id)
            .bind(month)
            .bind(limit)
            .fetch_optional()
            .await?;
        if let Some((used,)) = granted {
            return Ok(ReserveOutcome::Granted { used: decode_count(key_id, used)? });
        }
    }
    Ok(ReserveOutcome::Exhausted { used: used(connection, key_id, month).await? })
}

pub(crate) async fn release(
    connection: &mut Connection<'_>,
    key_id: &str,
    month: &str,
) -> Result<(), sqlx::Error> {
    connection.query(statements::REFUND_REQUEST).bind(key_id).bind(month).execute().await.map(drop)
}

pub(crate) async fn add(
    connection: &mut Connection<'_>,
    counts: &[UsageIncrement],
) -> Result<(), sqlx::Error> {
    // Each row stays locked until the end: in one order, hosts wait for each other and never in a
    // circle.
    let mut counts: Vec<&UsageIncrement> = counts.iter().collect();
    counts.sort_unstable_by(|left, right| {
        (&left.key_id, &left.month).cmp(&(&right.key_id, &right.month))
    });
    for UsageIncrement { key_id, month, requests } in counts {
        connection
            .query(statements::ADD_USAGE)
            .bind(key_id)
            .bind(month)
            .bind(encode_u64(*requests)?)
            .execute()
            .await?;
    }
    Ok(())
}

pub(crate) async fn used(
    connection: &mut Connection<'_>,
    key_id: &str,
    month: &str,
) -> Result<u64, sqlx::Error> {
    let used: Option<(i64,)> =
        connection.query(statements::USED).bind(key_id).bind(month).fetch_optional().await?;
    used.map_or(Ok(0), |(used,)| decode_count(key_id, used))
}

fn decode_count(key_id: &str, used: i64) -> Result<u64, sqlx::Error> {
    RowContext { table: "usage", row: key_id }.count("used", used)
}
