//! A generator's request as it crosses: the domain's own values, lent in the guest's shape.

use yearbook_domain::plan::BulkEntitlement;
use yearbook_domain::{ColumnRole, ColumnType, Snapshot, TableLayout};

use crate::generator_request::{DatasetWithUrls, GeneratorRequest};
use crate::guest::bindings::generator::exports::yearbook::plugin::generator as wire;
use crate::guest::bindings::yearbook::plugin::types;

/// Lends `request` in the guest's shape.
pub(super) fn borrow<T>(
    request: &GeneratorRequest,
    options: &[types::OptionValue<'_>],
    use_it: impl FnOnce(wire::Request<'_>) -> T,
) -> T {
    let columns: Vec<Vec<wire::Column<'_>>> =
        request.datasets.iter().map(|described| columns(&described.dataset.current)).collect();
    let keys: Vec<Vec<&str>> = request
        .datasets
        .iter()
        .map(|described| described.dataset.current.primary_key.iter().map(String::as_str).collect())
        .collect();
    let lists = columns.iter().zip(&keys);
    let datasets: Vec<wire::Dataset<'_>> = request
        .datasets
        .iter()
        .zip(lists)
        .map(|(described, (columns, key))| dataset(described, columns, key))
        .collect();
    use_it(wire::Request {
        base_url: &request.base_url,
        plan: wire::Plan {
            name: request.plan.as_str(),
            monthly_requests: request.limits.requests_per_month,
            row_cap: request.limits.row_cap,
            bulk: match request.limits.bulk {
                BulkEntitlement::None => wire::BulkFiles::None,
                BulkEntitlement::Monthly => wire::BulkFiles::Monthly,
                BulkEntitlement::Current => wire::BulkFiles::Current,
            },
        },
        datasets: &datasets,
        options,
    })
}

fn dataset<'a>(
    described: &'a DatasetWithUrls,
    columns: &'a [wire::Column<'a>],
    primary_key: &'a [&'a str],
) -> wire::Dataset<'a> {
    let dataset = &described.dataset;
    let snapshot = &dataset.current;
    let credit = &snapshot.credit;
    wire::Dataset {
        name: dataset.name.as_str(),
        namespace: dataset.namespace.as_str(),
        title: snapshot.title.as_deref(),
        description: snapshot.description.as_deref(),
        source: &credit.source,
        source_url: credit.source_url.as_deref(),
        licence: &credit.licence,
        attribution: &credit.attribution,
        columns,
        primary_key,
        layout: match snapshot.layout {
            TableLayout::Long => wire::Layout::Long,
            TableLayout::Wide => wire::Layout::Wide,
        },
        date_column: snapshot.date_column.as_deref(),
        date_range: snapshot
            .date_range
            .as_ref()
            .map(|(first, last)| (first.as_str(), last.as_str())),
        rows: snapshot.rows,
        snapshot_id: snapshot.id.as_str(),
        refresh_cadence: snapshot.refresh_cadence.as_deref(),
        data_url: &described.data_url,
        changes_url: &described.changes_url,
        bulk_url: described.bulk_url.as_deref(),
    }
}

fn columns(snapshot: &Snapshot) -> Vec<wire::Column<'_>> {
    let column = |column: &'_ yearbook_domain::Column| -> (wire::ColumnType, wire::Role) {
        let kind = match column.column_type {
            ColumnType::String => wire::ColumnType::Text,
            ColumnType::Integer => wire::ColumnType::Integer,
            ColumnType::Number => wire::ColumnType::Number,
            ColumnType::Boolean => wire::ColumnType::Boolean,
            ColumnType::Date => wire::ColumnType::Date,
        };
        let role = match column.role {
            ColumnRole::Date => wire::Role::Date,
            ColumnRole::Period => wire::Role::Period,
            ColumnRole::Dimension => wire::Role::Dimension,
            ColumnRole::Value => wire::Role::Value,
            ColumnRole::Geometry => wire::Role::Geometry,
            ColumnRole::Key => wire::Role::Key,
            // The frozen interface has no word for statuses.
            ColumnRole::Status | ColumnRole::Attribute => wire::Role::Attribute,
        };
        (kind, role)
    };
    snapshot
        .columns
        .iter()
        .map(|described| {
            let (type_, role) = column(described);
            wire::Column {
                name: &described.name,
                type_,
                nullable: described.nullable,
                role,
                unit: described.unit.as_deref(),
                description: described.description.as_deref(),
            }
        })
        .collect()
}
