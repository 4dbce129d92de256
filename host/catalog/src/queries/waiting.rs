//! Releases that wait for their time (contract-21-releases): which there are, their files, and what
//! operators do with them. Never commits one (`waiting_commits.rs`).

use std::collections::HashSet;
use std::time::Duration;

use yearbook_domain::{Announcement, DatasetName, Digest, Millis, ObjectKey, SnapshotId};

use super::sql_enum::RowContext;
use super::{bump_waiting, database_time, holds, unreferenced};
use crate::catalog::transaction;
use crate::sql::Connection;
use crate::{Catalog, CatalogError};

/// Time before a release in which it is neither withdrawn nor moved: by then every host knows it.
const LAST_SECONDS: Duration = Duration::from_secs(10);

/// Selects what waits. A dataset has one at most, and so one announcement of it.
macro_rules! waiting {
    ($which:literal) => {
        concat!(
            "SELECT w.id, w.dataset, w.snapshot_id, w.release_at,
                (SELECT a.title FROM announcements a WHERE a.dataset = w.dataset AND a.snapshot_id IS NULL) AS announced
            FROM waiting_releases w",
            $which
        )
    };
}

const ALL: &str = waiting!(" ORDER BY w.release_at, w.id");

const OF_DATASET: &str = waiting!(" WHERE w.dataset = $1");

const DATASET_OF: &str = "SELECT dataset FROM waiting_releases WHERE id = $1";

const WITHDRAW: &str =
    "DELETE FROM waiting_releases WHERE id = $1 RETURNING file_sha256, changes_sha256";

const MOVE: &str = "UPDATE waiting_releases SET release_at = $2 WHERE id = $1";

const MOVE_ANNOUNCEMENT: &str = "
    UPDATE announcements SET release_at = $2, moves = moves + CASE WHEN release_at <> $2 THEN 1 ELSE 0 END
    WHERE dataset = $1 AND snapshot_id IS NULL";

const TAKE_BACK: &str = "DELETE FROM announcements WHERE dataset = $1 AND snapshot_id IS NULL";

const WAITING_FILES: &str = "SELECT sha256 FROM waiting_files";

const RELEASED_FILES: &str = "
    SELECT sha256 FROM waiting_files WHERE sha256 NOT IN (
        SELECT file_sha256 FROM waiting_releases
        UNION SELECT changes_sha256 FROM waiting_releases WHERE changes_sha256 IS NOT NULL)";

/// Selects the newest versions that have waited: they became visible at another time than that of
/// their commit, or late.
const RELEASED_VERSIONS: &str = "
    SELECT s.dataset, s.version FROM log_entries l
    JOIN snapshots s ON s.dataset = l.dataset AND s.version = l.version
    WHERE l.committed_at <> l.released_at
    AND s.number = (SELECT MAX(newer.number) FROM snapshots newer WHERE newer.dataset = l.dataset)
    ORDER BY s.dataset";

const FORGET_FILE: &str = "DELETE FROM waiting_files WHERE sha256 = $1";

const ANNOUNCEMENTS: &str = "
    SELECT id, dataset, title, announced_at, release_at, moves, snapshot_id FROM announcements
    WHERE release_at >= $1 ORDER BY release_at, id";

/// Announcements of the past that anybody reads, milliseconds: the calendar's 92 days, and a few.
const ANNOUNCED_FOR_MS: i64 = 100 * 86_400_000;

/// A release that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingRelease {
    /// Its number, by which operators name it.
    pub id: i64,
    /// The dataset.
    pub dataset: DatasetName,
    /// The snapshot that will be visible.
    pub snapshot: SnapshotId,
    /// The instant, a whole second.
    pub release_at: Millis,
    /// Title of its announcement; `None` if nobody is told.
    pub announced: Option<String>,
}

/// Effect of withdrawing or moving a release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangeOfWaiting {
    /// It is done.
    Done(DatasetName),
    /// No release with this number waits.
    Unknown,
    /// It is due too soon, at this time.
    TooLate(Millis),
    /// The new time is too near, or past.
    TooNear,
}

impl Catalog {
    /// Lists what waits, by time.
    ///
    /// # Errors
    /// [`CatalogError::Query`] when the database does not answer or holds a value of a newer
    /// version.
    pub async fn waiting_releases(&self) -> Result<Vec<WaitingRelease>, CatalogError> {
        transaction!(self, "list waiting releases", SingleRead, |connection| async {
            let rows: Vec<WaitingRow> = connection.query(ALL).all().await?;
            rows.into_iter().map(WaitingRow::read).collect()
        })
    }

