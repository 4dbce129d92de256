//! Rows as they lie in the tables, and what they mean. Written once for every database: `FromRow`
//! is derived for any driver.

mod release_metrics;

use std::collections::HashMap;
use std::sync::Arc;

use yearbook_domain::changes::ChangeSet;
use yearbook_domain::{
    BoundingBox, Column, Credit, CreditLine, Dataset, DatasetName, Millis, Namespace, Snapshot,
    SnapshotSummary, StoredFile,
};

use crate::sql_enum::RowContext;
use crate::{KeyHash, KeyRecord, PluginRelease, ReleaseEvent, ReleaseId};

pub(crate) use release_metrics::{CanaryTotalsRow, ReleaseUsageRow};

/// A row of `snapshots` without its columns.
#[derive(sqlx::FromRow)]
pub(crate) struct SnapshotRow {
    pub(crate) number: i64,
    dataset: String,
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
    /// None: published before sources were kept.
    sources: Option<String>,
}

impl SnapshotRow {
    /// The snapshot with `columns`, which are in order.
    pub(crate) fn with_columns(self, columns: Vec<ColumnRow>) -> Result<Snapshot, sqlx::Error> {
        let row = format!("dataset {}, snapshot {}", self.dataset, self.id);
        let place = RowContext { table: "snapshots", row: &row };
        Ok(Snapshot {
            created_at: Millis(self.created_at),
            rows: place.count("row_count", self.row_count)?,
            file: StoredFile {
                sha256: self.file_sha256,
                bytes: place.count("file_bytes", self.file_bytes)?,
            },
            title: self.title,
            description: self.description,
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
                sources: self
                    .sources
                    .map_or_else(|| Ok(Vec::new()), |json| place.decode_list("sources", &json))?,
            },
            refresh_cadence: self.refresh_cadence,
            bulk_redistribution: self.bulk_redistribution,
            columns: columns
                .into_iter()
                .map(|column| column.read(&row))
                .collect::<Result<_, _>>()?,
            primary_key: place.names("primary_key", &self.primary_key)?,
            dimensions: place.names("dimensions", &self.dimensions)?,
            date_column: self.date_column,
            date_range: self.first_date.zip(self.last_date),
            layout: place.parse("layout", &self.layout)?,
            bbox: match (self.west, self.south, self.east, self.north) {
                (Some(west), Some(south), Some(east), Some(north)) => {
                    Some(BoundingBox([west, south, east, north]))
                }
                _ => None,
            },
            id: self.id,
        })
    }
}

/// A row of `columns`.
#[derive(sqlx::FromRow)]
pub(crate) struct ColumnRow {
    snapshot: i64,
    name: String,
    column_type: String,
    nullable: bool,
    role: String,
    unit: Option<String>,
    description: Option<String>,
    few_values: bool,
}

impl ColumnRow {
    fn read(self, snapshot: &str) -> Result<Column, sqlx::Error> {
        let row = format!("{} in {snapshot}", self.name);
        let place = RowContext { table: "columns", row: &row };
        Ok(Column {
            column_type: place.parse("column_type", &self.column_type)?,
            nullable: self.nullable,
            role: place.parse("role", &self.role)?,
            unit: self.unit,
            description: self.description,
            few_values: self.few_values,
            name: self.name,
        })
    }
}

/// A row of `datasets` with its current snapshot.
#[derive(sqlx::FromRow)]
pub(crate) struct DatasetRow {
    namespace: String,
    checked_at: i64,
    #[sqlx(flatten)]
    current: SnapshotRow,
}

/// What the list of retained snapshots needs of a row of `snapshots`.
#[derive(sqlx::FromRow)]
pub(crate) struct SummaryRow {
    dataset: String,
    id: String,
    created_at: i64,
    row_count: i64,
}

/// Puts the three answers together that make up the catalogue. `columns` are in
/// order within each snapshot, `summaries` are oldest first within each dataset.
pub(crate) fn assemble_datasets(
    datasets: Vec<DatasetRow>,
    columns: Vec<ColumnRow>,
    summaries: Vec<SummaryRow>,
) -> Result<Vec<Dataset>, sqlx::Error> {
    let mut columns_of: HashMap<i64, Vec<ColumnRow>> = HashMap::with_capacity(datasets.len());
    for column in columns {
        columns_of.entry(column.snapshot).or_default().push(column);
    }
    let mut summaries_of: HashMap<String, Vec<SnapshotSummary>> =
        HashMap::with_capacity(datasets.len());
    for row in summaries {
        let rows =
            RowContext { table: "snapshots", row: &row.id }.count("row_count", row.row_count)?;
        let summary = SnapshotSummary { id: row.id, created_at: Millis(row.created_at), rows };
        summaries_of.entry(row.dataset).or_default().push(summary);
    }
    let mut assembled = Vec::with_capacity(datasets.len());
    for DatasetRow { namespace, checked_at, current } in datasets {
        let dataset = current.dataset.clone();
        let place = RowContext { table: "datasets", row: &dataset };
        let columns = columns_of.remove(&current.number).unwrap_or_default();
        assembled.push(Dataset {
            name: place.parse::<DatasetName>("name", &dataset)?,
            namespace: place.parse::<Namespace>("namespace", &namespace)?,
            checked_at: Millis(checked_at),
            current: Arc::new(current.with_columns(columns)?),
            snapshots: summaries_of.remove(&dataset).unwrap_or_default(),
        });
    }
    Ok(assembled)
}

