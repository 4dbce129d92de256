//! Versions of one dataset as protocols for tables ask for them, each question in one transaction:
//! all retained snapshots, a range of changes, the times of versions that retention dropped,
//! licences along a range of changes. Never writes.

use std::collections::HashMap;
use std::ops::{Range, RangeInclusive};

use yearbook_domain::changes::ChangeSet;
use yearbook_domain::{DatasetName, Millis, Snapshot};

use super::changes::{ChangesRow, change_sets};
use super::snapshots::{ColumnRow, SnapshotRow, snapshot_columns};
use super::sql_enum::{RowContext, encode_u64};
use crate::catalog::transaction;
use crate::sql::Connection;
use crate::{Catalog, CatalogError};

const RETAINED: &str = concat!(
    "SELECT s.version, ",
    snapshot_columns!(),
    " FROM snapshots s WHERE s.dataset = $1 ORDER BY s.number"
);

const RETAINED_COLUMNS: &str = "
    SELECT c.snapshot, c.name, c.column_type, c.nullable, c.role, c.unit, c.description,
        c.few_values, c.text_traits
    FROM columns c JOIN snapshots s ON s.number = c.snapshot
    WHERE s.dataset = $1 ORDER BY c.snapshot, c.position";

const COUNT_CHANGES: &str =
    "SELECT COUNT(*) FROM changes WHERE dataset = $1 AND version >= $2 AND version <= $3";

const CHANGES_OF_VERSIONS: &str =
    change_sets!(" AND version >= $2 AND version <= $3 ORDER BY version");

/// Lists the versions whose changes are stored, newest first.
const CHANGED_VERSIONS: &str =
    "SELECT version FROM changes WHERE dataset = $1 AND version <= $2 ORDER BY version DESC";

const COMMIT_TIMES: &str = "
    SELECT version, committed_at FROM changes WHERE dataset = $1 AND version >= $2 AND version < $3 ORDER BY version";

/// Counts the snapshots, dropped ones too, that changes lead from or to and whose licence forbids
/// bulk. The words of a dropped one are JSON as serde writes it: without blanks, and with every
/// quotation mark inside of a text escaped, so no text looks like the member.
const BULK_FORBIDDEN: &str = r#"
    WITH ends AS (
        SELECT from_id AS id FROM changes WHERE dataset = $1 AND version >= $2 AND version <= $3
        UNION SELECT to_id FROM changes WHERE dataset = $1 AND version >= $2 AND version <= $3
    )
    SELECT (SELECT COUNT(*) FROM snapshots s JOIN ends ON ends.id = s.id WHERE s.dataset = $1 AND NOT s.bulk_redistribution)
        + (SELECT COUNT(*) FROM dropped_snapshots d JOIN ends ON ends.id = d.id
            WHERE d.dataset = $1 AND d.snapshot LIKE '%"bulk_redistribution":false%')"#;

/// A version of a dataset whose rows are kept.
#[derive(Clone, Debug, PartialEq)]
pub struct RetainedVersion {
    /// Its number.
    pub version: u64,
    /// Its snapshot.
    pub snapshot: Snapshot,
}

/// Changes that lead to each of a range of versions, or what is known in their place.
#[derive(Clone, Debug, PartialEq)]
pub enum ChangeRange {
    /// The changes of every version of the range, oldest first.
    Known(Vec<ChangeSet>),
    /// The changes of some version are not known, or those of one after it: without a gap they are
    /// known from this version on. One beyond the newest: not even what led to that is known.
    KnownFrom(u64),
}

impl Catalog {
    /// Reads every retained version of a dataset, retired or not, oldest first. Some ten kilobytes
    /// each, as many as retention keeps.
    ///
    /// # Errors
    /// [`CatalogError::Query`] when the database does not answer or holds a value of a newer
    /// version.
    pub async fn retained_versions(
        &self,
        dataset: &DatasetName,
    ) -> Result<Vec<RetainedVersion>, CatalogError> {
        transaction!(self, "read the retained versions", Read, |connection| async {
            let rows: Vec<RetainedRow> =
                connection.query(RETAINED).bind(dataset.as_str()).all().await?;
            let columns: Vec<ColumnRow> =
                connection.query(RETAINED_COLUMNS).bind(dataset.as_str()).all().await?;
            let mut columns_of: HashMap<i64, Vec<ColumnRow>> = HashMap::with_capacity(rows.len());
            for column in columns {
                columns_of.entry(column.snapshot).or_default().push(column);
            }
            let place = RowContext { table: "snapshots", row: dataset.as_str() };
            rows.into_iter()
                .map(|RetainedRow { version, snapshot }| {
                    let columns = columns_of.remove(&snapshot.number).unwrap_or_default();
                    let version = place.count("version", version)?;
                    Ok(RetainedVersion { version, snapshot: snapshot.with_columns(columns)? })
                })
                .collect()
        })
    }

