//! Versions that retention dropped and that can be read as of a time (contract-21-history). Some
//! kept their file (`history_writes`); the others are made again from the next version that has
//! one, and from the changes in between. Never reads a stored file.

use std::collections::BTreeSet;

use yearbook_domain::changes::{ChangeSet, HistorySegment};
use yearbook_domain::{
    CalendarUnit, Column, DatasetName, Millis, ResultDigest, Snapshot, SnapshotId,
};

use super::changes;
use super::snapshots;
use super::sql_enum::RowContext;
use super::{bump_revision, history_writes, holds, unreferenced};
use crate::catalog::transaction;
use crate::sql::Connection;
use crate::{Catalog, CatalogError};

/// Selects versions of the past.
macro_rules! past_versions {
    ($which:literal) => {
        concat!(
            "SELECT number, version, created_at, snapshot, digest, axis, file_sha256
            FROM past_versions WHERE dataset = $1",
            $which
        )
    };
}

const BY_NUMBER: &str = past_versions!(" AND number = $2");

/// Selects a version by its id. Data may have gone back to what it was: the rows are the same.
const BY_ID: &str = past_versions!(" AND id = $2 ORDER BY number DESC LIMIT 1");

/// Selects versions that can be read.
macro_rules! readable_versions {
    ($which:literal, $order:literal) => {
        concat!(
            "SELECT version, number, created_at, CAST(0 AS BIGINT) AS past FROM snapshots
            WHERE dataset = $1",
            $which,
            " UNION ALL SELECT version, number, created_at, CAST(1 AS BIGINT) FROM past_versions
            WHERE dataset = $1",
            $which,
            " ORDER BY ",
            $order
        )
    };
}

/// Lists every version that can be read.
const READABLE: &str = readable_versions!("", "version");

const FIRST_READABLE: &str = readable_versions!("", "version LIMIT 1");

/// Selects the version that was current at a time. A clock that was turned back may have dated a
/// later version earlier.
const READABLE_AT: &str =
    readable_versions!(" AND created_at <= $2", "created_at DESC, version DESC LIMIT 1");

const READABLE_AFTER: &str = readable_versions!(" AND version > $2", "version LIMIT 1");

const READABLE_VERSION: &str = readable_versions!(" AND version = $2", "past LIMIT 1");

const PAST_CHANGES_FROM: &str =
    "SELECT number, changes FROM past_changes WHERE dataset = $1 AND from_number = $2";

/// Counts versions of the past, and the bytes of all files that are kept for them.
const HISTORY_BYTES: &str = "
    SELECT (SELECT COUNT(*) FROM past_versions), CAST(COALESCE(SUM(bytes), 0) AS BIGINT) FROM (
        SELECT COALESCE(file_bytes, 0) AS bytes FROM past_versions UNION ALL SELECT file_bytes FROM past_changes
        UNION ALL SELECT file_bytes FROM changes WHERE from_number IN (SELECT number FROM past_versions)
    ) AS kept";

/// A version that retention dropped.
#[derive(Clone, Debug, PartialEq)]
pub struct PastVersion {
    /// Its number within the dataset.
    pub version: u64,
    /// The snapshot as it was; its file is in the store only where it was kept.
    pub snapshot: Snapshot,
    /// Digest of its rows.
    pub digest: ResultDigest,
    /// Unit of the distances of its dates (contract-16-axis).
    pub axis: Option<CalendarUnit>,
    /// True where its file was kept.
    pub file_kept: bool,
    /// Its number in the catalog.
    number: i64,
}

/// Version of a dataset at a time.
#[derive(Clone, Debug, PartialEq)]
pub enum VersionAt {
    /// One that is retained.
    Retained(Box<Snapshot>),
    /// One that was dropped.
    Past(Box<PastVersion>),
    /// The dataset had none before this time.
    NotPublishedYet(Millis),
    /// It is not known; the next version that can be read is of this time.
    Gone(Millis),
}

impl Catalog {
    /// Finds the version of a dataset that was current at `at`: the one with the greatest time of
    /// its commit that is no later. `None`: there is no version at all.
    ///
    /// # Errors
    /// [`CatalogError::Query`] when the database does not answer or holds a value of a newer
    /// version.
    pub async fn version_at(
        &self,
        dataset: &DatasetName,
        at: Millis,
    ) -> Result<Option<VersionAt>, CatalogError> {
        transaction!(self, "look a version up", Read, |connection| {
            version_at(connection, dataset, at)
        })
    }

