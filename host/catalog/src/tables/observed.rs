//! What hosts observe of plugin releases, within a transaction.

use crate::sql::Connection;

use crate::rows::{TrialRow, UseRow};
use crate::words::whole;
use crate::{ReleaseUse, Trial, statements};

pub(crate) async fn add_trial(
    connection: &mut Connection<'_>,
    seen: &Trial,
) -> Result<Trial, sqlx::Error> {
    let row: TrialRow = connection
        .query(statements::ADD_TRIAL)
        .bind(&seen.id.kind)
        .bind(&seen.id.name)
        .bind(&seen.id.digest)
        .bind(&seen.incumbent)
        .bind(whole(seen.samples)?)
        .bind(whole(seen.rewritten)?)
        .bind(whole(seen.cpu_ns)?)
        .bind(whole(seen.incumbent_ns)?)
        .bind(whole(seen.memory)?)
        .bind(whole(seen.incumbent_memory)?)
        .bind(&seen.fault)
        .bind(seen.first_at.0)
        .one()
        .await?;
    row.read()
}

pub(crate) async fn trials(connection: &mut Connection<'_>) -> Result<Vec<Trial>, sqlx::Error> {
    let rows: Vec<TrialRow> = connection.query(statements::TRIALS).all().await?;
    rows.into_iter().map(TrialRow::read).collect()
}

pub(crate) async fn add_use(
    connection: &mut Connection<'_>,
    seen: &[ReleaseUse],
) -> Result<(), sqlx::Error> {
    // In one order, as for `usage`.
    let mut seen: Vec<&ReleaseUse> = seen.iter().collect();
    seen.sort_unstable_by_key(|seen| &seen.id);
    for ReleaseUse { id, responses, failures, last_at } in seen {
        connection
            .query(statements::ADD_USE)
            .bind(&id.kind)
            .bind(&id.name)
            .bind(&id.digest)
            .bind(whole(*responses)?)
            .bind(whole(*failures)?)
            .bind(last_at.0)
            .execute()
            .await?;
    }
    Ok(())
}

pub(crate) async fn uses(connection: &mut Connection<'_>) -> Result<Vec<ReleaseUse>, sqlx::Error> {
    let rows: Vec<UseRow> = connection.query(statements::USES).all().await?;
    rows.into_iter().map(UseRow::read).collect()
}
