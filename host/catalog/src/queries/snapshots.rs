//! Snapshots of datasets with their columns, as they are read. Never writes one
//! (`snapshot_writes.rs`).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use yearbook_domain::meaning::{ColumnMeaning, DatasetMeaning};
use yearbook_domain::{
    BoundingBox, Column, ColumnRole, Credit, DatasetName, Digest, Millis, Snapshot, SnapshotId,
    StoredFile, TextTraits,
};

use super::sql_enum::RowContext;
use crate::catalog::transaction;
use crate::sql::Connection;
use crate::{Catalog, CatalogError};

/// Columns of a snapshot's row, named one by one: a newer host may add columns to the table while
/// this one runs.
macro_rules! snapshot_columns {
    () => {
        "s.number, s.dataset, s.id, s.created_at, s.row_count, s.file_sha256, s.file_bytes, s.title, s.description, s.source,
        s.attribution, s.licence, s.source_url, s.source_url_precision, s.refresh_cadence, s.bulk_redistribution, s.layout,
        s.primary_key, s.dimensions, s.date_column, s.first_date, s.last_date, s.west, s.south, s.east, s.north, s.licence_title,
        s.licence_url, s.sources, s.keywords, s.meaning"
    };
}
pub(super) use snapshot_columns;

/// Selects one snapshot. The history may hold an id twice; the newest counts.
const SNAPSHOT: &str = concat!(
    "SELECT ",
    snapshot_columns!(),
    " FROM snapshots s WHERE s.dataset = $1 AND s.id = $2 ORDER BY s.number DESC LIMIT 1"
);

/// Selects the newest snapshot, as [`SNAPSHOT`] does.
const CURRENT_SNAPSHOT: &str = concat!(
    "SELECT ",
    snapshot_columns!(),
    " FROM snapshots s WHERE s.dataset = $1 ORDER BY s.number DESC LIMIT 1"
);

/// Selects one snapshot by its number.
const SNAPSHOT_BY_NUMBER: &str =
    concat!("SELECT ", snapshot_columns!(), " FROM snapshots s WHERE s.number = $1");

/// Selects what follows the newest snapshot needs of it.
const CURRENT: &str = "SELECT number, id, file_sha256, created_at, held_at FROM snapshots WHERE dataset = $1 ORDER BY number DESC LIMIT 1";

const COLUMNS: &str = "
    SELECT snapshot, name, column_type, nullable, role, unit, description, few_values, text_traits
    FROM columns WHERE snapshot = $1 ORDER BY position";

const IS_RETAINED: &str = "SELECT COUNT(*) FROM snapshots WHERE dataset = $1 AND id = $2";

const WAS_DROPPED: &str = "SELECT COUNT(*) FROM dropped_snapshots WHERE dataset = $1 AND id = $2";

/// Lists each file once: datasets may share a file of changes, and one may be a snapshot's file
/// too.
const REFERENCED_FILES: &str = "
    SELECT file_sha256, file_bytes FROM snapshots UNION SELECT file_sha256, file_bytes FROM changes
    UNION SELECT file_sha256, file_bytes FROM past_versions WHERE file_sha256 IS NOT NULL
    UNION SELECT file_sha256, file_bytes FROM past_changes
    UNION SELECT file_sha256, file_bytes FROM waiting_releases
    UNION SELECT changes_sha256, changes_bytes FROM waiting_releases WHERE changes_sha256 IS NOT NULL ORDER BY file_sha256";

/// State of a snapshot id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SnapshotStatus {
    /// Retained: it can be read.
    Retained,
    /// Served once, no longer retained (410).
    Dropped,
    /// Never existed (404).
    Unknown,
}

impl Catalog {
    /// Reads the newest snapshot of a dataset, retired or not: what a publisher compares with.
    ///
    /// # Errors
    /// [`CatalogError::Query`] when the database does not answer or holds a value of a newer
    /// version.
    pub async fn current_snapshot(
        &self,
        dataset: &DatasetName,
    ) -> Result<Option<Snapshot>, CatalogError> {
        transaction!(self, "read the current snapshot", Read, |connection| {
            current(connection, dataset)
        })
    }

    /// Reads a retained snapshot. None: it was dropped or never existed
    /// ([`Catalog::snapshot_status`]).
    ///
    /// # Errors
    /// As [`Catalog::current_snapshot`].
    pub async fn snapshot(
        &self,
        dataset: &DatasetName,
        id: &SnapshotId,
    ) -> Result<Option<Snapshot>, CatalogError> {
        transaction!(self, "read a snapshot", Read, |connection| snapshot(connection, dataset, id))
    }

    /// Tells a retained snapshot from a dropped one and from one that never existed.
    ///
    /// # Errors
    /// As [`Catalog::current_snapshot`].
    pub async fn snapshot_status(
        &self,
        dataset: &DatasetName,
        id: &SnapshotId,
    ) -> Result<SnapshotStatus, CatalogError> {
        transaction!(self, "look a snapshot up", Read, |connection| {
            snapshot_status(connection, dataset, id)
        })
    }