/// A row of `snapshots` as far as garbage collection goes.
#[derive(sqlx::FromRow)]
pub(crate) struct FileRow {
    file_sha256: String,
    file_bytes: i64,
}

impl FileRow {
    pub(crate) fn read(self) -> Result<StoredFile, sqlx::Error> {
        let bytes = RowContext { table: "snapshots", row: &self.file_sha256 }
            .count("file_bytes", self.file_bytes)?;
        Ok(StoredFile { sha256: self.file_sha256, bytes })
    }
}

/// A row of `changes`.
#[derive(sqlx::FromRow)]
pub(crate) struct ChangesRow {
    pub(crate) number: i64,
    pub(crate) from_number: i64,
    from_id: String,
    to_id: String,
    committed_at: i64,
    row_count: i64,
    file_sha256: String,
    file_bytes: i64,
    columns: String,
    from_attribution: Option<String>,
    from_licence: Option<String>,
    to_attribution: Option<String>,
    to_licence: Option<String>,
}

impl ChangesRow {
    pub(crate) fn read(self) -> Result<ChangeSet, sqlx::Error> {
        let place = RowContext { table: "changes", row: &self.to_id };
        Ok(ChangeSet {
            rows: place.count("row_count", self.row_count)?,
            file: StoredFile {
                bytes: place.count("file_bytes", self.file_bytes)?,
                sha256: self.file_sha256,
            },
            columns: place.decode_list("columns", &self.columns)?,
            from: self.from_id,
            committed_at: Millis(self.committed_at),
            to: self.to_id,
            from_credit: credit_line(self.from_attribution, self.from_licence),
            to_credit: credit_line(self.to_attribution, self.to_licence),
        })
    }
}

/// A credit, where it is known.
fn credit_line(attribution: Option<String>, licence: Option<String>) -> Option<CreditLine> {
    Some(CreditLine { attribution: attribution?, licence: licence? })
}

/// A row of `keys`.
#[derive(sqlx::FromRow)]
pub(crate) struct KeyRow {
    id: String,
    label: Option<String>,
    plan: String,
    created_at: i64,
    revoked_at: Option<i64>,
}

impl KeyRow {
    pub(crate) fn read(self) -> Result<KeyRecord, sqlx::Error> {
        Ok(KeyRecord {
            plan: RowContext { table: "keys", row: &self.id }.parse("plan", &self.plan)?,
            label: self.label,
            created_at: Millis(self.created_at),
            revoked_at: self.revoked_at.map(Millis),
            id: self.id,
        })
    }
}

/// A row of `keys` found by its hash.
#[derive(sqlx::FromRow)]
pub(crate) struct FoundKeyRow {
    hash: Vec<u8>,
    #[sqlx(flatten)]
    key: KeyRow,
}

impl FoundKeyRow {
    /// The key, if its hash is the one looked for. An index may stop comparing at the first byte
    /// that differs; this comparison takes the same time whatever it is given.
    pub(crate) fn into_record_if_matches(
        self,
        hash: &KeyHash,
    ) -> Result<Option<KeyRecord>, sqlx::Error> {
        if hash.matches_stored(&self.hash) { self.key.read().map(Some) } else { Ok(None) }
    }
}

/// A row of `plugin_releases`.
#[derive(sqlx::FromRow)]
pub(crate) struct ReleaseRow {
    kind: String,
    name: String,
    digest: String,
    version: String,
    bytes: i64,
    installed_by: String,
    installed_at: i64,
    state: String,
    built_in: bool,
    promotion: i64,
    pinned: bool,
    reason: Option<String>,
    until: Option<i64>,
    quarantines: i64,
}

impl ReleaseRow {
    pub(crate) fn read(self) -> Result<PluginRelease, sqlx::Error> {
        let place = RowContext { table: "plugin_releases", row: &self.name };
        Ok(PluginRelease {
            bytes: place.count("bytes", self.bytes)?,
            state: place.parse("state", &self.state)?,
            version: self.version,
            by: self.installed_by,
            installed_at: Millis(self.installed_at),
            built_in: self.built_in,
            promotion: self.promotion,
            pinned: self.pinned,
            reason: self.reason,
            until: self.until.map(Millis),
            quarantines: u32::try_from(self.quarantines).unwrap_or(u32::MAX),
            id: ReleaseId { kind: self.kind, name: self.name, digest: self.digest },
        })
    }
}

/// A row of `plugin_events`.
#[derive(sqlx::FromRow)]
pub(crate) struct EventRow {
    number: i64,
    kind: String,
    name: String,
    digest: String,
    what: String,
    by_whom: String,
    at: i64,
    reason: Option<String>,
}

impl EventRow {
    pub(crate) fn read(self) -> ReleaseEvent {
        ReleaseEvent {
            number: self.number,
            id: ReleaseId { kind: self.kind, name: self.name, digest: self.digest },
            what: self.what,
            by: self.by_whom,
            at: Millis(self.at),
            reason: self.reason,
        }
    }
}
