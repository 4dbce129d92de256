//! Writes of snapshots with their columns, and of the tombstones of dropped ones. Decides nothing
//! about which snapshot is current or dropped (`publications.rs`).

use futures::FutureExt as _;
use futures::future::BoxFuture;
use yearbook_domain::credit::SourceUrlPrecision;
use yearbook_domain::{ColumnRole, DatasetName, Millis, ObjectKey, Snapshot};

use super::history_writes;
use super::snapshots::{self, StoredMeaning};
use super::sql_enum::{RowContext, encode_json, encode_u64};
use crate::sql::Connection;

const INSERT_SNAPSHOT: &str = "
    INSERT INTO snapshots (
        dataset, id, created_at, row_count, file_sha256, file_bytes, title, description, source, attribution, licence,
        source_url, source_url_precision, refresh_cadence, bulk_redistribution, layout, primary_key, dimensions,
        date_column, first_date, last_date, west, south, east, north, licence_title, licence_url, sources,
        keywords, meaning
    ) VALUES (
        $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25,
        $26, $27, $28, $29, $30
    ) RETURNING number";

const INSERT_COLUMN: &str = "
    INSERT INTO columns (snapshot, position, name, column_type, nullable, role, unit, description, few_values,
        text_traits)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";

const INSERT_TOMBSTONE: &str = "
    INSERT INTO dropped_snapshots (dataset, id, created_at, dropped_at, snapshot, digest)
    SELECT s.dataset, s.id, s.created_at, $2, $3, f.digest
    FROM snapshots s JOIN preview_facts f ON f.snapshot = s.number WHERE s.number = $1
    ON CONFLICT (dataset, id) DO UPDATE SET created_at = excluded.created_at, dropped_at = excluded.dropped_at,
        snapshot = excluded.snapshot, digest = excluded.digest";

const COUNT_COLUMN_CHANGE: &str =
    "UPDATE datasets SET column_changes = column_changes + 1 WHERE name = $1";

const DELETE_SNAPSHOT: &str = "DELETE FROM snapshots WHERE number = $1 RETURNING file_sha256";

/// Adds a snapshot and returns its number.
pub(super) fn insert_snapshot<'a>(
    connection: &'a mut Connection<'_>,
    dataset: &'a DatasetName,
    snapshot: &'a Snapshot,
) -> BoxFuture<'a, Result<i64, sqlx::Error>> {
    async move {
        let credit = &snapshot.credit;
        let (first_date, last_date) = snapshot
            .date_range
            .as_ref()
            .map(|(first, last)| (first.as_str(), last.as_str()))
            .unzip();
        let bound = |index: usize| snapshot.bbox.map(|bbox| bbox.0[index]);
        let (number,): (i64,) = connection
            .query(INSERT_SNAPSHOT)
            .bind(dataset.as_str())
            .bind(snapshot.id.as_str())
            .bind(snapshot.created_at.0)
            .bind(encode_u64(snapshot.rows)?)
            .bind(snapshot.file.sha256.as_str())
            .bind(encode_u64(snapshot.file.bytes)?)
            .bind(&snapshot.title)
            .bind(&snapshot.description)
            .bind(&credit.source)
            .bind(&credit.attribution)
            .bind(&credit.licence)
            .bind(&credit.source_url)
            .bind(credit.source_url_precision.map(SourceUrlPrecision::as_str))
            .bind(&snapshot.refresh_cadence)
            .bind(snapshot.bulk_redistribution)
            .bind(snapshot.layout.as_str())
            .bind(encode_json(&snapshot.primary_key)?)
            .bind(encode_json(&snapshot.dimensions)?)
            .bind(&snapshot.date_column)
            .bind(first_date)
            .bind(last_date)
            .bind(bound(0))
            .bind(bound(1))
            .bind(bound(2))
            .bind(bound(3))
            .bind(&credit.licence_title)
            .bind(&credit.licence_url)
            .bind(encode_json(&credit.sources)?)
            .bind(encode_json(&snapshot.keywords)?)
            .bind(encode_json(&StoredMeaning::new(snapshot))?)
            .fetch_one()
            .await?;
        for (position, column) in (0_i64..).zip(&snapshot.columns) {
            connection
                .query(INSERT_COLUMN)
                .bind(number)
                .bind(position)
                .bind(&column.name)
                .bind(column.column_type.as_str())
                .bind(column.nullable)
                .bind(stored_role(column.role).as_str())
                .bind(&column.unit)
                .bind(&column.description)
                .bind(column.few_values)
                .bind(i64::from(column.text_traits.bits()))
                .execute()
                .await?;
        }
        Ok(number)
    }
    .boxed()
}

/// The role of a column as older hosts know it; what is newer is in `meaning`.
fn stored_role(role: ColumnRole) -> ColumnRole {
    if role == ColumnRole::Status { ColumnRole::Attribute } else { role }
}

/// Counts a change of columns where `snapshot` has others than the one with the number `before`,
/// which it follows: once that is dropped nobody can tell.
pub(super) async fn count_column_change(
    connection: &mut Connection<'_>,
    dataset: &DatasetName,
    before: i64,
    snapshot: &Snapshot,
) -> Result<(), sqlx::Error> {
    let before = snapshots::by_number(connection, before).await?;
    if before.is_some_and(|before| !snapshot.has_columns_of(&before)) {
        connection.query(COUNT_COLUMN_CHANGE).bind(dataset.as_str()).execute().await?;
    }
    Ok(())
}

/// Deletes a snapshot's row, leaving a tombstone of the time `at` and, with `history`, what gives
/// its rows back. Returns what it named.
pub(super) async fn bury_snapshot(
    connection: &mut Connection<'_>,
    dataset: &DatasetName,
    number: i64,
    at: Millis,
    history: bool,
) -> Result<ObjectKey, sqlx::Error> {
    let snapshot =
        snapshots::by_number(connection, number).await?.ok_or(sqlx::Error::RowNotFound)?;
    let words = encode_json(&snapshot)?;
    connection
        .query(INSERT_TOMBSTONE)
        .bind(number)
        .bind(at.0)
        .bind(words.as_str())
        .execute()
        .await?;
    if history {
        history_writes::insert(connection, dataset, number, &snapshot, words).await?;
    }
    delete_snapshot(connection, number).await
}

/// Deletes a snapshot's row and returns what it named.
pub(super) async fn delete_snapshot(
    connection: &mut Connection<'_>,
    number: i64,
) -> Result<ObjectKey, sqlx::Error> {
    let (sha256,): (String,) = connection.query(DELETE_SNAPSHOT).bind(number).fetch_one().await?;
    let place = RowContext { table: "snapshots", row: &sha256 };
    Ok(ObjectKey::snapshot(&place.parse("file_sha256", &sha256)?))
}
