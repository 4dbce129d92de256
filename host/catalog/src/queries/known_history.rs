//! The history of a dataset as far back as it is known without a gap (contract-21-revisions). Never
//! reads a stored file.

use std::collections::{BTreeMap, HashMap, HashSet};

use yearbook_domain::changes::{ChangeSet, HistorySegment};
use yearbook_domain::{CreditLine, DatasetName, Millis, Snapshot};

use super::changes::{ChangesRow, change_sets};
use super::past_versions::{
    ReadableRow, have_same_columns, past_by_number, readable, readable_version,
};
use super::snapshots::{self, ColumnRow, SnapshotRow, snapshot_columns};
use super::sql_enum::{RowContext, encode_u64};
use crate::catalog::transaction;
use crate::sql::Connection;
use crate::{Catalog, CatalogError};

const SNAPSHOTS: &str =
    concat!("SELECT ", snapshot_columns!(), " FROM snapshots s WHERE s.dataset = $1");

const COLUMNS: &str = "
    SELECT c.snapshot, c.name, c.column_type, c.nullable, c.role, c.unit, c.description, c.few_values, c.text_traits
    FROM columns c JOIN snapshots s ON s.number = c.snapshot WHERE s.dataset = $1 ORDER BY c.snapshot, c.position";

const PAST_SNAPSHOTS: &str = "SELECT number, snapshot FROM past_versions WHERE dataset = $1";

const CHANGES: &str = change_sets!("");

const PAST_CHANGES: &str = "SELECT from_number, changes FROM past_changes WHERE dataset = $1";

/// The known history of a dataset.
#[derive(Clone, Debug, PartialEq)]
pub struct KnownHistory {
    /// Its parts, oldest first; never none.
    pub segments: Vec<HistorySegment>,
    /// Credit lines of its versions, oldest first, and whether their licences forbid to pass
    /// changed rows on.
    pub credits: Vec<(CreditLine, bool)>,
    /// Times of its versions.
    pub times: BTreeMap<u64, Millis>,
}

impl Catalog {
    /// Reads the history of a dataset up to its version `newest`, as far back as it is known
    /// without a gap; `None` where it has no version. All of it is read in a few statements:
    /// [`Catalog::known_times`] tells how much that is.
    ///
    /// # Errors
    /// As [`Catalog::version_at`].
    pub async fn known_history(
        &self,
        dataset: &DatasetName,
        newest: u64,
    ) -> Result<Option<KnownHistory>, CatalogError> {
        transaction!(self, "read the history", Read, |connection| {
            known_history(connection, dataset, newest)
        })
    }

    /// Reads the times of the versions that [`Catalog::known_history`] has, by their numbers.
    ///
    /// # Errors
    /// As [`Catalog::version_at`].
    pub async fn known_times(
        &self,
        dataset: &DatasetName,
        newest: u64,
    ) -> Result<BTreeMap<u64, Millis>, CatalogError> {
        transaction!(self, "list the versions of the history", SingleRead, |connection| async {
            times_of(dataset, &known_versions(connection, dataset, newest).await?)
        })
    }

    /// Reads the words of a version by its number; `None` where it is not known any more.
    ///
    /// # Errors
    /// As [`Catalog::version_at`].
    pub async fn version_words(
        &self,
        dataset: &DatasetName,
        version: u64,
    ) -> Result<Option<Snapshot>, CatalogError> {
        transaction!(self, "read a version", Read, |connection| async {
            let version = encode_u64(version)?;
            match readable_version(connection, dataset, version).await? {
                Some(row) => words_of(connection, dataset, &row).await.map(Some),
                None => Ok(None),
            }
        })
    }
}

/// Lists the versions up to `newest` that follow each other without a gap.
async fn known_versions(
    connection: &mut Connection<'_>,
    dataset: &DatasetName,
    newest: u64,
) -> Result<Vec<ReadableRow>, sqlx::Error> {
    let mut versions = readable(connection, dataset).await?;
    versions.retain(|version| u64::try_from(version.version).is_ok_and(|own| own <= newest));
    let gap = versions.windows(2).rposition(|pair| match pair {
        [version, next] => next.version != version.version + 1,
        _ => false,
    });
    Ok(versions.split_off(gap.map_or(0, |gap| gap + 1)))
}

fn times_of(
    dataset: &DatasetName,
    versions: &[ReadableRow],
) -> Result<BTreeMap<u64, Millis>, sqlx::Error> {
    let place = RowContext { table: "past_versions", row: dataset.as_str() };
    let time = |row: &ReadableRow| {
        let version = place.count("version", row.version);
        version.map(|version| (version, Millis(row.created_at)))
    };
    versions.iter().map(time).collect()
}