    /// Lists every stored file that a retained snapshot, its changes or the history need, those of
    /// retired datasets included; each once, sorted by digest.
    ///
    /// # Errors
    /// As [`Catalog::current_snapshot`].
    pub async fn referenced_files(&self) -> Result<Vec<StoredFile>, CatalogError> {
        transaction!(self, "list the files in use", SingleRead, |connection| async {
            let rows: Vec<FileRow> = connection.query(REFERENCED_FILES).all().await?;
            rows.into_iter().map(FileRow::read).collect()
        })
    }
}

/// A row of `snapshots` without its columns.
#[derive(sqlx::FromRow)]
pub(super) struct SnapshotRow {
    pub(super) number: i64,
    pub(super) dataset: String,
    id: String,
    created_at: i64,
    row_count: i64,
    file_sha256: String,
    file_bytes: i64,
    title: Option<String>,
    description: Option<String>,
    source: String,
    attribution: String,
    licence: String,
    source_url: Option<String>,
    source_url_precision: Option<String>,
    refresh_cadence: Option<String>,
    bulk_redistribution: bool,
    layout: String,
    primary_key: String,
    dimensions: String,
    date_column: Option<String>,
    first_date: Option<String>,
    last_date: Option<String>,
    west: Option<f64>,
    south: Option<f64>,
    east: Option<f64>,
    north: Option<f64>,
    licence_title: Option<String>,
    licence_url: Option<String>,
    sources: String,
    keywords: String,
    meaning: String,
}

impl SnapshotRow {
    /// Reads the snapshot with `columns`, which are in order.
    pub(super) fn with_columns(self, columns: Vec<ColumnRow>) -> Result<Snapshot, sqlx::Error> {
        let row = format!("dataset {}, snapshot {}", self.dataset, self.id);
        let place = RowContext { table: "snapshots", row: &row };
        let mut meaning: StoredMeaning = place.decode_json("meaning", &self.meaning)?;
        let columns = columns.into_iter().map(|column| column.read(&row, &mut meaning));
        let mut columns: Vec<Column> = columns.collect::<Result<_, _>>()?;
        // Most of what a host of many datasets holds.
        columns.shrink_to_fit();
        Ok(Snapshot {
            created_at: Millis(self.created_at),
            rows: place.count("row_count", self.row_count)?,
            file: StoredFile {
                sha256: place.parse("file_sha256", &self.file_sha256)?,
                bytes: place.count("file_bytes", self.file_bytes)?,
            },
            title: self.title,
            description: self.description,
            keywords: place.decode_json("keywords", &self.keywords)?,
            credit: Credit {
                source: self.source,
                attribution: self.attribution,
                licence: self.licence,
                licence_title: self.licence_title,
                licence_url: self.licence_url,
                source_url: self.source_url,
                source_url_precision: self
                    .source_url_precision
                    .map(|word| place.parse("source_url_precision", &word))
                    .transpose()?,
                sources: place.decode_json("sources", &self.sources)?,
            },
            refresh_cadence: self.refresh_cadence,
            bulk_redistribution: self.bulk_redistribution,
            columns,
            primary_key: place.decode_json("primary_key", &self.primary_key)?,
            dimensions: place.decode_json("dimensions", &self.dimensions)?,
            date_column: self.date_column,
            date_range: match (&self.first_date, &self.last_date) {
                (Some(first), Some(last)) => {
                    Some((place.parse("first_date", first)?, place.parse("last_date", last)?))
                }
                _ => None,
            },
            layout: place.parse("layout", &self.layout)?,
            bbox: match (self.west, self.south, self.east, self.north) {
                (Some(west), Some(south), Some(east), Some(north)) => {
                    Some(BoundingBox([west, south, east, north]))
                }
                _ => None,
            },
            meaning: meaning.dataset,
            id: place.parse("id", &self.id)?,
        })
    }
}

/// The column `meaning`.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct StoredMeaning {
    #[serde(flatten)]
    dataset: DatasetMeaning,
    /// By name of the column.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    columns: BTreeMap<String, Box<ColumnMeaning>>,
}

impl StoredMeaning {
    pub(super) fn new(snapshot: &Snapshot) -> Self {
        let meaning = |column: &Column| Some((column.name.clone(), column.meaning.clone()?));
        Self {
            dataset: snapshot.meaning.clone(),
            columns: snapshot.columns.iter().filter_map(meaning).collect(),
        }
    }
}

/// A row of `columns`; without the snapshot where it stands in a list of that.
#[derive(sqlx::FromRow, Deserialize)]
pub(super) struct ColumnRow {
    #[serde(skip)]
    pub(super) snapshot: i64,
    name: String,
    column_type: String,
    nullable: bool,
    role: String,
    unit: Option<String>,
    description: Option<String>,
    few_values: bool,
    text_traits: i64,
}