    /// Reads the newest version with this id that was dropped and that can be read.
    ///
    /// # Errors
    /// As [`Catalog::version_at`].
    pub async fn past_version(
        &self,
        dataset: &DatasetName,
        id: &SnapshotId,
    ) -> Result<Option<PastVersion>, CatalogError> {
        transaction!(self, "look a version up", SingleRead, |connection| async {
            let statement = connection.query(BY_ID).bind(dataset.as_str()).bind(id.as_str());
            statement.fetch_optional::<PastRow>().await?.map(PastRow::read).transpose()
        })
    }

    /// Reads what gives the rows of `past` back: what changed from it to the next version that has
    /// a file. `None` where its own was kept, or the history has ended meanwhile.
    ///
    /// # Errors
    /// As [`Catalog::version_at`].
    pub async fn restoration(
        &self,
        dataset: &DatasetName,
        past: &PastVersion,
    ) -> Result<Option<HistorySegment>, CatalogError> {
        if past.file_kept {
            return Ok(None);
        }
        transaction!(self, "read changes of the past", Read, |connection| {
            restoration(connection, dataset, past)
        })
    }

    /// Forgets the versions of a dataset whose time ended before `before`, as far as retention has
    /// dropped them. Returns how many.
    ///
    /// # Errors
    /// As [`Catalog::version_at`].
    pub async fn forget_history(
        &self,
        dataset: &DatasetName,
        before: Millis,
    ) -> Result<usize, CatalogError> {
        transaction!(self, "forget versions", Write, |connection| async {
            connection.query(holds::LOCK_DATASET).bind(dataset.as_str()).execute().await?;
            let readable = readable(connection, dataset).await?;
            let ended = readable.windows(2).filter_map(|pair| match pair {
                [version, next] if next.created_at <= before.0 => Some(version),
                _ => None,
            });
            let past: Vec<i64> =
                ended.filter(|version| version.past > 0).map(|version| version.number).collect();
            if let Some(last) = past.iter().max() {
                let files = history_writes::forget_until(connection, dataset, *last).await?;
                unreferenced::drop_references(connection, &files).await?;
                bump_revision(connection).await?;
            }
            Ok(past.len())
        })
    }

    /// Counts the versions that were dropped and can be read, and the bytes of the files that give
    /// them back, beside those of retained snapshots.
    ///
    /// # Errors
    /// As [`Catalog::version_at`].
    pub async fn history_size(&self) -> Result<(u64, u64), CatalogError> {
        transaction!(self, "measure the history", SingleRead, |connection| async {
            let (versions, bytes): (i64, i64) = connection.query(HISTORY_BYTES).fetch_one().await?;
            let place = RowContext { table: "past_versions", row: "all" };
            Ok((place.count("versions", versions)?, place.count("bytes", bytes)?))
        })
    }
}

/// A row of `past_versions`.
#[derive(sqlx::FromRow)]
struct PastRow {
    number: i64,
    version: i64,
    created_at: i64,
    snapshot: String,
    digest: String,
    axis: String,
    file_sha256: Option<String>,
}

impl PastRow {
    fn read(self) -> Result<PastVersion, sqlx::Error> {
        let row = self.number.to_string();
        let place = RowContext { table: "past_versions", row: &row };
        let snapshot: Snapshot = place.decode_json("snapshot", &self.snapshot)?;
        Ok(PastVersion {
            version: place.count("version", self.version)?,
            // The JSON has the time of a clock that may have been ahead.
            snapshot: Snapshot { created_at: Millis(self.created_at), ..snapshot },
            digest: place.parse("digest", &self.digest)?,
            axis: place.decode_json("axis", &self.axis)?,
            file_kept: self.file_sha256.is_some(),
            number: self.number,
        })
    }
}

/// A row of `readable_versions`.
#[derive(sqlx::FromRow)]
pub(super) struct ReadableRow {
    pub(super) version: i64,
    pub(super) number: i64,
    pub(super) created_at: i64,
    pub(super) past: i64,
}

pub(super) async fn readable(
    connection: &mut Connection<'_>,
    dataset: &DatasetName,
) -> Result<Vec<ReadableRow>, sqlx::Error> {
    connection.query(READABLE).bind(dataset.as_str()).all().await
}

