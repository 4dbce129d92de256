//! Datasets, their snapshots and the tombstones of dropped ones, within a transaction.

use crate::sql::Connection;
use yearbook_domain::changes::ChangeSet;
use yearbook_domain::{Dataset, DatasetName, Millis, Snapshot, Stored, StoredFile};

use super::{changes, unreferenced};
use crate::dataset_set::{DatasetSet, DatasetVersion};
use crate::rows::{FileRow, SnapshotRow, assemble_datasets};
use crate::sql_enum::{RowContext, encode_enum, encode_list, encode_u64};
use crate::{CommitOutcome, DroppedSnapshot, Publication, Retention, SnapshotStatus, statements};

/// Datasets that have moved and are read one by one; of more, everything is read.
const MAX_SINGLE_READS: usize = 32;

/// What is served, where `known` is what was served some time ago.
pub(crate) async fn dataset_set(
    connection: &mut Connection<'_>,
    known: &DatasetSet,
) -> Result<DatasetSet, sqlx::Error> {
    let marks: Vec<DatasetVersion> = connection.query(statements::DATASET_VERSIONS).all().await?;
    let moved: Vec<DatasetVersion> =
        marks.iter().filter(|mark| !known.is_current(mark)).cloned().collect();
    let read = if moved.len() > MAX_SINGLE_READS {
        read_all_datasets(connection).await?
    } else {
        read_datasets(connection, &moved).await?
    };
    Ok(known.with_changes(marks, read))
}

/// One of what is served.
pub(crate) async fn dataset(
    connection: &mut Connection<'_>,
    name: &DatasetName,
) -> Result<Option<Dataset>, sqlx::Error> {
    let mark: Option<DatasetVersion> =
        connection.query(statements::DATASET_VERSION).bind(name.as_str()).fetch_optional().await?;
    Ok(read_datasets(connection, mark.as_slice()).await?.pop())
}

async fn read_datasets(
    connection: &mut Connection<'_>,
    moved: &[DatasetVersion],
) -> Result<Vec<Dataset>, sqlx::Error> {
    let (mut datasets, mut columns, mut summaries) = (Vec::new(), Vec::new(), Vec::new());
    for DatasetVersion { name, current, .. } in moved {
        datasets.extend(
            connection.query(statements::DATASET).bind(name.as_str()).fetch_optional().await?,
        );
        columns.extend(connection.query(statements::COLUMNS).bind(*current).all().await?);
        summaries
            .extend(connection.query(statements::SUMMARIES_OF).bind(name.as_str()).all().await?);
    }
    assemble_datasets(datasets, columns, summaries)
}

async fn read_all_datasets(connection: &mut Connection<'_>) -> Result<Vec<Dataset>, sqlx::Error> {
    let datasets = connection.query(statements::DATASETS).all().await?;
    let columns = connection.query(statements::CURRENT_COLUMNS).all().await?;
    let summaries = connection.query(statements::SUMMARIES).all().await?;
    assemble_datasets(datasets, columns, summaries)
}

pub(crate) async fn snapshot(
    connection: &mut Connection<'_>,
    dataset: &DatasetName,
    id: &str,
) -> Result<Option<Snapshot>, sqlx::Error> {
    let found = connection
        .query(statements::SNAPSHOT)
        .bind(dataset.as_str())
        .bind(id)
        .fetch_optional()
        .await?;
    read_columns(connection, found).await
}

/// The newest snapshot of a dataset, retired or not.
pub(crate) async fn current(
    connection: &mut Connection<'_>,
    dataset: &DatasetName,
) -> Result<Option<Snapshot>, sqlx::Error> {
    let found = connection
        .query(statements::CURRENT_SNAPSHOT)
        .bind(dataset.as_str())
        .fetch_optional()
        .await?;
    read_columns(connection, found).await
}

async fn read_columns(
    connection: &mut Connection<'_>,
    found: Option<SnapshotRow>,
) -> Result<Option<Snapshot>, sqlx::Error> {
    let Some(row) = found else { return Ok(None) };
    let columns = connection.query(statements::COLUMNS).bind(row.number).all().await?;
    row.with_columns(columns).map(Some)
}

