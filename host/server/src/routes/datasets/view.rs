//! Datasets as clients see them: `DatasetMeta` and its extension (spec-2.1-list, spec-2.1-detail).
//! Field order is that of the specification.

use serde::Serialize;
use yearbook_domain::credit::SourceUrlPrecision;
use yearbook_domain::{
    BoundingBox, ColumnRole, ColumnType, Dataset, DatasetName, Date, Namespace, SnapshotId,
    SourceEntry, TableLayout,
};

/// `DatasetMeta`.
#[derive(Serialize)]
pub(super) struct DatasetMeta<'a> {
    name: &'a DatasetName,
    namespace: &'a Namespace,
    source: &'a str,
    title: Option<&'a str>,
    description: Option<&'a str>,
}

/// One dataset with everything that clients need before they ask for rows.
#[derive(Serialize)]
pub(super) struct DatasetDetails<'a> {
    #[serde(flatten)]
    meta: DatasetMeta<'a>,
    date_filter_column: Option<&'a str>,
    attribution_text: &'a str,
    licence: &'a str,
    licence_title: Option<&'a str>,
    licence_url: Option<&'a str>,
    source_url: Option<&'a str>,
    source_url_precision: Option<SourceUrlPrecision>,
    sources: &'a [SourceEntry],
    last_refreshed_at: String,
    refresh_cadence: Option<&'a str>,
    row_count_at_last_refresh: u64,
    current_snapshot_id: &'a SnapshotId,
    columns: Vec<ColumnView<'a>>,
    primary_key: &'a [String],
    dimensions: &'a [String],
    layout: TableLayout,
    has_geometry: bool,
    bbox: Option<BoundingBox>,
    date_range: Option<DateRangeView<'a>>,
    checked_at: String,
    snapshots: Vec<SnapshotView<'a>>,
}

#[derive(Serialize)]
struct ColumnView<'a> {
    name: &'a str,
    #[serde(rename = "type")]
    column_type: ColumnType,
    nullable: bool,
    role: ColumnRole,
    unit: Option<&'a str>,
    description: Option<&'a str>,
}

#[derive(Serialize)]
struct DateRangeView<'a> {
    first: &'a Date,
    last: &'a Date,
}

#[derive(Serialize)]
struct SnapshotView<'a> {
    id: &'a SnapshotId,
    created_at: String,
    rows: u64,
}

impl<'a> DatasetMeta<'a> {
    pub(super) fn new(dataset: &'a Dataset) -> Self {
        let snapshot = &dataset.current;
        Self {
            name: &dataset.name,
            namespace: &dataset.namespace,
            source: &snapshot.credit.source,
            title: snapshot.title.as_deref(),
            description: snapshot.description.as_deref(),
        }
    }
}

impl<'a> DatasetDetails<'a> {
    pub(super) fn new(dataset: &'a Dataset) -> Self {
        let snapshot = &dataset.current;
        let credit = &snapshot.credit;
        let column = |column: &'a yearbook_domain::Column| ColumnView {
            name: &column.name,
            column_type: column.column_type,
            nullable: column.nullable,
            role: column.role,
            unit: column.unit.as_deref(),
            description: column.description.as_deref(),
        };
        let retained = |summary: &'a yearbook_domain::SnapshotSummary| SnapshotView {
            id: &summary.id,
            created_at: summary.created_at.to_rfc3339(),
            rows: summary.rows,
        };
        Self {
            meta: DatasetMeta::new(dataset),
            date_filter_column: snapshot.date_column.as_deref(),
            attribution_text: &credit.attribution,
            licence: &credit.licence,
            licence_title: credit.licence_title.as_deref(),
            licence_url: credit.licence_url.as_deref(),
            source_url: credit.source_url.as_deref(),
            source_url_precision: credit.source_url_precision,
            sources: &credit.sources,
            last_refreshed_at: snapshot.created_at.to_rfc3339(),
            refresh_cadence: snapshot.refresh_cadence.as_deref(),
            row_count_at_last_refresh: snapshot.rows,
            current_snapshot_id: &snapshot.id,
            columns: snapshot.columns.iter().map(column).collect(),
            primary_key: &snapshot.primary_key,
            dimensions: &snapshot.dimensions,
            layout: snapshot.layout,
            has_geometry: snapshot.has_geometry(),
            bbox: snapshot.bbox,
            date_range: snapshot
                .date_range
                .as_ref()
                .map(|(first, last)| DateRangeView { first, last }),
            checked_at: dataset.checked_at.to_rfc3339(),
            snapshots: dataset.snapshots.iter().map(retained).collect(),
        }
    }
}