async fn known_history(
    connection: &mut Connection<'_>,
    dataset: &DatasetName,
    newest: u64,
) -> Result<Option<KnownHistory>, sqlx::Error> {
    let known = known_versions(connection, dataset, newest).await?;
    let times = times_of(dataset, &known)?;
    let mut parts = HistoryParts::read(connection, dataset, &known).await?;
    let mut history = KnownHistory { segments: Vec::new(), credits: Vec::new(), times };
    let mut first = None;
    let mut changes = Vec::new();
    let versions: Vec<u64> = history.times.keys().copied().collect();
    for (index, (row, version)) in known.iter().zip(versions).enumerate() {
        let first_version = *first.get_or_insert(version);
        let next = match known.get(index + 1) {
            Some(_) => parts.take_changes(dataset, row.number)?,
            None => None,
        };
        let snapshot = parts.take_snapshot(row)?;
        history.credits.push(((&snapshot.credit).into(), snapshot.forbids_derivatives()));
        match next {
            Some(set) if have_same_columns(&set.columns, &snapshot.columns) => changes.push(set),
            // Other columns begin with the next version, or what changed is not known.
            _ => {
                let changes = std::mem::take(&mut changes);
                history.segments.push(HistorySegment {
                    first: first_version,
                    last: snapshot,
                    changes,
                });
                first = None;
            }
        }
    }
    Ok((!history.segments.is_empty()).then_some(history))
}

/// Rows that a history is put together from, by the numbers of its versions in the catalog. What
/// JSON they have is read when they are taken.
#[derive(Default)]
struct HistoryParts {
    /// Retained snapshots.
    snapshots: HashMap<i64, SnapshotRow>,
    /// Their columns, in order.
    columns: HashMap<i64, Vec<ColumnRow>>,
    /// Snapshots that retention dropped, as JSON.
    past_snapshots: HashMap<i64, String>,
    /// Changes that lead on from a version.
    changes: HashMap<i64, ChangesRow>,
    /// Those that no retained snapshot needs, as JSON.
    past_changes: HashMap<i64, String>,
}

impl HistoryParts {
    /// Reads the rows of these versions, in one statement for each table, however many they are.
    async fn read(
        connection: &mut Connection<'_>,
        dataset: &DatasetName,
        versions: &[ReadableRow],
    ) -> Result<Self, sqlx::Error> {
        let numbers: HashSet<i64> = versions.iter().map(|version| version.number).collect();
        let is_known = |number: i64| numbers.contains(&number);
        let name = dataset.as_str();
        let mut parts = Self::default();
        let add = |row: SnapshotRow| {
            if is_known(row.number) {
                parts.snapshots.insert(row.number, row);
            }
            Ok(())
        };
        connection.query(SNAPSHOTS).bind(name).for_each(add).await?;
        let add = |row: ColumnRow| {
            if is_known(row.snapshot) {
                parts.columns.entry(row.snapshot).or_default().push(row);
            }
            Ok(())
        };
        connection.query(COLUMNS).bind(name).for_each(add).await?;
        let add = |row: ChangesRow| {
            if is_known(row.from_number) {
                parts.changes.insert(row.from_number, row);
            }
            Ok(())
        };
        connection.query(CHANGES).bind(name).for_each(add).await?;
        for (statement, texts) in
            [(PAST_SNAPSHOTS, &mut parts.past_snapshots), (PAST_CHANGES, &mut parts.past_changes)]
        {
            let add = |(number, json): (i64, String)| {
                if is_known(number) {
                    texts.insert(number, json);
                }
                Ok(())
            };
            connection.query(statement).bind(name).for_each(add).await?;
        }
        Ok(parts)
    }

    /// Takes the changes that lead on from the version with this number.
    fn take_changes(
        &mut self,
        dataset: &DatasetName,
        number: i64,
    ) -> Result<Option<ChangeSet>, sqlx::Error> {
        if let Some(row) = self.changes.remove(&number) {
            return row.read().map(Some);
        }
        let place = RowContext { table: "past_changes", row: dataset.as_str() };
        let json = self.past_changes.remove(&number);
        json.map(|json| place.decode_json("changes", &json)).transpose()
    }

    /// Takes the snapshot of a version.
    fn take_snapshot(&mut self, version: &ReadableRow) -> Result<Snapshot, sqlx::Error> {
        let number = version.number;
        if version.past == 0 {
            let row = self.snapshots.remove(&number).ok_or(sqlx::Error::RowNotFound)?;
            return row.with_columns(self.columns.remove(&number).unwrap_or_default());
        }
        let json = self.past_snapshots.remove(&number).ok_or(sqlx::Error::RowNotFound)?;
        let row = number.to_string();
        let place = RowContext { table: "past_versions", row: &row };
        let snapshot: Snapshot = place.decode_json("snapshot", &json)?;
        Ok(Snapshot { created_at: Millis(version.created_at), ..snapshot })
    }
}

async fn words_of(
    connection: &mut Connection<'_>,
    dataset: &DatasetName,
    row: &ReadableRow,
) -> Result<Snapshot, sqlx::Error> {
    let found = match row.past {
        0 => snapshots::by_number(connection, row.number).await?,
        _ => past_by_number(connection, dataset, row.number).await?.map(|past| past.snapshot),
    };
    found.ok_or(sqlx::Error::RowNotFound)
}