pub(crate) async fn snapshot_status(
    connection: &mut Connection<'_>,
    dataset: &DatasetName,
    id: &str,
) -> Result<SnapshotStatus, sqlx::Error> {
    for (statement, standing) in [
        (statements::IS_RETAINED, SnapshotStatus::Retained),
        (statements::WAS_DROPPED, SnapshotStatus::Dropped),
    ] {
        let (rows,): (i64,) =
            connection.query(statement).bind(dataset.as_str()).bind(id).fetch_one().await?;
        if rows > 0 {
            return Ok(standing);
        }
    }
    Ok(SnapshotStatus::Unknown)
}

pub(crate) async fn commit(
    connection: &mut Connection<'_>,
    publication: &Publication,
    retention: Retention,
    declarer: &str,
) -> Result<CommitOutcome, sqlx::Error> {
    let Publication { name, namespace, .. } = publication;
    connection
        .query(statements::UPSERT_DATASET)
        .bind(name.as_str())
        .bind(namespace.as_str())
        .execute()
        .await?;
    let Some((committed, at)) =
        commit_as_current(connection, publication, retention, declarer).await?
    else {
        return Ok(CommitOutcome::Conflict);
    };
    connection.query(statements::SET_CHECKED_AT).bind(name.as_str()).bind(at.0).execute().await?;
    // Last, since it is the one row that all who publish have to pass, one after the other until
    // each has committed.
    connection.query(statements::BUMP_REVISION).execute().await?;
    Ok(committed)
}

/// Makes the snapshot the current one of its dataset, whose row is locked, and says when; none when
/// another one than that which it was compared with is current.
async fn commit_as_current(
    connection: &mut Connection<'_>,
    publication: &Publication,
    retention: Retention,
    declarer: &str,
) -> Result<Option<(CommitOutcome, Millis)>, sqlx::Error> {
    let Publication { name, snapshot, predecessor, changes, .. } = publication;
    let current: Option<(i64, String, String, i64)> =
        connection.query(statements::CURRENT).bind(name.as_str()).fetch_optional().await?;
    if let Some((number, id, file, created_at)) = &current
        && *id == snapshot.id
    {
        if *file != snapshot.file.sha256 {
            // The same rows in a file written anew, after damage or by a newer writer: the snapshot
            // keeps its age.
            unreferenced::claim_reference(
                connection,
                &Stored::snapshot(&snapshot.file.sha256),
                declarer,
            )
            .await?;
            let before = delete_snapshot(connection, *number).await?;
            let renewed = Snapshot { created_at: Millis(*created_at), ..snapshot.clone() };
            let renumbered = insert_snapshot(connection, name, &renewed).await?;
            connection
                .query(statements::RENUMBER_CHANGES)
                .bind(number)
                .bind(renumbered)
                .execute()
                .await?;
            unreferenced::drop_references(connection, &[before]).await?;
        }
        let now = commit_time(connection, publication).await?;
        return Ok(Some((CommitOutcome::Unchanged, now)));
    }
    if current.as_ref().map(|(_, id, ..)| id) != predecessor.as_ref() {
        return Ok(None);
    }
    unreferenced::claim_reference(connection, &Stored::snapshot(&snapshot.file.sha256), declarer)
        .await?;
    let changes = changes.as_ref().filter(|changes| Some(&changes.from) == predecessor.as_ref());
    if let Some(changes) = changes {
        unreferenced::claim_reference(
            connection,
            &Stored::snapshot(&changes.file.sha256),
            declarer,
        )
        .await?;
    }
    // After everything that may have to wait for others: nobody can have been served another
    // snapshot since then.
    let (latest,): (Option<i64>,) =
        connection.query(statements::LATEST).bind(name.as_str()).fetch_one().await?;
    let created_at =
        next_commit_time(latest.map(Millis), commit_time(connection, publication).await?);
    let number =
        insert_snapshot(connection, name, &Snapshot { created_at, ..snapshot.clone() }).await?;
    if let (Some((before, ..)), Some(changes)) = (current, changes) {
        changes::insert(
            connection,
            name,
            before,
            number,
            &ChangeSet { committed_at: created_at, ..changes.clone() },
        )
        .await?;
    }
    delete_expired(connection, name, retention, created_at).await?;
    Ok(Some((CommitOutcome::New, created_at)))
}

