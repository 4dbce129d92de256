//! Snapshots that an operator holds: no rule on retention drops them (contract-13-hold). Decides
//! nothing about the others (`publications.rs`).

use yearbook_domain::{DatasetName, SnapshotId};

use super::snapshots::{SnapshotStatus, snapshot_status};
use super::{bump_revision, database_time};
use crate::catalog::transaction;
use crate::sql::Connection;
use crate::{Catalog, CatalogError};

/// Locks the dataset's row, as every writer of its history does.
pub(super) const LOCK_DATASET: &str = "UPDATE datasets SET checked_at = checked_at WHERE name = $1";

/// The history may hold an id twice; the newest is held.
const HOLD: &str = "
    UPDATE snapshots SET held_at = $3
    WHERE held_at IS NULL AND number = (SELECT MAX(number) FROM snapshots WHERE dataset = $1 AND id = $2)";

const RESTORE: &str = "UPDATE snapshots SET held_at = $2 WHERE number = $1";

/// Effect of a hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HoldOutcome {
    /// The snapshot is held from now on.
    Held,
    /// It was held already.
    AlreadyHeld,
    /// It was dropped before, and its file is gone.
    Dropped,
    /// It never existed.
    Unknown,
}

impl Catalog {
    /// Keeps a retained snapshot for ever, whatever the rules on retention say.
    ///
    /// # Errors
    /// [`CatalogError::Query`] when the database does not answer.
    pub async fn hold_snapshot(
        &self,
        dataset: &DatasetName,
        id: &SnapshotId,
    ) -> Result<HoldOutcome, CatalogError> {
        transaction!(self, "hold a snapshot", Write, |connection| hold(connection, dataset, id))
    }
}

async fn hold(
    connection: &mut Connection<'_>,
    dataset: &DatasetName,
    id: &SnapshotId,
) -> Result<HoldOutcome, sqlx::Error> {
    connection.query(LOCK_DATASET).bind(dataset.as_str()).execute().await?;
    let now = database_time(connection).await?;
    let held = connection
        .query(HOLD)
        .bind(dataset.as_str())
        .bind(id.as_str())
        .bind(now.0)
        .execute()
        .await?;
    if held > 0 {
        bump_revision(connection).await?;
        return Ok(HoldOutcome::Held);
    }
    Ok(match snapshot_status(connection, dataset, id).await? {
        SnapshotStatus::Retained => HoldOutcome::AlreadyHeld,
        SnapshotStatus::Dropped => HoldOutcome::Dropped,
        SnapshotStatus::Unknown => HoldOutcome::Unknown,
    })
}

/// Gives the hold of a snapshot whose file was written again to the row that took its place.
pub(super) async fn restore(
    connection: &mut Connection<'_>,
    number: i64,
    held_at: Option<i64>,
) -> Result<(), sqlx::Error> {
    connection.query(RESTORE).bind(number).bind(held_at).execute().await.map(drop)
}
