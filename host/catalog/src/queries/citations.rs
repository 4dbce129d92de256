//! Snapshots as citations state them, those that were dropped and those of retired datasets
//! included (contract-13-after). Never writes.

use std::sync::Arc;

use yearbook_domain::{DatasetName, Millis, ResultDigest, Snapshot, SnapshotId};

use super::sql_enum::RowContext;
use super::{commit_time, snapshots};
use crate::catalog::transaction;
use crate::database::sql::Connection;
use crate::{Catalog, CatalogError};

const RETIRED_AT: &str = "SELECT retired_at FROM datasets WHERE name = $1";

const DIGEST: &str = "
    SELECT f.digest FROM preview_facts f JOIN snapshots s ON s.number = f.snapshot
    WHERE s.dataset = $1 AND s.id = $2 ORDER BY s.number DESC LIMIT 1";

const TOMBSTONE: &str = "
    SELECT created_at, dropped_at, snapshot, digest FROM dropped_snapshots WHERE dataset = $1 AND id = $2";

/// Operation that anybody may ask for with ids that nothing has.
pub(crate) const LOOK_UP_CITATION: &str = "look a citation up";

/// A snapshot that is or was served.
#[derive(Clone, Debug, PartialEq)]
pub struct CitedSnapshot {
    /// Its words. Of one that an older version dropped, they are those of the current snapshot.
    pub snapshot: Arc<Snapshot>,
    /// Number of its rows; none: an older version dropped it and kept no number.
    pub rows: Option<u64>,
    /// Digest of its rows; none: not computed yet, or an older version dropped it.
    pub digest: Option<ResultDigest>,
    /// Its rows, still there or not.
    pub state: CitedState,
}

/// State of the rows of a cited snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CitedState {
    /// They can.
    Retained,
    /// They were dropped at this time.
    Dropped(Millis),
    /// The dataset was retired at this time.
    Retired(Millis),
}

/// A row of `dropped_snapshots`.
#[derive(sqlx::FromRow)]
struct TombstoneRow {
    created_at: i64,
    dropped_at: i64,
    snapshot: Option<String>,
    digest: Option<String>,
}

impl Catalog {
    /// Reads what citations state of a snapshot; none where it never existed.
    ///
    /// # Errors
    /// [`CatalogError::Query`] when the database does not answer or holds a value of a newer
    /// version.
    pub async fn cited_snapshot(
        &self,
        dataset: &DatasetName,
        id: &SnapshotId,
    ) -> Result<Option<CitedSnapshot>, CatalogError> {
        transaction!(self, LOOK_UP_CITATION, Read, |connection| { cited(connection, dataset, id) })
    }
}

async fn cited(
    connection: &mut Connection<'_>,
    dataset: &DatasetName,
    id: &SnapshotId,
) -> Result<Option<CitedSnapshot>, sqlx::Error> {
    let retired: Option<(Option<i64>,)> =
        connection.query(RETIRED_AT).bind(dataset.as_str()).fetch_optional().await?;
    let Some((retired_at,)) = retired else { return Ok(None) };
    if let Some(snapshot) = snapshots::snapshot(connection, dataset, id).await? {
        let digest: Option<(String,)> = connection
            .query(DIGEST)
            .bind(dataset.as_str())
            .bind(id.as_str())
            .fetch_optional()
            .await?;
        return Ok(Some(CitedSnapshot {
            rows: Some(snapshot.rows),
            digest: digest.and_then(|(digest,)| ResultDigest::parse(&digest)),
            state: retired_at.map_or(CitedState::Retained, |at| CitedState::Retired(Millis(at))),
            snapshot: Arc::new(snapshot),
        }));
    }
    let tombstone: Option<TombstoneRow> = connection
        .query(TOMBSTONE)
        .bind(dataset.as_str())
        .bind(id.as_str())
        .fetch_optional()
        .await?;
    let Some(tombstone) = tombstone else { return Ok(None) };
    read_tombstone(connection, dataset, id, tombstone).await
}

async fn read_tombstone(
    connection: &mut Connection<'_>,
    dataset: &DatasetName,
    id: &SnapshotId,
    tombstone: TombstoneRow,
) -> Result<Option<CitedSnapshot>, sqlx::Error> {
    let TombstoneRow { created_at, dropped_at, snapshot, digest } = tombstone;
    let place = RowContext { table: "dropped_snapshots", row: id.as_str() };
    let kept: Option<Snapshot> =
        snapshot.map(|json| place.decode_json("snapshot", &json)).transpose()?;
    let rows = kept.as_ref().map(|snapshot| snapshot.rows);
    let words = match kept {
        Some(snapshot) => Some(snapshot),
        // The newest snapshot of a dataset is always retained.
        None => snapshots::current(connection, dataset).await?,
    };
    Ok(words.map(|words| CitedSnapshot {
        snapshot: Arc::new(Snapshot { id: *id, created_at: commit_time(created_at), ..words }),
        rows,
        digest: digest.and_then(|digest| ResultDigest::parse(&digest)),
        state: CitedState::Dropped(Millis(dropped_at)),
    }))
}
