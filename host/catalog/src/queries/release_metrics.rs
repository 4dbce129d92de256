//! What hosts observe of plugin releases, within a transaction.

use crate::sql::Connection;

use crate::rows::{CanaryTotalsRow, ReleaseUsageRow};
use crate::sql_enum::encode_u64;
use crate::{CanaryTotals, ReleaseUsage, statements};

pub(crate) async fn add_canary_totals(
    connection: &mut Connection<'_>,
    seen: &CanaryTotals,
) -> Result<CanaryTotals, sqlx::Error> {
    let row: CanaryTotalsRow = connection
        .query(statements::ADD_CANARY_TOTALS)
        .bind(&seen.id.kind)
        .bind(&seen.id.name)
        .bind(&seen.id.digest)
        .bind(&seen.incumbent)
        .bind(encode_u64(seen.samples)?)
        .bind(encode_u64(seen.rewritten)?)
        .bind(encode_u64(seen.cpu_ns)?)
        .bind(encode_u64(seen.incumbent_ns)?)
        .bind(encode_u64(seen.memory)?)
        .bind(encode_u64(seen.incumbent_memory)?)
        .bind(&seen.fault)
        .bind(seen.first_at.0)
        .fetch_one()
        .await?;
    row.read()
}

pub(crate) async fn canary_totals(
    connection: &mut Connection<'_>,
) -> Result<Vec<CanaryTotals>, sqlx::Error> {
    let rows: Vec<CanaryTotalsRow> = connection.query(statements::CANARY_TOTALS).all().await?;
    rows.into_iter().map(CanaryTotalsRow::read).collect()
}

pub(crate) async fn add_release_usage(
    connection: &mut Connection<'_>,
    seen: &[ReleaseUsage],
) -> Result<(), sqlx::Error> {
    // In one order, as for `usage`.
    let mut seen: Vec<&ReleaseUsage> = seen.iter().collect();
    seen.sort_unstable_by_key(|seen| &seen.id);
    for ReleaseUsage { id, responses, failures, last_at } in seen {
        connection
            .query(statements::ADD_RELEASE_USAGE)
            .bind(&id.kind)
            .bind(&id.name)
            .bind(&id.digest)
            .bind(encode_u64(*responses)?)
            .bind(encode_u64(*failures)?)
            .bind(last_at.0)
            .execute()
            .await?;
    }
    Ok(())
}

pub(crate) async fn release_usage(
    connection: &mut Connection<'_>,
) -> Result<Vec<ReleaseUsage>, sqlx::Error> {
    let rows: Vec<ReleaseUsageRow> = connection.query(statements::RELEASE_USAGE).all().await?;
    rows.into_iter().map(ReleaseUsageRow::read).collect()
}
