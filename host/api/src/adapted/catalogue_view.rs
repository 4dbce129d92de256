//! Datasets, columns and answers in the words of the plugin interface.

use yearbook_domain::dataset::ROW_NUMBER_COLUMN;
use yearbook_domain::{Column, ColumnRole, ColumnType, Credit, ReadPlan};
use yearbook_sandbox::catalogue;
use yearbook_scan::RowCounts;

use crate::ApiState;
use crate::request::{DataRequest, output_table};
use crate::response::citation_link::address_for_rows;
use crate::response::headers::next_cursor;
use crate::response::plan::{ResponsePlan, RowSource};

/// Returns `columns` as adapters are told of them. What their publisher did not state is absent.
pub fn describe_columns<'a>(
    columns: impl IntoIterator<Item = &'a Column>,
) -> Vec<catalogue::Column> {
    columns.into_iter().map(describe_column).collect()
}

/// Returns `credit` as adapters are told of it.
#[must_use]
pub fn describe_credit(credit: &Credit) -> catalogue::Credit {
    catalogue::Credit {
        source: credit.source.clone(),
        source_url: credit.source_url.clone(),
        licence: credit.licence.clone(),
        licence_url: credit.licence_url.clone(),
        attribution: credit.attribution.clone(),
    }
}

/// Returns what is known of the rows of `plan` before the first byte.
pub(super) fn describe_rows(
    app: &ApiState,
    request: &DataRequest,
    plan: &ResponsePlan,
    counts: RowCounts,
) -> catalogue::Known {
    let snapshot = match &plan.source {
        RowSource::Snapshot(read) => &read.snapshot,
        RowSource::Transformed(rows) => &rows.plan.snapshot,
        RowSource::Changes(changes) => &changes.plan.snapshot,
    };
    let read = plan.source.read_plan();
    let (next, truncated) = match (&plan.source, read) {
        (RowSource::Changes(changes), _) => {
            let next = changes.has_more.then(|| changes.watermark.clone());
            (next, changes.capped_at.is_some())
        }
        (_, Some(read)) => {
            let next = next_cursor(app, request, read, counts);
            let truncated = next.is_some() && read.plan_row_cap.is_some();
            (next, truncated)
        }
        (_, None) => (None, false),
    };
    let applied = read.and_then(|read| read.applied.as_ref());
    let citation = read.and_then(|read| address_for_rows(app, request, read, counts));
    catalogue::Known {
        rows: counts.rows,
        total: counts.total,
        snapshot: snapshot.id.to_string(),
        published_at: snapshot.created_at.to_rfc3339(),
        credit: describe_credit(&snapshot.credit),
        modified: applied.map(|applied| applied.to_notice()),
        next,
        truncated,
        citation: citation.unwrap_or_default(),
        columns: sent_columns(&plan.source),
    }
}

/// The columns of the rows of `source`, in order.
fn sent_columns(source: &RowSource) -> Vec<catalogue::Column> {
    match source {
        RowSource::Snapshot(read) => {
            let numbers = Column {
                nullable: false,
                ..Column::new(ROW_NUMBER_COLUMN, ColumnType::Integer, ColumnRole::Attribute)
            };
            let numbers = read.row_numbers.then_some(&numbers);
            describe_columns(read_columns(read).chain(numbers))
        }
        RowSource::Transformed(rows) => describe_columns(read_columns(&rows.plan)),
        RowSource::Changes(changes) => {
            let schema = changes.plan.schema();
            let columns: Vec<Column> =
                schema.fields().iter().map(|field| output_table::column_of(field)).collect();
            describe_columns(&columns)
        }
    }
}

fn read_columns(read: &ReadPlan) -> impl Iterator<Item = &Column> {
    read.columns.iter().filter_map(|&position| read.snapshot.columns.get(position))
}

fn describe_column(column: &Column) -> catalogue::Column {
    catalogue::Column {
        name: column.name.clone(),
        type_: match column.column_type {
            ColumnType::String => catalogue::ColumnType::Text,
            ColumnType::Integer => catalogue::ColumnType::Integer,
            ColumnType::Number => catalogue::ColumnType::Number,
            ColumnType::Boolean => catalogue::ColumnType::Boolean,
            ColumnType::Date => catalogue::ColumnType::Date,
        },
        nullable: column.nullable,
        role: column.role.as_str().to_owned(),
        unit: column.unit.clone(),
        title: column.title().map(str::to_owned),
        description: column.description.clone(),
        // Of one column: a part of several would be taken for all of them.
        of: column.status().and_then(|status| match &status.of[..] {
            [of] => Some(of.clone()),
            _ => None,
        }),
        distinct: None,
    }
}
