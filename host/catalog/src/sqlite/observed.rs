//! What hosts observe of plugin releases, within a transaction.

use sqlx::SqliteConnection;

use crate::rows::{TrialRow, UseRow};
use crate::words::whole;
use crate::{ReleaseUse, Trial, statements};

pub(super) async fn add_trial(connection: &mut SqliteConnection, seen: &Trial) -> Result<Trial, sqlx::Error> {
    let row: TrialRow = sqlx::query_as(statements::ADD_TRIAL)
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
        .fetch_one(connection)
        .await?;
    row.read()
}

pub(super) async fn trials(connection: &mut SqliteConnection) -> Result<Vec<Trial>, sqlx::Error> {
    let rows: Vec<TrialRow> = sqlx::query_as(statements::TRIALS).fetch_all(connection).await?;
    rows.into_iter().map(TrialRow::read).collect()
}

pub(super) async fn add_use(connection: &mut SqliteConnection, seen: &[ReleaseUse]) -> Result<(), sqlx::Error> {
    for ReleaseUse { id, responses, failures, last_at } in seen {
        sqlx::query(statements::ADD_USE)
            .bind(&id.kind)
            .bind(&id.name)
            .bind(&id.digest)
            .bind(whole(*responses)?)
            .bind(whole(*failures)?)
            .bind(last_at.0)
            .execute(&mut *connection)
            .await?;
    }
    Ok(())
}

pub(super) async fn uses(connection: &mut SqliteConnection) -> Result<Vec<ReleaseUse>, sqlx::Error> {
    let rows: Vec<UseRow> = sqlx::query_as(statements::USES).fetch_all(connection).await?;
    rows.into_iter().map(UseRow::read).collect()
}
