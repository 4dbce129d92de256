//! Row-level changes between snapshots. Never reads the files that hold them.

use yearbook_domain::changes::ChangeSet;
use yearbook_domain::{
    ChangeCounts, CreditLine, DatasetName, LargestRevision, Millis, ObjectKey, StoredFile,
};

use super::sql_enum::{RowContext, encode_json, encode_u64};
use super::{history_writes, snapshots};
use crate::catalog::transaction;
use crate::sql::Connection;
use crate::{Catalog, CatalogError};

const INSERT_CHANGES: &str = "
    INSERT INTO changes (number, dataset, from_number, from_id, to_id, committed_at, row_count, file_sha256, file_bytes, columns,
        from_attribution, from_licence, to_attribution, to_licence, inserted, deleted, updated, largest_revision)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)";

/// Follow the newer snapshot to its new number, those of the past too: where it is the oldest
/// retained one, they lead back from it.
const RENUMBER_CHANGES: [&str; 2] = [
    "UPDATE changes SET number = $2 WHERE number = $1",
    "UPDATE past_changes SET number = $2 WHERE number = $1",
];

/// Deletes changes by the number of the snapshot that they lead to.
const DELETE_CHANGES: &str = "DELETE FROM changes WHERE number = $1";

/// Selects the changes that lead to the oldest retained snapshot or to one before it.
const OUTDATED_CHANGES: &str = change_sets!(
    " AND number <= (SELECT MIN(number) FROM snapshots WHERE dataset = $1) ORDER BY number"
);

/// Selects the changes that lead on from the snapshot with a number.
const CHANGES_FROM: &str = change_sets!(" AND from_number = $2");

/// Selects changes of a dataset.
macro_rules! change_sets {
    ($which:literal) => {
        concat!(
            "SELECT number, from_number, from_id, to_id, committed_at, row_count, file_sha256,
                file_bytes, columns, version, inserted, deleted, updated, from_attribution,
                from_licence, to_attribution, to_licence, largest_revision
            FROM changes WHERE dataset = $1",
            $which
        )
    };
}
pub(super) use change_sets;

const CHANGES: &str = change_sets!(" ORDER BY number DESC");

impl Catalog {
    /// Lists the changes from one snapshot to the next, oldest first, as one history without gaps
    /// that ends with the current snapshot and begins no earlier than the oldest retained one.
    /// Empty: nothing is known of what came before the current one.
    ///
    /// # Errors
    /// [`CatalogError::Query`] when the database does not answer or holds a value of a newer
    /// version.
    pub async fn changes(&self, dataset: &DatasetName) -> Result<Vec<ChangeSet>, CatalogError> {
        transaction!(self, "list changes", Read, |connection| {
            changes_to_current(connection, dataset)
        })
    }
}

/// A row of `change_sets`.
#[derive(sqlx::FromRow)]
pub(super) struct ChangesRow {
    pub(super) number: i64,
    pub(super) from_number: i64,
    from_id: String,
    to_id: String,
    committed_at: i64,
    row_count: i64,
    file_sha256: String,
    file_bytes: i64,
    columns: String,
    version: i64,
    inserted: i64,
    deleted: i64,
    updated: i64,
    from_attribution: String,
    from_licence: String,
    to_attribution: String,
    to_licence: String,
    largest_revision: Option<String>,
}

impl ChangesRow {
    /// Reads the set.
    pub(super) fn read(self) -> Result<ChangeSet, sqlx::Error> {
        let place = RowContext { table: "changes", row: &self.to_id };
        Ok(ChangeSet {
            counts: counts(&place, self.inserted, self.deleted, self.updated)?,
            largest_revision: revision(&place, self.largest_revision.as_deref())?,
            rows: place.count("row_count", self.row_count)?,
            file: StoredFile {
                bytes: place.count("file_bytes", self.file_bytes)?,
                sha256: place.parse("file_sha256", &self.file_sha256)?,
            },
            columns: place.decode_json("columns", &self.columns)?,
            from: place.parse("from_id", &self.from_id)?,
            committed_at: Millis(self.committed_at),
            to: place.parse("to_id", &self.to_id)?,
            version: place.count("version", self.version)?,
            from_credit: CreditLine {
                attribution: self.from_attribution,
                licence: self.from_licence,
            },
            to_credit: CreditLine { attribution: self.to_attribution, licence: self.to_licence },
        })
    }
}

