//! The table that transforms give, described as a snapshot describes a stored one, so that one set
//! of rules resolves what clients name of either. Pure.

use arrow::datatypes::{DataType, Field, Schema};
use yearbook_domain::metadata_key::{PRIMARY_KEY, ROLE, SERIES, TYPE, UNIT};
use yearbook_domain::read_plan::{RowOrder, SortKey, series_positions};
use yearbook_domain::{Column, ColumnRole, ColumnType, ReadPlan, Snapshot};
use yearbook_sandbox::TransformChain;
use yearbook_scan::{RowShape, SeriesShape};

/// Returns the table of `schema`, which transforms make of rows of `stored`. The number of its rows
/// is not known.
pub(super) fn describe(stored: &Snapshot, schema: &Schema) -> Snapshot {
    let columns: Vec<Column> = schema.fields().iter().map(|field| column_of(field)).collect();
    let is_there = |name: &String| columns.iter().any(|column| column.name == *name);
    let key = names(schema, PRIMARY_KEY).unwrap_or_else(|| stored.primary_key.clone());
    let primary_key = if key.iter().all(is_there) { key } else { Vec::new() };
    let is_date = |column: &&Column| {
        column.role == ColumnRole::Date && column.column_type == ColumnType::Date
    };
    let date_column = columns.iter().find(is_date).map(|column| column.name.clone());
    Snapshot {
        rows: u64::MAX,
        primary_key,
        date_column,
        columns,
        dimensions: Vec::new(),
        date_range: None,
        bbox: None,
        ..stored.clone()
    }
}

/// Returns `order`, or the natural one where `chain` gives its rows in it.
pub(super) fn shortest_order(order: RowOrder, chain: &TransformChain) -> RowOrder {
    let RowOrder::By(keys) = &order else { return order };
    let schema = chain.schema();
    let is_natural = |(key, natural): (&SortKey, &String)| {
        let name = schema.fields().get(key.column).map(|field| field.name());
        !key.descending && name == Some(natural)
    };
    let natural = chain.order();
    let leads = keys.len() <= natural.len() && keys.iter().zip(natural).all(is_natural);
    if leads { RowOrder::Natural } else { order }
}

/// Returns the shape of `plan`, which is of the rows of `chain`. The chain is left with the columns
/// that the shape needs.
pub(crate) fn shape(plan: &ReadPlan, chain: &mut TransformChain) -> RowShape {
    let columns = &plan.snapshot.columns;
    let series = plan.series_rows.map(|rows| SeriesShape {
        rows,
        columns: series_columns(plan, chain.schema()),
        period: columns.iter().position(|column| column.role == ColumnRole::Period),
    });
    let sort: &[SortKey] = match &plan.order {
        RowOrder::By(keys) => keys,
        RowOrder::Natural | RowOrder::NewestFirst => &[],
    };
    let of_series = series.iter().flat_map(|series| series.columns.iter().chain(&series.period));
    let of_sort = sort.iter().map(|key| &key.column);
    let mut needed: Vec<usize> =
        plan.columns.iter().chain(of_series).chain(of_sort).copied().collect();
    needed.sort_unstable();
    needed.dedup();
    let place = |column: usize| needed.binary_search(&column).unwrap_or_default();
    let shape = RowShape {
        columns: plan.columns.iter().map(|&column| place(column)).collect(),
        series: series.map(|series| SeriesShape {
            columns: series.columns.into_iter().map(place).collect(),
            period: series.period.map(place),
            ..series
        }),
        sort: sort.iter().map(|key| SortKey { column: place(key.column), ..*key }).collect(),
        first_row: plan.first_row.unwrap_or(0),
        max_rows: plan.max_rows,
        known_rows: None,
    };
    chain.restrict(&needed);
    shape
}

/// Positions of the columns whose values tell series apart: those that the transforms name, else by
/// the rule for stored tables (contract-15-series).
fn series_columns(plan: &ReadPlan, schema: &Schema) -> Vec<usize> {
    let table = &plan.snapshot;
    let named = names(schema, SERIES).and_then(|names| {
        names.iter().map(|name| table.column_index(name)).collect::<Option<Vec<_>>>()
    });
    named.unwrap_or_else(|| series_positions(&table.columns, &table.primary_key))
}

fn names(schema: &Schema, key: &str) -> Option<Vec<String>> {
    serde_json::from_str(schema.metadata().get(key)?).ok()
}

pub(crate) fn column_of(field: &Field) -> Column {
    let metadata = field.metadata();
    let of = |key: &str| metadata.get(key).map(String::as_str);
    let column_type = match field.data_type() {
        _ if of(TYPE) == Some("date") => ColumnType::Date,
        DataType::Int64 => ColumnType::Integer,
        DataType::Float64 => ColumnType::Number,
        DataType::Boolean => ColumnType::Boolean,
        _ => ColumnType::String,
    };
    let role = of(ROLE).and_then(ColumnRole::parse).unwrap_or(ColumnRole::Attribute);
    Column {
        nullable: field.is_nullable(),
        unit: of(UNIT).map(str::to_owned),
        ..Column::new(field.name(), column_type, role)
    }
}
