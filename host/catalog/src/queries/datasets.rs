//! Datasets with their current snapshots: what is served. Never writes a snapshot
//! (`publications.rs`).

use std::collections::HashMap;
use std::sync::Arc;

use yearbook_domain::{Dataset, DatasetName, Millis, Namespace, SnapshotSummary};

use super::changes::{known_counts, revision};
use super::snapshots::{SnapshotRow, snapshot_columns};
use super::sql_enum::RowContext;
use super::{bump_revision, database_time, holds};
use crate::cache::dataset_set::{DatasetSet, DatasetVersion};
use crate::catalog::transaction;
use crate::sql::Connection;
use crate::{Catalog, CatalogError};

/// Datasets that changed and are read one by one; if more did, everything is read.
const MAX_SINGLE_READS: usize = 32;

/// Selects the datasets that are served, with their current snapshots.
macro_rules! datasets {
    () => {
        concat!(
            "SELECT d.namespace, d.checked_at, d.column_changes, ",
            snapshot_columns!(),
            " FROM datasets d
            JOIN snapshots s ON s.number = (SELECT MAX(number) FROM snapshots WHERE dataset = d.name)
            WHERE d.retired_at IS NULL"
        )
    };
}

const DATASETS: &str = datasets!();

const DATASET: &str = concat!(datasets!(), " AND d.name = $1");

/// Selects what any change of a dataset changes. No number is given to two snapshots.
macro_rules! dataset_versions {
    ($of:literal) => {
        concat!(
            "SELECT d.name, d.namespace, d.checked_at, MAX(s.number) AS current, COUNT(*) AS retained
            FROM datasets d JOIN snapshots s ON s.dataset = d.name
            WHERE d.retired_at IS NULL",
            $of,
            " GROUP BY d.name, d.namespace, d.checked_at"
        )
    };
}

const DATASET_VERSIONS: &str = dataset_versions!("");

const DATASET_VERSION: &str = dataset_versions!(" AND d.name = $1");

/// Lists the columns of each of some snapshots as one JSON array: a row for each column takes a
/// driver twice as long.
macro_rules! listed_columns {
    ($array:literal, $list:literal, $few_values:literal, $nullable:literal, $of:literal) => {
        concat!(
            "SELECT c.snapshot, CAST(",
            $array,
            "(",
            $list,
            "(c.name, c.column_type, ",
            $nullable,
            ", c.role, c.unit, c.description, ",
            $few_values,
            ", c.text_traits)
                ORDER BY c.position) AS TEXT) AS listed
            FROM columns c
            WHERE c.snapshot ",
            $of,
            "
            GROUP BY c.snapshot"
        )
    };
    (SQLite, $of:literal) => {
        listed_columns!(
            "json_group_array",
            "json_array",
            "json(CASE WHEN c.few_values THEN 'true' ELSE 'false' END)",
            "json(CASE WHEN c.nullable THEN 'true' ELSE 'false' END)",
            $of
        )
    };
    (PostgreSQL, $of:literal) => {
        listed_columns!("json_agg", "json_build_array", "c.few_values", "c.nullable", $of)
    };
    ($of:literal) => {
        [listed_columns!(SQLite, $of), listed_columns!(PostgreSQL, $of)]
    };
}

/// Statements for SQLite and for PostgreSQL.
const CURRENT_COLUMNS: [&str; 2] =
    listed_columns!("IN (SELECT MAX(number) FROM snapshots GROUP BY dataset)");

const COLUMNS_OF: [&str; 2] = listed_columns!("= $1");

/// Lists retained snapshots with what each changed of the one before it.
macro_rules! summaries {
    () => {
        "SELECT s.dataset, s.id, s.version, s.created_at, s.row_count, s.held_at, s.bulk_redistribution,
            c.inserted, c.deleted, c.updated, c.largest_revision
        FROM snapshots s LEFT JOIN changes c ON c.number = s.number"
    };
}

const SUMMARIES: &str = concat!(summaries!(), " ORDER BY s.dataset, s.number");

const SUMMARIES_OF: &str = concat!(summaries!(), " WHERE s.dataset = $1 ORDER BY s.number");

/// Retires nothing of which a release waits: it would come back at its time.
const RETIRE: &str = "
    UPDATE datasets SET retired_at = $2 WHERE name = $1 AND retired_at IS NULL
    AND NOT EXISTS (SELECT 1 FROM waiting_releases w WHERE w.dataset = $1)";