    /// Reads the release of a dataset that waits.
    ///
    /// # Errors
    /// As [`Catalog::waiting_releases`].
    pub async fn waiting_release(
        &self,
        dataset: &DatasetName,
    ) -> Result<Option<WaitingRelease>, CatalogError> {
        transaction!(self, "look a release up", SingleRead, |connection| {
            of_dataset(connection, dataset)
        })
    }

    /// Withdraws a release: it is as if it had never been committed.
    ///
    /// # Errors
    /// As [`Catalog::waiting_releases`].
    pub async fn withdraw_release(&self, id: i64) -> Result<ChangeOfWaiting, CatalogError> {
        let keep = |change: &ChangeOfWaiting| matches!(change, ChangeOfWaiting::Done(_));
        transaction!(self, "withdraw a release", Write, keep, |connection| async {
            let waiting = match lock(connection, id).await? {
                Ok(waiting) => waiting,
                Err(refused) => return Ok(refused),
            };
            withdraw(connection, &waiting, false).await?;
            bump_waiting(connection).await?;
            Ok(ChangeOfWaiting::Done(waiting.dataset))
        })
    }

    /// Moves a release to another instant.
    ///
    /// # Errors
    /// As [`Catalog::waiting_releases`].
    pub async fn move_release(&self, id: i64, to: Millis) -> Result<ChangeOfWaiting, CatalogError> {
        let keep = |change: &ChangeOfWaiting| matches!(change, ChangeOfWaiting::Done(_));
        transaction!(self, "move a release", Write, keep, |connection| async {
            let waiting = match lock(connection, id).await? {
                Ok(waiting) => waiting,
                Err(refused) => return Ok(refused),
            };
            if is_near(to, database_time(connection).await?) {
                return Ok(ChangeOfWaiting::TooNear);
            }
            connection.query(MOVE).bind(id).bind(to.0).execute().await?;
            let statement = connection.query(MOVE_ANNOUNCEMENT).bind(waiting.dataset.as_str());
            statement.bind(to.0).execute().await?;
            bump_waiting(connection).await?;
            Ok(ChangeOfWaiting::Done(waiting.dataset))
        })
    }

    /// Lists the files below `waiting/`: those of released versions alone, or all.
    ///
    /// # Errors
    /// As [`Catalog::waiting_releases`].
    pub async fn waiting_files(&self, released: bool) -> Result<HashSet<Digest>, CatalogError> {
        let statement = if released { RELEASED_FILES } else { WAITING_FILES };
        transaction!(self, "list files that waited", SingleRead, |connection| async {
            let rows: Vec<(String,)> = connection.query(statement).all().await?;
            let place = RowContext { table: "waiting_files", row: "all" };
            rows.into_iter().map(|(sha256,)| place.parse("sha256", &sha256)).collect()
        })
    }

    /// Lists the datasets whose newest version was released at a time, with that version.
    ///
    /// # Errors
    /// As [`Catalog::waiting_releases`].
    pub async fn released_versions(&self) -> Result<Vec<(DatasetName, u64)>, CatalogError> {
        transaction!(self, "list released versions", SingleRead, |connection| async {
            let rows: Vec<(String, i64)> = connection.query(RELEASED_VERSIONS).all().await?;
            let read = |(name, version): (String, i64)| {
                let place = RowContext { table: "snapshots", row: &name };
                Ok((place.parse("dataset", &name)?, place.count("version", version)?))
            };
            rows.into_iter().map(read).collect()
        })
    }

    /// Records that the file of a released version lies with the others now.
    ///
    /// # Errors
    /// As [`Catalog::waiting_releases`].
    pub async fn record_moved_file(&self, file: &Digest) -> Result<(), CatalogError> {
        transaction!(self, "record that a file was moved", Write, |connection| async {
            connection.query(FORGET_FILE).bind(file.as_str()).execute().await?;
            unreferenced::drop_references(connection, &[ObjectKey::waiting(file)]).await?;
            bump_waiting(connection).await
        })
    }

    /// Lists announced releases, coming ones and those of the last hundred days, by time.
    ///
    /// # Errors
    /// As [`Catalog::waiting_releases`].
    pub async fn announcements(&self) -> Result<Vec<Announcement>, CatalogError> {
        transaction!(self, "list announcements", Read, |connection| async {
            let since = database_time(connection).await?.0.saturating_sub(ANNOUNCED_FOR_MS);
            let rows: Vec<AnnouncementRow> =
                connection.query(ANNOUNCEMENTS).bind(since).all().await?;
            rows.into_iter().map(AnnouncementRow::read).collect()
        })
    }
}

/// A row of `waiting_releases`.
#[derive(sqlx::FromRow)]
struct WaitingRow {
    id: i64,
    dataset: String,
    snapshot_id: String,
    release_at: i64,
    announced: Option<String>,
}

