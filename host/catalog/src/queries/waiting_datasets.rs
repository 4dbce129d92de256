//! Datasets as they will be when what waits is visible, for hosts that turn to them at that instant
//! (contract-21-releases).

use std::sync::Arc;

use yearbook_domain::{ChangeCounts, Dataset, DatasetName, Millis, Snapshot, SnapshotSummary};

use super::commit_times::{future_versions, is_ahead, latest_time, next_commit_time};
use super::sql_enum::RowContext;
use super::waiting_commits::WaitingPublication;
use super::{datasets, snapshots};
use crate::catalog::transaction;
use crate::sql::Connection;
use crate::{Catalog, CatalogError};

const WAITING: &str =
    "SELECT id, dataset, release_at, publication FROM waiting_releases ORDER BY release_at, id";

/// Numbers of snapshots, in the order of [`datasets::summaries`].
const NUMBERS: &str = "SELECT number FROM snapshots WHERE dataset = $1 ORDER BY number";

const COUNTS: &str = "SELECT versions, column_changes FROM datasets WHERE name = $1";

/// A dataset with a version that waits as its current one.
#[derive(Clone, Debug)]
pub struct FutureDataset {
    /// Number of the release.
    pub release: i64,
    /// The instant from which it is so.
    pub release_at: Millis,
    /// The dataset.
    pub dataset: Arc<Dataset>,
}

impl Catalog {
    /// Reads the datasets of which a release waits as they will be, by time.
    ///
    /// # Errors
    /// [`CatalogError::Query`] when the database does not answer or holds a value of a newer
    /// version.
    pub async fn future_datasets(&self) -> Result<Vec<FutureDataset>, CatalogError> {
        transaction!(self, "read what waits", Read, |connection| async {
            let rows: Vec<(i64, String, i64, String)> = connection.query(WAITING).all().await?;
            let mut future = Vec::with_capacity(rows.len());
            for (release, dataset, release_at, publication) in rows {
                let place = RowContext { table: "waiting_releases", row: &dataset };
                let name: DatasetName = place.parse("dataset", &dataset)?;
                let waiting: WaitingPublication = place.decode_json("publication", &publication)?;
                let release_at = Millis(release_at);
                let dataset = Arc::new(assemble(connection, name, waiting, release_at).await?);
                future.push(FutureDataset { release, release_at, dataset });
            }
            Ok(future)
        })
    }
}

/// The dataset as its row and its snapshots will make it.
async fn assemble(
    connection: &mut Connection<'_>,
    name: DatasetName,
    waiting: WaitingPublication,
    release_at: Millis,
) -> Result<Dataset, sqlx::Error> {
    let WaitingPublication { namespace, snapshot, changes, .. } = waiting;
    let mut snapshots = datasets::summaries(connection, &name).await?;
    let (versions, column_changes): (i64, i64) =
        connection.query(COUNTS).bind(name.as_str()).fetch_one().await?;
    let place = RowContext { table: "datasets", row: name.as_str() };
    // As the trigger of the table gives it.
    let version = place.count("versions", versions)?;
    let mut column_changes = place.count("column_changes", column_changes)?;
    let mut latest = latest_time(connection, &name, Millis(i64::MAX)).await?;
    if is_ahead(latest, release_at) {
        // Versions of the future get dates of the past, as they do in the database at this time.
        let dates = future_versions(connection, &name, release_at).await?;
        let numbers: Vec<(i64,)> = connection.query(NUMBERS).bind(name.as_str()).all().await?;
        for (summary, (number,)) in snapshots.iter_mut().zip(numbers) {
            if let Some((_, at)) = dates.iter().find(|(dated, _)| *dated == number) {
                summary.created_at = *at;
            }
        }
        latest = snapshots.iter().map(|summary| summary.created_at).max();
    }
    if let Some(newest) = snapshots.last().filter(|newest| newest.id == snapshot.id) {
        // A retired dataset comes back as it was.
        let current = Arc::new(Snapshot { created_at: newest.created_at, ..snapshot });
        let checked_at = release_at;
        return Ok(Dataset { name, namespace, checked_at, column_changes, current, snapshots });
    }
    let before = snapshots::current(connection, &name).await?;
    column_changes += u64::from(before.is_some_and(|before| !snapshot.has_columns_of(&before)));
    let current = Snapshot { created_at: next_commit_time(latest, release_at), ..snapshot };
    let counts: Option<ChangeCounts> = changes.as_ref().map(|changes| changes.counts);
    snapshots.push(SnapshotSummary {
        id: current.id,
        version,
        created_at: current.created_at,
        rows: current.rows,
        changes: counts,
        largest_revision: changes.and_then(|changes| changes.largest_revision),
        held: false,
        bulk_redistribution: current.bulk_redistribution,
    });
    let checked_at = current.created_at;
    let current = Arc::new(current);
    Ok(Dataset { name, namespace, checked_at, column_changes, current, snapshots })
}