const RETIRED: &str = "SELECT name, retired_at FROM datasets WHERE retired_at IS NOT NULL";

impl Catalog {
    /// Reads every dataset that is not retired, and when others were, as of one instant. Only
    /// datasets that changed since `known` was read are read again.
    ///
    /// # Errors
    /// [`CatalogError::Query`] when the database does not answer or holds a value of a newer
    /// version.
    pub async fn dataset_set(&self, known: &DatasetSet) -> Result<DatasetSet, CatalogError> {
        transaction!(self, "list datasets", Read, |connection| async {
            let versions: Vec<DatasetVersion> = connection.query(DATASET_VERSIONS).all().await?;
            let moved: Vec<DatasetVersion> =
                versions.iter().filter(|version| !known.is_current(version)).cloned().collect();
            let read = if moved.len() > MAX_SINGLE_READS {
                read_all_datasets(connection).await?
            } else {
                read_datasets(connection, &moved).await?
            };
            let retired: Vec<(String, i64)> = connection.query(RETIRED).all().await?;
            let retired = retired.into_iter().map(|(name, at)| (name, Millis(at))).collect();
            Ok(known.with_changes(versions, read, retired))
        })
    }

    /// Reads [`Catalog::dataset_set`] from scratch, sorted by name.
    ///
    /// # Errors
    /// As [`Catalog::dataset_set`].
    pub async fn datasets(&self) -> Result<Vec<Dataset>, CatalogError> {
        let set = self.dataset_set(&DatasetSet::default()).await?;
        Ok(set.sorted().iter().map(|dataset| Dataset::clone(dataset)).collect())
    }

    /// Reads one dataset; `None` when there is none or it is retired.
    ///
    /// # Errors
    /// As [`Catalog::dataset_set`].
    pub async fn dataset(&self, name: &DatasetName) -> Result<Option<Dataset>, CatalogError> {
        transaction!(self, "look a dataset up", Read, |connection| async {
            let version: Option<DatasetVersion> =
                connection.query(DATASET_VERSION).bind(name.as_str()).fetch_optional().await?;
            Ok(read_datasets(connection, version.as_slice()).await?.pop())
        })
    }

    /// Stops serving a dataset; its snapshots stay. False when there is none, it is retired
    /// already, or a release of it waits.
    ///
    /// # Errors
    /// [`CatalogError::Query`] when the database does not answer.
    pub async fn retire_dataset(&self, dataset: &DatasetName) -> Result<bool, CatalogError> {
        transaction!(self, "retire a dataset", Write, |connection| async {
            connection.query(holds::LOCK_DATASET).bind(dataset.as_str()).execute().await?;
            let at = database_time(connection).await?;
            let changed =
                connection.query(RETIRE).bind(dataset.as_str()).bind(at.0).execute().await?;
            if changed == 0 {
                return Ok(false);
            }
            bump_revision(connection).await?;
            Ok(true)
        })
    }
}

/// A row of `datasets` with its current snapshot.
#[derive(sqlx::FromRow)]
struct DatasetRow {
    namespace: String,
    checked_at: i64,
    column_changes: i64,
    #[sqlx(flatten)]
    current: SnapshotRow,
}

/// Columns of `snapshots` that a list of retained snapshots needs.
#[derive(sqlx::FromRow)]
struct SummaryRow {
    dataset: String,
    id: String,
    version: i64,
    created_at: i64,
    row_count: i64,
    held_at: Option<i64>,
    bulk_redistribution: bool,
    inserted: Option<i64>,
    deleted: Option<i64>,
    updated: Option<i64>,
    largest_revision: Option<String>,
}

impl SummaryRow {
    /// Returns the dataset and the summary.
    fn read(self) -> Result<(String, SnapshotSummary), sqlx::Error> {
        let place = RowContext { table: "snapshots", row: &self.id };
        let summary = SnapshotSummary {
            id: place.parse("id", &self.id)?,
            version: place.count("version", self.version)?,
            created_at: Millis(self.created_at),
            rows: place.count("row_count", self.row_count)?,
            held: self.held_at.is_some(),
            bulk_redistribution: self.bulk_redistribution,
            changes: known_counts(&place, (self.inserted, self.deleted, self.updated))?,
            largest_revision: revision(&place, self.largest_revision.as_deref())?,
        };
        Ok((self.dataset, summary))
    }
}