/// Returns the numbers of rows by kind.
fn counts(
    place: &RowContext<'_>,
    inserted: i64,
    deleted: i64,
    updated: i64,
) -> Result<ChangeCounts, sqlx::Error> {
    Ok(ChangeCounts {
        inserted: place.count("inserted", inserted)?,
        deleted: place.count("deleted", deleted)?,
        updated: place.count("updated", updated)?,
    })
}

/// Returns the numbers of rows by kind; `None` where they are not known.
pub(super) fn known_counts(
    place: &RowContext<'_>,
    numbers: (Option<i64>, Option<i64>, Option<i64>),
) -> Result<Option<ChangeCounts>, sqlx::Error> {
    let (Some(inserted), Some(deleted), Some(updated)) = numbers else { return Ok(None) };
    counts(place, inserted, deleted, updated).map(Some)
}

/// Reads the value that was revised most.
pub(super) fn revision(
    place: &RowContext<'_>,
    json: Option<&str>,
) -> Result<Option<LargestRevision>, sqlx::Error> {
    json.map(|json| place.decode_json("largest_revision", json)).transpose()
}

/// Reads the part of the history that leads to the current snapshot without a gap.
pub(super) async fn changes_to_current(
    connection: &mut Connection<'_>,
    dataset: &DatasetName,
) -> Result<Vec<ChangeSet>, sqlx::Error> {
    let current = snapshots::current_row(connection, dataset).await?;
    let rows: Vec<ChangesRow> = connection.query(CHANGES).bind(dataset.as_str()).all().await?;
    let mut next = current.map(|current| current.number);
    let mut history = Vec::new();
    for row in rows {
        if next != Some(row.number) {
            break;
        }
        next = Some(row.from_number);
        history.push(row.read()?);
    }
    history.reverse();
    Ok(history)
}

/// Stores what changed between the snapshots with these numbers.
pub(super) async fn insert(
    connection: &mut Connection<'_>,
    dataset: &DatasetName,
    before: i64,
    number: i64,
    changes: &ChangeSet,
) -> Result<(), sqlx::Error> {
    let ChangeCounts { inserted, deleted, updated } = changes.counts;
    connection
        .query(INSERT_CHANGES)
        .bind(number)
        .bind(dataset.as_str())
        .bind(before)
        .bind(changes.from.as_str())
        .bind(changes.to.as_str())
        .bind(changes.committed_at.0)
        .bind(encode_u64(changes.rows)?)
        .bind(changes.file.sha256.as_str())
        .bind(encode_u64(changes.file.bytes)?)
        .bind(encode_json(&changes.columns)?)
        .bind(&changes.from_credit.attribution)
        .bind(&changes.from_credit.licence)
        .bind(&changes.to_credit.attribution)
        .bind(&changes.to_credit.licence)
        .bind(encode_u64(inserted)?)
        .bind(encode_u64(deleted)?)
        .bind(encode_u64(updated)?)
        .bind(changes.largest_revision.as_ref().map(encode_json).transpose()?)
        .execute()
        .await?;
    Ok(())
}

/// Gives the changes that lead to snapshot `number` to its successor `renumbered`.
pub(super) async fn renumber(
    connection: &mut Connection<'_>,
    number: i64,
    renumbered: i64,
) -> Result<(), sqlx::Error> {
    for statement in RENUMBER_CHANGES {
        connection.query(statement).bind(number).bind(renumbered).execute().await?;
    }
    Ok(())
}

/// Reads the changes that lead on from the snapshot with this number.
pub(super) async fn leading_from(
    connection: &mut Connection<'_>,
    dataset: &DatasetName,
    number: i64,
) -> Result<Option<ChangesRow>, sqlx::Error> {
    let statement = connection.query(CHANGES_FROM).bind(dataset.as_str()).bind(number);
    statement.fetch_optional().await
}

/// Deletes the changes that no retained snapshot needs, and returns the files that they named. Of
/// those that versions of the past need, the history takes care.
pub(super) async fn drop_outdated(
    connection: &mut Connection<'_>,
    dataset: &DatasetName,
) -> Result<Vec<ObjectKey>, sqlx::Error> {
    let rows: Vec<ChangesRow> =
        connection.query(OUTDATED_CHANGES).bind(dataset.as_str()).all().await?;
    let mut files = Vec::new();
    for row in rows {
        let number = row.number;
        let place = RowContext { table: "changes", row: &row.to_id };
        let file = ObjectKey::snapshot(&place.parse("file_sha256", &row.file_sha256)?);
        if !history_writes::keep_changes(connection, dataset, row).await? {
            files.push(file);
        }
        connection.query(DELETE_CHANGES).bind(number).execute().await?;
    }
    Ok(files)
}