/// When a publication is committed.
async fn commit_time(
    connection: &mut Connection<'_>,
    publication: &Publication,
) -> Result<Millis, sqlx::Error> {
    match publication.at {
        Some(at) => Ok(at),
        None => unreferenced::database_time(connection).await,
    }
}

/// `now`, or the first instant that HTTP can tell from `latest`: its dates have whole seconds.
fn next_commit_time(latest: Option<Millis>, now: Millis) -> Millis {
    const SECOND: i64 = 1000;
    let Some(latest) = latest else { return now };
    now.max(Millis((latest.0.div_euclid(SECOND) + 1).saturating_mul(SECOND)))
}

/// What is no longer kept now of each dataset, retired ones included; those of which all is kept
/// are left out.
pub(crate) async fn expired_by_dataset(
    connection: &mut Connection<'_>,
    retention: Retention,
) -> Result<Vec<(DatasetName, Vec<DroppedSnapshot>)>, sqlx::Error> {
    let now = unreferenced::database_time(connection).await?;
    let names: Vec<(String,)> = connection.query(statements::ALL_DATASETS).all().await?;
    let mut all = Vec::new();
    for (name,) in names {
        let dataset: DatasetName =
            RowContext { table: "datasets", row: &name }.parse("name", &name)?;
        let outdated: Vec<DroppedSnapshot> =
            expired_snapshots(connection, &dataset, retention, now)
                .await?
                .into_iter()
                .map(|(_, dropped)| dropped)
                .collect();
        if !outdated.is_empty() {
            all.push((dataset, outdated));
        }
    }
    Ok(all)
}

/// Drops what is no longer kept of one dataset.
pub(crate) async fn apply_retention(
    connection: &mut Connection<'_>,
    dataset: &DatasetName,
    retention: Retention,
) -> Result<Vec<DroppedSnapshot>, sqlx::Error> {
    connection.query(statements::LOCK_DATASET).bind(dataset.as_str()).execute().await?;
    let now = unreferenced::database_time(connection).await?;
    let dropped = delete_expired(connection, dataset, retention, now).await?;
    if !dropped.is_empty() {
        connection.query(statements::BUMP_REVISION).execute().await?;
    }
    Ok(dropped)
}

pub(crate) async fn retire(
    connection: &mut Connection<'_>,
    dataset: &DatasetName,
) -> Result<bool, sqlx::Error> {
    let at = unreferenced::database_time(connection).await?;
    let done =
        connection.query(statements::RETIRE).bind(dataset.as_str()).bind(at.0).execute().await?;
    if done == 0 {
        return Ok(false);
    }
    connection.query(statements::BUMP_REVISION).execute().await?;
    Ok(true)
}

pub(crate) async fn referenced_files(
    connection: &mut Connection<'_>,
) -> Result<Vec<StoredFile>, sqlx::Error> {
    let rows: Vec<FileRow> = connection.query(statements::REFERENCED_FILES).all().await?;
    rows.into_iter().map(FileRow::read).collect()
}