impl WaitingRow {
    fn read(self) -> Result<WaitingRelease, sqlx::Error> {
        let place = RowContext { table: "waiting_releases", row: &self.dataset };
        Ok(WaitingRelease {
            id: self.id,
            dataset: place.parse("dataset", &self.dataset)?,
            snapshot: place.parse("snapshot_id", &self.snapshot_id)?,
            release_at: Millis(self.release_at),
            announced: self.announced,
        })
    }
}

/// A row of `announcements`.
#[derive(sqlx::FromRow)]
struct AnnouncementRow {
    id: i64,
    dataset: String,
    title: String,
    announced_at: i64,
    release_at: i64,
    moves: i64,
    snapshot_id: Option<String>,
}

impl AnnouncementRow {
    fn read(self) -> Result<Announcement, sqlx::Error> {
        let place = RowContext { table: "announcements", row: &self.dataset };
        let snapshot = self.snapshot_id.map(|id| place.parse("snapshot_id", &id)).transpose()?;
        Ok(Announcement {
            id: self.id,
            dataset: place.parse("dataset", &self.dataset)?,
            title: self.title,
            announced_at: Millis(self.announced_at),
            release_at: Millis(self.release_at),
            moves: u32::try_from(self.moves).unwrap_or(u32::MAX),
            snapshot,
        })
    }
}

/// Reads the release of a dataset that waits.
pub(super) async fn of_dataset(
    connection: &mut Connection<'_>,
    dataset: &DatasetName,
) -> Result<Option<WaitingRelease>, sqlx::Error> {
    let statement = connection.query(OF_DATASET).bind(dataset.as_str());
    statement.fetch_optional::<WaitingRow>().await?.map(WaitingRow::read).transpose()
}

/// Withdraws a release whose dataset is locked. With `replaced`, another takes the place of its
/// announcement.
pub(super) async fn withdraw(
    connection: &mut Connection<'_>,
    waiting: &WaitingRelease,
    replaced: bool,
) -> Result<(), sqlx::Error> {
    let (file, changes): (String, Option<String>) =
        connection.query(WITHDRAW).bind(waiting.id).fetch_one().await?;
    let place = RowContext { table: "waiting_releases", row: waiting.dataset.as_str() };
    let mut unnamed = Vec::new();
    for file in std::iter::once(file).chain(changes) {
        let sha256: Digest = place.parse("file_sha256", &file)?;
        // Others may have the same changes.
        if !unreferenced::is_referenced(connection, &ObjectKey::snapshot(&sha256)).await? {
            connection.query(FORGET_FILE).bind(file.as_str()).execute().await?;
            unnamed.push(ObjectKey::waiting(&sha256));
        }
    }
    if !replaced {
        connection.query(TAKE_BACK).bind(waiting.dataset.as_str()).execute().await?;
    }
    unreferenced::drop_references(connection, &unnamed).await
}

/// Returns true where `at` is past, or so near that not every host would know it.
#[must_use]
pub fn is_near(at: Millis, now: Millis) -> bool {
    let last = i64::try_from(LAST_SECONDS.as_millis()).unwrap_or(i64::MAX);
    at.0 < now.0.saturating_add(last)
}

/// Locks the dataset of a release and returns its name; `None` if no such release waits.
pub(super) async fn lock_dataset_of(
    connection: &mut Connection<'_>,
    id: i64,
) -> Result<Option<DatasetName>, sqlx::Error> {
    let found: Option<(String,)> = connection.query(DATASET_OF).bind(id).fetch_optional().await?;
    let Some((dataset,)) = found else { return Ok(None) };
    let place = RowContext { table: "waiting_releases", row: &dataset };
    let dataset: DatasetName = place.parse("dataset", &dataset)?;
    connection.query(holds::LOCK_DATASET).bind(dataset.as_str()).execute().await?;
    Ok(Some(dataset))
}

/// Locks the dataset of a release that may still be changed; else says why it may not.
async fn lock(
    connection: &mut Connection<'_>,
    id: i64,
) -> Result<Result<WaitingRelease, ChangeOfWaiting>, sqlx::Error> {
    let Some(dataset) = lock_dataset_of(connection, id).await? else {
        return Ok(Err(ChangeOfWaiting::Unknown));
    };
    let waiting = of_dataset(connection, &dataset).await?.filter(|waiting| waiting.id == id);
    let Some(waiting) = waiting else { return Ok(Err(ChangeOfWaiting::Unknown)) };
    if is_near(waiting.release_at, database_time(connection).await?) {
        return Ok(Err(ChangeOfWaiting::TooLate(waiting.release_at)));
    }
    Ok(Ok(waiting))
}