impl ColumnRow {
    fn read(self, snapshot: &str, meaning: &mut StoredMeaning) -> Result<Column, sqlx::Error> {
        let row = format!("{} in {snapshot}", self.name);
        let place = RowContext { table: "columns", row: &row };
        let meaning = meaning.columns.remove(&self.name);
        let has_statuses = meaning.as_ref().is_some_and(|meaning| meaning.status.is_some());
        Ok(Column {
            column_type: place.parse("column_type", &self.column_type)?,
            nullable: self.nullable,
            // An older host, which knows no statuses, takes them for attributes.
            role: if has_statuses {
                ColumnRole::Status
            } else {
                place.parse("role", &self.role)?
            },
            meaning,
            unit: self.unit,
            description: self.description,
            few_values: self.few_values,
            // Those of a newer version are not known here.
            text_traits: u16::try_from(self.text_traits)
                .map_or_else(|_| TextTraits::empty(), TextTraits::from_bits_truncate),
            name: self.name,
        })
    }
}

/// Columns that name a stored file.
#[derive(sqlx::FromRow)]
struct FileRow {
    file_sha256: String,
    file_bytes: i64,
}

impl FileRow {
    fn read(self) -> Result<StoredFile, sqlx::Error> {
        let place = RowContext { table: "snapshots", row: &self.file_sha256 };
        Ok(StoredFile {
            sha256: place.parse("file_sha256", &self.file_sha256)?,
            bytes: place.count("file_bytes", self.file_bytes)?,
        })
    }
}

/// The newest snapshot of a dataset, as far as what follows it needs to know.
pub(super) struct CurrentSnapshot {
    pub(super) number: i64,
    pub(super) id: SnapshotId,
    pub(super) file: Digest,
    pub(super) created_at: Millis,
    pub(super) held_at: Option<i64>,
}

pub(super) async fn snapshot(
    connection: &mut Connection<'_>,
    dataset: &DatasetName,
    id: &SnapshotId,
) -> Result<Option<Snapshot>, sqlx::Error> {
    let found = connection
        .query(SNAPSHOT)
        .bind(dataset.as_str())
        .bind(id.as_str())
        .fetch_optional()
        .await?;
    read_columns(connection, found).await
}

/// Reads the snapshot with this number.
pub(super) async fn by_number(
    connection: &mut Connection<'_>,
    number: i64,
) -> Result<Option<Snapshot>, sqlx::Error> {
    let found = connection.query(SNAPSHOT_BY_NUMBER).bind(number).fetch_optional().await?;
    read_columns(connection, found).await
}

/// Reads the newest snapshot of a dataset, retired or not.
pub(super) async fn current(
    connection: &mut Connection<'_>,
    dataset: &DatasetName,
) -> Result<Option<Snapshot>, sqlx::Error> {
    let found = connection.query(CURRENT_SNAPSHOT).bind(dataset.as_str()).fetch_optional().await?;
    read_columns(connection, found).await
}

async fn read_columns(
    connection: &mut Connection<'_>,
    found: Option<SnapshotRow>,
) -> Result<Option<Snapshot>, sqlx::Error> {
    let Some(row) = found else { return Ok(None) };
    let columns = connection.query(COLUMNS).bind(row.number).all().await?;
    row.with_columns(columns).map(Some)
}

pub(super) async fn snapshot_status(
    connection: &mut Connection<'_>,
    dataset: &DatasetName,
    id: &SnapshotId,
) -> Result<SnapshotStatus, sqlx::Error> {
    for (statement, status) in
        [(IS_RETAINED, SnapshotStatus::Retained), (WAS_DROPPED, SnapshotStatus::Dropped)]
    {
        let (rows,): (i64,) = connection
            .query(statement)
            .bind(dataset.as_str())
            .bind(id.as_str())
            .fetch_one()
            .await?;
        if rows > 0 {
            return Ok(status);
        }
    }
    Ok(SnapshotStatus::Unknown)
}

/// Reads what follows the newest snapshot needs of it.
pub(super) async fn current_row(
    connection: &mut Connection<'_>,
    dataset: &DatasetName,
) -> Result<Option<CurrentSnapshot>, sqlx::Error> {
    let found: Option<(i64, String, String, i64, Option<i64>)> =
        connection.query(CURRENT).bind(dataset.as_str()).fetch_optional().await?;
    let Some((number, id, file, created_at, held_at)) = found else { return Ok(None) };
    let place = RowContext { table: "snapshots", row: dataset.as_str() };
    Ok(Some(CurrentSnapshot {
        number,
        id: place.parse("id", &id)?,
        file: place.parse("file_sha256", &file)?,
        created_at: Millis(created_at),
        held_at,
    }))
}