async fn insert_snapshot(
    connection: &mut Connection<'_>,
    dataset: &DatasetName,
    snapshot: &Snapshot,
) -> Result<i64, sqlx::Error> {
    let credit = &snapshot.credit;
    let (first_date, last_date) =
        snapshot.date_range.as_ref().map(|(first, last)| (first.as_str(), last.as_str())).unzip();
    let bound = |index: usize| snapshot.bbox.map(|bbox| bbox.0[index]);
    let (number,): (i64,) = connection
        .query(statements::INSERT_SNAPSHOT)
        .bind(dataset.as_str())
        .bind(&snapshot.id)
        .bind(snapshot.created_at.0)
        .bind(encode_u64(snapshot.rows)?)
        .bind(&snapshot.file.sha256)
        .bind(encode_u64(snapshot.file.bytes)?)
        .bind(&snapshot.title)
        .bind(&snapshot.description)
        .bind(&credit.source)
        .bind(&credit.attribution)
        .bind(&credit.licence)
        .bind(&credit.source_url)
        .bind(credit.source_url_precision.as_ref().map(encode_enum).transpose()?)
        .bind(&snapshot.refresh_cadence)
        .bind(snapshot.bulk_redistribution)
        .bind(encode_enum(&snapshot.layout)?)
        .bind(encode_list(&snapshot.primary_key)?)
        .bind(encode_list(&snapshot.dimensions)?)
        .bind(&snapshot.date_column)
        .bind(first_date)
        .bind(last_date)
        .bind(bound(0))
        .bind(bound(1))
        .bind(bound(2))
        .bind(bound(3))
        .bind(&credit.licence_title)
        .bind(&credit.licence_url)
        .bind(encode_list(&credit.sources)?)
        .fetch_one()
        .await?;
    for (position, column) in (0_i64..).zip(&snapshot.columns) {
        connection
            .query(statements::INSERT_COLUMN)
            .bind(number)
            .bind(position)
            .bind(&column.name)
            .bind(encode_enum(&column.column_type)?)
            .bind(column.nullable)
            .bind(encode_enum(&column.role)?)
            .bind(&column.unit)
            .bind(&column.description)
            .bind(column.few_values)
            .execute()
            .await?;
    }
    Ok(number)
}

async fn delete_expired(
    connection: &mut Connection<'_>,
    dataset: &DatasetName,
    retention: Retention,
    now: Millis,
) -> Result<Vec<DroppedSnapshot>, sqlx::Error> {
    let mut dropped = Vec::new();
    let mut unnamed = Vec::new();
    for (number, snapshot) in expired_snapshots(connection, dataset, retention, now).await? {
        connection.query(statements::INSERT_TOMBSTONE).bind(number).bind(now.0).execute().await?;
        unnamed.push(delete_snapshot(connection, number).await?);
        dropped.push(snapshot);
    }
    let changes: Vec<(String,)> =
        connection.query(statements::DROP_CHANGES).bind(dataset.as_str()).all().await?;
    unnamed.extend(changes.iter().map(|(sha256,)| Stored::snapshot(sha256)));
    unreferenced::drop_references(connection, &unnamed).await?;
    Ok(dropped)
}

/// Snapshots that are no longer kept at `now`, with their numbers.
async fn expired_snapshots(
    connection: &mut Connection<'_>,
    dataset: &DatasetName,
    retention: Retention,
    now: Millis,
) -> Result<Vec<(i64, DroppedSnapshot)>, sqlx::Error> {
    let history: Vec<(i64, String, i64)> =
        connection.query(statements::HISTORY).bind(dataset.as_str()).all().await?;
    let times: Vec<Millis> = history.iter().map(|(.., created_at)| Millis(*created_at)).collect();
    let drops = retention.expired_indexes(&times, now);
    let named = |(number, id, created_at)| {
        (
            number,
            DroppedSnapshot { dataset: dataset.to_string(), id, created_at: Millis(created_at) },
        )
    };
    Ok(history
        .into_iter()
        .enumerate()
        .filter(|(index, _)| drops.contains(index))
        .map(|(_, row)| named(row))
        .collect())
}

/// Deletes a snapshot's row; what it named.
async fn delete_snapshot(
    connection: &mut Connection<'_>,
    number: i64,
) -> Result<Stored, sqlx::Error> {
    let (sha256,): (String,) =
        connection.query(statements::DELETE_SNAPSHOT).bind(number).fetch_one().await?;
    Ok(Stored::snapshot(&sha256))
}