/// Reads the version with this number within the dataset, where it can be read.
pub(super) async fn readable_version(
    connection: &mut Connection<'_>,
    dataset: &DatasetName,
    version: i64,
) -> Result<Option<ReadableRow>, sqlx::Error> {
    let statement = connection.query(READABLE_VERSION).bind(dataset.as_str()).bind(version);
    statement.fetch_optional().await
}

async fn version_at(
    connection: &mut Connection<'_>,
    dataset: &DatasetName,
    at: Millis,
) -> Result<Option<VersionAt>, sqlx::Error> {
    let begun = connection.query(READABLE_AT).bind(dataset.as_str()).bind(at.0);
    let Some(found) = begun.fetch_optional::<ReadableRow>().await? else {
        let first = connection.query(FIRST_READABLE).bind(dataset.as_str());
        let first: Option<ReadableRow> = first.fetch_optional().await?;
        return Ok(first.map(|first| match first.version {
            0 => VersionAt::NotPublishedYet(Millis(first.created_at)),
            _ => VersionAt::Gone(Millis(first.created_at)),
        }));
    };
    let next = connection.query(READABLE_AFTER).bind(dataset.as_str()).bind(found.version);
    // Versions have no gaps, so where the next one is missing nobody knows when it came.
    if let Some(next) = next.fetch_optional::<ReadableRow>().await?
        && next.version != found.version + 1
        && Millis(found.created_at).whole_second() != at.whole_second()
    {
        return Ok(Some(VersionAt::Gone(Millis(next.created_at))));
    }
    if found.past > 0 {
        let past = past_by_number(connection, dataset, found.number).await?;
        return Ok(past.map(|past| VersionAt::Past(Box::new(past))));
    }
    let snapshot = snapshots::by_number(connection, found.number).await?;
    Ok(snapshot.map(|snapshot| VersionAt::Retained(Box::new(snapshot))))
}

async fn restoration(
    connection: &mut Connection<'_>,
    dataset: &DatasetName,
    past: &PastVersion,
) -> Result<Option<HistorySegment>, sqlx::Error> {
    let mut changes = Vec::new();
    let mut number = past.number;
    loop {
        let Some((next, set)) = next_changes(connection, dataset, number).await? else {
            return Ok(None);
        };
        changes.push(set);
        number = next;
        if let Some(last) = file_of(connection, dataset, number).await? {
            return Ok(Some(HistorySegment { first: past.version, last, changes }));
        }
    }
}

/// Reads the changes that lead on from the version with this number, and where they lead.
async fn next_changes(
    connection: &mut Connection<'_>,
    dataset: &DatasetName,
    number: i64,
) -> Result<Option<(i64, ChangeSet)>, sqlx::Error> {
    if let Some(row) = changes::leading_from(connection, dataset, number).await? {
        return Ok(Some((row.number, row.read()?)));
    }
    let past: Option<(i64, String)> = connection
        .query(PAST_CHANGES_FROM)
        .bind(dataset.as_str())
        .bind(number)
        .fetch_optional()
        .await?;
    let place = RowContext { table: "past_changes", row: dataset.as_str() };
    past.map(|(next, set)| Ok((next, place.decode_json("changes", &set)?))).transpose()
}

/// Reads the snapshot with this number, where its file is in the store.
async fn file_of(
    connection: &mut Connection<'_>,
    dataset: &DatasetName,
    number: i64,
) -> Result<Option<Snapshot>, sqlx::Error> {
    if let Some(retained) = snapshots::by_number(connection, number).await? {
        return Ok(Some(retained));
    }
    let past = past_by_number(connection, dataset, number).await?;
    Ok(past.filter(|past| past.file_kept).map(|past| past.snapshot))
}

pub(super) async fn past_by_number(
    connection: &mut Connection<'_>,
    dataset: &DatasetName,
    number: i64,
) -> Result<Option<PastVersion>, sqlx::Error> {
    let statement = connection.query(BY_NUMBER).bind(dataset.as_str()).bind(number);
    statement.fetch_optional::<PastRow>().await?.map(PastRow::read).transpose()
}

/// Returns true where both have the same columns with the same types, in any order.
pub(super) fn have_same_columns(one: &[Column], other: &[Column]) -> bool {
    let shape = |columns: &[Column]| {
        let describe = |column: &Column| (column.name.clone(), column.column_type.as_str());
        columns.iter().map(describe).collect::<BTreeSet<_>>()
    };
    shape(one) == shape(other)
}
