//! Datasets, their snapshots and the tombstones of dropped ones, within a transaction.

use sqlx::SqliteConnection;
use yearbook_domain::{Dataset, DatasetName, Millis, Snapshot, StoredFile};

use super::changes;
use crate::rows::{FileRow, SnapshotRow, assemble};
use crate::words::{list, whole, word};
use crate::{Committed, Publication, Retention, Standing, statements};

pub(super) async fn datasets(connection: &mut SqliteConnection) -> Result<Vec<Dataset>, sqlx::Error> {
    let datasets = sqlx::query_as(statements::DATASETS).fetch_all(&mut *connection).await?;
    let columns = sqlx::query_as(statements::CURRENT_COLUMNS).fetch_all(&mut *connection).await?;
    let summaries = sqlx::query_as(statements::SUMMARIES).fetch_all(&mut *connection).await?;
    assemble(datasets, columns, summaries)
}

pub(super) async fn snapshot(connection: &mut SqliteConnection, dataset: &DatasetName, id: &str) -> Result<Option<Snapshot>, sqlx::Error> {
    let found: Option<SnapshotRow> =
        sqlx::query_as(statements::SNAPSHOT).bind(dataset.as_str()).bind(id).fetch_optional(&mut *connection).await?;
    let Some(row) = found else { return Ok(None) };
    let columns = sqlx::query_as(statements::COLUMNS).bind(row.number).fetch_all(&mut *connection).await?;
    row.with_columns(columns).map(Some)
}

pub(super) async fn standing(connection: &mut SqliteConnection, dataset: &DatasetName, id: &str) -> Result<Standing, sqlx::Error> {
    for (statement, standing) in [(statements::IS_RETAINED, Standing::Retained), (statements::WAS_DROPPED, Standing::Dropped)] {
        let rows: i64 = sqlx::query_scalar(statement).bind(dataset.as_str()).bind(id).fetch_one(&mut *connection).await?;
        if rows > 0 {
            return Ok(standing);
        }
    }
    Ok(Standing::Unknown)
}

pub(super) async fn commit(
    connection: &mut SqliteConnection,
    publication: &Publication,
    retention: Retention,
) -> Result<Committed, sqlx::Error> {
    let Publication { name, namespace, snapshot, checked_at, changes } = publication;
    sqlx::query(statements::PUT_DATASET).bind(name.as_str()).bind(namespace.as_str()).bind(checked_at.0).execute(&mut *connection).await?;
    sqlx::query(statements::MOVE_REVISION).execute(&mut *connection).await?;
    let current: Option<(i64, String, String, i64)> =
        sqlx::query_as(statements::CURRENT).bind(name.as_str()).fetch_optional(&mut *connection).await?;
    if let Some((number, id, file, created_at)) = &current
        && *id == snapshot.id
    {
        if *file != snapshot.file.sha256 {
            // The same rows in a file written anew, after damage or by a newer writer: the snapshot keeps its age.
            sqlx::query(statements::DELETE_SNAPSHOT).bind(number).execute(&mut *connection).await?;
            let renewed = Snapshot { created_at: Millis(*created_at), ..snapshot.clone() };
            let renumbered = insert(&mut *connection, name, &renewed).await?;
            sqlx::query(statements::RENUMBER_CHANGES).bind(number).bind(renumbered).execute(&mut *connection).await?;
        }
        return Ok(Committed::Unchanged);
    }
    let number = insert(&mut *connection, name, snapshot).await?;
    // Another publisher may have been faster: then nobody compared the two, and the history begins anew.
    if let (Some((before, id, ..)), Some(changes)) = (current, changes)
        && id == changes.from
    {
        changes::insert(&mut *connection, name, before, number, changes).await?;
    }
    drop_old(&mut *connection, name, retention, *checked_at).await?;
    sqlx::query(statements::DROP_CHANGES).bind(name.as_str()).execute(&mut *connection).await?;
    Ok(Committed::New)
}

pub(super) async fn retire(connection: &mut SqliteConnection, dataset: &DatasetName, at: Millis) -> Result<bool, sqlx::Error> {
    let done = sqlx::query(statements::RETIRE).bind(dataset.as_str()).bind(at.0).execute(&mut *connection).await?;
    if done.rows_affected() == 0 {
        return Ok(false);
    }
    sqlx::query(statements::MOVE_REVISION).execute(&mut *connection).await?;
    Ok(true)
}

pub(super) async fn referenced_files(connection: &mut SqliteConnection) -> Result<Vec<StoredFile>, sqlx::Error> {
    let rows: Vec<FileRow> = sqlx::query_as(statements::REFERENCED_FILES).fetch_all(connection).await?;
    rows.into_iter().map(FileRow::read).collect()
}

async fn insert(connection: &mut SqliteConnection, dataset: &DatasetName, snapshot: &Snapshot) -> Result<i64, sqlx::Error> {
    let credit = &snapshot.credit;
    let (first_date, last_date) = snapshot.date_range.as_ref().map(|(first, last)| (first.as_str(), last.as_str())).unzip();
    let bound = |index: usize| snapshot.bbox.map(|bbox| bbox.0[index]);
    let number: i64 = sqlx::query_scalar(statements::INSERT_SNAPSHOT)
        .bind(dataset.as_str())
        .bind(&snapshot.id)
        .bind(snapshot.created_at.0)
        .bind(whole(snapshot.rows)?)
        .bind(&snapshot.file.sha256)
        .bind(whole(snapshot.file.bytes)?)
        .bind(&snapshot.title)
        .bind(&snapshot.description)
        .bind(&credit.source)
        .bind(&credit.attribution)
        .bind(&credit.licence)
        .bind(&credit.source_url)
        .bind(credit.source_url_precision.as_ref().map(word).transpose()?)
        .bind(&snapshot.refresh_cadence)
        .bind(snapshot.bulk_redistribution)
        .bind(word(&snapshot.layout)?)
        .bind(list(&snapshot.primary_key)?)
        .bind(list(&snapshot.dimensions)?)
        .bind(&snapshot.date_column)
        .bind(first_date)
        .bind(last_date)
        .bind(bound(0))
        .bind(bound(1))
        .bind(bound(2))
        .bind(bound(3))
        .fetch_one(&mut *connection)
        .await?;
    for (position, column) in (0_i64..).zip(&snapshot.columns) {
        sqlx::query(statements::INSERT_COLUMN)
            .bind(number)
            .bind(position)
            .bind(&column.name)
            .bind(word(&column.column_type)?)
            .bind(column.nullable)
            .bind(word(&column.role)?)
            .bind(&column.unit)
            .bind(&column.description)
            .bind(column.few_values)
            .execute(&mut *connection)
            .await?;
    }
    Ok(number)
}

async fn drop_old(connection: &mut SqliteConnection, dataset: &DatasetName, retention: Retention, now: Millis) -> Result<(), sqlx::Error> {
    let history: Vec<(i64, i64)> = sqlx::query_as(statements::HISTORY).bind(dataset.as_str()).fetch_all(&mut *connection).await?;
    let times: Vec<Millis> = history.iter().map(|&(_, created_at)| Millis(created_at)).collect();
    for index in retention.drops(&times, now) {
        let (number, _) = history[index];
        sqlx::query(statements::BURY_SNAPSHOT).bind(number).bind(now.0).execute(&mut *connection).await?;
        sqlx::query(statements::DELETE_SNAPSHOT).bind(number).execute(&mut *connection).await?;
    }
    Ok(())
}