/// Reads what is retained of a dataset, retired or not, oldest first.
pub(super) async fn summaries(
    connection: &mut Connection<'_>,
    name: &DatasetName,
) -> Result<Vec<SnapshotSummary>, sqlx::Error> {
    let rows: Vec<SummaryRow> = connection.query(SUMMARIES_OF).bind(name.as_str()).all().await?;
    rows.into_iter().map(|row| row.read().map(|(_, summary)| summary)).collect()
}

async fn read_datasets(
    connection: &mut Connection<'_>,
    moved: &[DatasetVersion],
) -> Result<Vec<Dataset>, sqlx::Error> {
    let columns = COLUMNS_OF[usize::from(connection.is_postgres())];
    let mut read = Vec::with_capacity(moved.len());
    for DatasetVersion { name, current, .. } in moved {
        let found: Option<DatasetRow> =
            connection.query(DATASET).bind(name.as_str()).fetch_optional().await?;
        let Some(row) = found else { continue };
        let mut parts = DatasetParts::default();
        let listed = connection.query(columns).bind(*current).fetch_optional().await?;
        listed.into_iter().for_each(|listed| parts.add_columns(listed));
        let summaries = connection.query(SUMMARIES_OF).bind(name.as_str());
        summaries.for_each(|row| parts.add_summary(row)).await?;
        read.push(parts.assemble(row)?);
    }
    Ok(read)
}

/// Reads the rows of datasets last: each is put together as it arrives, and none is held.
async fn read_all_datasets(connection: &mut Connection<'_>) -> Result<Vec<Dataset>, sqlx::Error> {
    let columns = CURRENT_COLUMNS[usize::from(connection.is_postgres())];
    let mut parts = DatasetParts::default();
    let add_columns = |listed| {
        parts.add_columns(listed);
        Ok(())
    };
    connection.query(columns).for_each(add_columns).await?;
    connection.query(SUMMARIES).for_each(|row| parts.add_summary(row)).await?;
    let mut read = Vec::with_capacity(parts.summaries.len());
    let assemble = |row| {
        read.push(parts.assemble(row)?);
        Ok(())
    };
    connection.query(DATASETS).for_each(assemble).await?;
    Ok(read)
}

/// Columns of a snapshot.
#[derive(sqlx::FromRow)]
struct ListedColumns {
    snapshot: i64,
    listed: String,
}

/// Answers that datasets are made of beside their own rows.
#[derive(Default)]
struct DatasetParts {
    /// As text, by the number of the snapshot.
    columns: HashMap<i64, String>,
    /// By dataset, oldest first.
    summaries: HashMap<String, Vec<SnapshotSummary>>,
}

impl DatasetParts {
    fn add_columns(&mut self, ListedColumns { snapshot, listed }: ListedColumns) {
        self.columns.insert(snapshot, listed);
    }

    fn add_summary(&mut self, row: SummaryRow) -> Result<(), sqlx::Error> {
        let (dataset, summary) = row.read()?;
        self.summaries.entry(dataset).or_default().push(summary);
        Ok(())
    }

    /// Makes a dataset of its row and its parts, which are taken.
    fn assemble(&mut self, row: DatasetRow) -> Result<Dataset, sqlx::Error> {
        let DatasetRow { namespace, checked_at, column_changes, current } = row;
        let dataset = current.dataset.clone();
        let place = RowContext { table: "datasets", row: &dataset };
        let listed = self.columns.remove(&current.number);
        let columns = listed.map(|listed| serde_json::from_str(&listed)).transpose();
        let columns = columns.map_err(|error| sqlx::Error::Decode(error.into()))?;
        let mut snapshots = self.summaries.remove(&dataset).unwrap_or_default();
        snapshots.shrink_to_fit();
        Ok(Dataset {
            name: place.parse::<DatasetName>("name", &dataset)?,
            namespace: place.parse::<Namespace>("namespace", &namespace)?,
            checked_at: Millis(checked_at),
            column_changes: place.count("column_changes", column_changes)?,
            current: Arc::new(current.with_columns(columns.unwrap_or_default())?),
            snapshots,
        })
    }
}