    /// Reads the changes that lead to each of `versions`, of which none is 0 and none is beyond
    /// `newest`. They are known where those of every later version up to `newest` are known too.
    /// Versions outside of the range are counted and not read.
    ///
    /// # Errors
    /// As [`Catalog::retained_versions`].
    pub async fn change_range(
        &self,
        dataset: &DatasetName,
        versions: RangeInclusive<u64>,
        newest: u64,
    ) -> Result<ChangeRange, CatalogError> {
        transaction!(self, "read changes of versions", Read, |connection| {
            change_range(connection, dataset, versions, newest)
        })
    }

    /// Reads when each of `versions` was committed, oldest first, dropped ones included. Versions
    /// are left out whose changes are not known.
    ///
    /// # Errors
    /// As [`Catalog::retained_versions`].
    pub async fn commit_times(
        &self,
        dataset: &DatasetName,
        versions: Range<u64>,
    ) -> Result<Vec<(u64, Millis)>, CatalogError> {
        transaction!(self, "read times of versions", SingleRead, |connection| async {
            let rows: Vec<(i64, i64)> = connection
                .query(COMMIT_TIMES)
                .bind(dataset.as_str())
                .bind(encode_u64(versions.start)?)
                .bind(encode_u64(versions.end)?)
                .all()
                .await?;
            let place = RowContext { table: "changes", row: dataset.as_str() };
            rows.into_iter()
                .map(|(version, at)| Ok((place.count("version", version)?, Millis(at))))
                .collect()
        })
    }

    /// Returns true where the changes that lead to `versions` have rows of a snapshot whose licence
    /// forbids bulk, dropped ones included.
    ///
    /// # Errors
    /// As [`Catalog::retained_versions`].
    pub async fn changes_forbid_bulk(
        &self,
        dataset: &DatasetName,
        versions: RangeInclusive<u64>,
    ) -> Result<bool, CatalogError> {
        transaction!(self, "look licences of changes up", SingleRead, |connection| async {
            let (forbidden,): (i64,) = connection
                .query(BULK_FORBIDDEN)
                .bind(dataset.as_str())
                .bind(encode_u64(*versions.start())?)
                .bind(encode_u64(*versions.end())?)
                .fetch_one()
                .await?;
            Ok(forbidden > 0)
        })
    }
}

/// A row of `snapshots` with its version.
#[derive(sqlx::FromRow)]
struct RetainedRow {
    version: i64,
    #[sqlx(flatten)]
    snapshot: SnapshotRow,
}

async fn change_range(
    connection: &mut Connection<'_>,
    dataset: &DatasetName,
    versions: RangeInclusive<u64>,
    newest: u64,
) -> Result<ChangeRange, sqlx::Error> {
    let (first, last) = (*versions.start(), *versions.end());
    let (stored,): (i64,) = connection
        .query(COUNT_CHANGES)
        .bind(dataset.as_str())
        .bind(encode_u64(first)?)
        .bind(encode_u64(newest)?)
        .fetch_one()
        .await?;
    // Each version has changes once, so as many as there are versions leave no gap.
    if encode_u64((newest + 1).saturating_sub(first))? != stored {
        let known = count_known(connection, dataset, newest).await?;
        return Ok(ChangeRange::KnownFrom(newest + 1 - known));
    }
    let rows: Vec<ChangesRow> = connection
        .query(CHANGES_OF_VERSIONS)
        .bind(dataset.as_str())
        .bind(encode_u64(first)?)
        .bind(encode_u64(last)?)
        .all()
        .await?;
    rows.into_iter().map(ChangesRow::read).collect::<Result<_, _>>().map(ChangeRange::Known)
}

/// Counts the versions up to `newest` whose changes are known without a gap.
async fn count_known(
    connection: &mut Connection<'_>,
    dataset: &DatasetName,
    newest: u64,
) -> Result<u64, sqlx::Error> {
    let stored: Vec<(i64,)> = connection
        .query(CHANGED_VERSIONS)
        .bind(dataset.as_str())
        .bind(encode_u64(newest)?)
        .all()
        .await?;
    let versions = (0..=encode_u64(newest)?).rev();
    let known = versions.zip(stored).take_while(|(version, (stored,))| version == stored);
    Ok(known.count() as u64)
}
