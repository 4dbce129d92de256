//! Counted requests, within a transaction.

use crate::sql::Connection;

use crate::words::{Place, encode_u64};
use crate::{Reserved, UsageIncrement, statements};

pub(crate) async fn reserve(
    connection: &mut Connection<'_>,
    key_id: &str,
    month: &str,
    limit: u64,
) -> Result<Reserved, sqlx::Error> {
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
            return Ok(Reserved::Granted { used: decode_count(key_id, used)? });
        }
    }
    Ok(Reserved::UsedUp { used: used(connection, key_id, month).await? })
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
    Place { table: "usage", row: key_id }.count("used", used)
}
