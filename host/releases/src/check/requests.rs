//! Canned requests for generators: the SDK's test datasets as the host describes real ones.

use std::sync::Arc;

use yearbook_domain::meaning::DatasetMeaning;
use yearbook_domain::{
    Column, ColumnRole, ColumnType, Credit, Dataset, DatasetName, Date, Digest, Millis, Namespace,
    Plan, PlanTable, Snapshot, SnapshotId, StoredFile, TableLayout, TextTraits,
};
use yearbook_sandbox::{DatasetWithUrls, GeneratorRequest};
use yearbook_sdk::generator as sdk;
use yearbook_sdk::testing::project;

/// A request for those of the SDK's datasets that are named.
pub(super) fn sample_request(plan: Plan, names: &[&str]) -> GeneratorRequest {
    let canned = project::request();
    let datasets = canned.datasets.iter().filter(|dataset| names.contains(&dataset.name.as_str()));
    GeneratorRequest {
        base_url: canned.base_url.clone(),
        plan,
        limits: PlanTable::default().limits(plan),
        datasets: datasets.filter_map(with_urls).collect(),
        options: Vec::new(),
    }
}

/// A request for `count` datasets, each a copy with a name of its own, on a plan that allows it.
pub(super) fn sample_request_of(count: usize) -> GeneratorRequest {
    let shapes = project::request().datasets;
    let copy = |(index, shape): (usize, &sdk::Dataset)| {
        with_urls(&sdk::Dataset { name: format!("{}_{index}", shape.name), ..shape.clone() })
    };
    let datasets = shapes.iter().cycle().take(count).enumerate().filter_map(copy).collect();
    GeneratorRequest { datasets, ..sample_request(Plan::Enterprise, &[]) }
}

/// None for a name that no dataset can have.
fn with_urls(dataset: &sdk::Dataset) -> Option<DatasetWithUrls> {
    Some(DatasetWithUrls {
        dataset: Arc::new(Dataset {
            name: DatasetName::parse(&dataset.name)?,
            namespace: Namespace::parse(&dataset.namespace)?,
            checked_at: Millis(0),
            column_changes: 0,
            current: Arc::new(snapshot(dataset)?),
            snapshots: Vec::new(),
        }),
        data_url: dataset.data_url.clone(),
        changes_url: dataset.changes_url.clone(),
        bulk_url: dataset.bulk_url.clone(),
    })
}

fn snapshot(dataset: &sdk::Dataset) -> Option<Snapshot> {
    Some(Snapshot {
        id: SnapshotId::parse(&dataset.snapshot_id)?,
        created_at: Millis(0),
        rows: dataset.rows,
        file: StoredFile { sha256: Digest::compute(b""), bytes: 0 },
        title: dataset.title.clone(),
        description: dataset.description.clone(),
        keywords: Vec::new(),
        credit: Credit {
            source: dataset.source.clone(),
            attribution: dataset.attribution.clone(),
            licence: dataset.licence.clone(),
            licence_title: None,
            licence_url: None,
            source_url: dataset.source_url.clone(),
            source_url_precision: None,
            sources: Vec::new(),
        },
        refresh_cadence: dataset.refresh_cadence.clone(),
        bulk_redistribution: dataset.bulk_url.is_some(),
        columns: dataset.columns.iter().map(column).collect(),
        primary_key: dataset.primary_key.clone(),
        dimensions: dataset
            .columns
            .iter()
            .filter(|column| column.role == sdk::Role::Dimension)
            .map(|column| column.name.clone())
            .collect(),
        date_column: dataset.date_column.clone(),
        date_range: dataset
            .date_range
            .as_ref()
            .and_then(|(first, last)| Date::parse(first).zip(Date::parse(last))),
        layout: match dataset.layout {
            sdk::Layout::Long => TableLayout::Long,
            sdk::Layout::Wide => TableLayout::Wide,
        },
        bbox: None,
        meaning: DatasetMeaning::default(),
    })
}

fn column(column: &sdk::Column) -> Column {
    Column {
        name: column.name.clone(),
        column_type: match column.column_type {
            sdk::ColumnType::Text => ColumnType::String,
            sdk::ColumnType::Integer => ColumnType::Integer,
            sdk::ColumnType::Number => ColumnType::Number,
            sdk::ColumnType::Boolean => ColumnType::Boolean,
            sdk::ColumnType::Date => ColumnType::Date,
        },
        nullable: column.nullable,
        role: match column.role {
            sdk::Role::Date => ColumnRole::Date,
            sdk::Role::Period => ColumnRole::Period,
            sdk::Role::Dimension => ColumnRole::Dimension,
            sdk::Role::Value => ColumnRole::Value,
            sdk::Role::Geometry => ColumnRole::Geometry,
            sdk::Role::Key => ColumnRole::Key,
            sdk::Role::Attribute => ColumnRole::Attribute,
        },
        unit: column.unit.clone(),
        description: column.description.clone(),
        few_values: false,
        text_traits: TextTraits::empty(),
        meaning: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_canned_dataset_is_one_that_the_service_could_have() {
        assert_eq!(sample_request_of(8).datasets.len(), 8);
        let shapes =
            sample_request(Plan::Free, &["harvest_long", "prices_wide", "places", "codes"]);
        assert_eq!(shapes.datasets.len(), project::request().datasets.len());
    }
}
