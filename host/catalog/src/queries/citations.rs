//! Snapshots as citations state them, those that were dropped and those of retired datasets
//! included (contract-13-after). Never writes.

use std::sync::Arc;

use yearbook_domain::{DatasetName, Millis, ResultDigest, Snapshot, SnapshotId};

use super::snapshots;
use super::sql_enum::RowContext;
use crate::catalog::transaction;
use crate::sql::Connection;
use crate::{Catalog, CatalogError};

const RETIRED_AT: &str = "SELECT retired_at FROM datasets WHERE name = $1";

const DIGEST: &str = "
    SELECT f.digest FROM preview_facts f JOIN snapshots s ON s.number = f.snapshot
    WHERE s.dataset = $1 AND s.id = $2 ORDER BY s.number DESC LIMIT 1";

const TOMBSTONE: &str = "
    SELECT dropped_at, snapshot, digest FROM dropped_snapshots WHERE dataset = $1 AND id = $2";

/// Operation that anybody may ask for with ids that nothing has.
pub(crate) const LOOK_UP_CITATION: &str = "look a citation up";

/// A snapshot that is or was served.
#[derive(Clone, Debug, PartialEq)]
pub struct CitedSnapshot {
    /// Its words.
    pub snapshot: Arc<Snapshot>,
    /// Digest of its rows.
    pub digest: ResultDigest,
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

impl Catalog {
    /// Reads what citations state of a snapshot; `None` where it never existed.
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
    let place = RowContext { table: "dropped_snapshots", row: id.as_str() };
    if let Some(snapshot) = snapshots::snapshot(connection, dataset, id).await? {
        let (digest,): (String,) =
            connection.query(DIGEST).bind(dataset.as_str()).bind(id.as_str()).fetch_one().await?;
        return Ok(Some(CitedSnapshot {
            digest: RowContext { table: "preview_facts", ..place }.parse("digest", &digest)?,
            state: retired_at.map_or(CitedState::Retained, |at| CitedState::Retired(Millis(at))),
            snapshot: Arc::new(snapshot),
        }));
    }
    let tombstone: Option<(i64, String, String)> = connection
        .query(TOMBSTONE)
        .bind(dataset.as_str())
        .bind(id.as_str())
        .fetch_optional()
        .await?;
    let Some((dropped_at, snapshot, digest)) = tombstone else { return Ok(None) };
    Ok(Some(CitedSnapshot {
        snapshot: Arc::new(place.decode_json("snapshot", &snapshot)?),
        digest: place.parse("digest", &digest)?,
        state: CitedState::Dropped(Millis(dropped_at)),
    }))
}
