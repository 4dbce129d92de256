//! Tools about the catalogue: what datasets there are, what one of them holds, which values its
//! columns have.

use serde_json::{Map, Value, json};
use yearbook_sdk::adapter::{
    Asked, Column, ColumnType, ColumnValues, Credit, Dataset, DatasetQuery, Host, Selection, Step,
    Unit, ValueQuery,
};

use crate::arguments::{Arguments, wrong};
use crate::selection;

/// Datasets of a search: without `limit`, and at most.
const DATASETS: [u32; 2] = [10, 50];
/// Values of each column: without `limit`, and at most.
const VALUES: [u32; 2] = [100, 1_000];
/// Most columns whose values are listed.
const MOST_COLUMNS: usize = 16;

/// `search_datasets`.
pub(crate) fn search(arguments: &Arguments<'_>, host: &mut Host) -> Step<Value> {
    let limit = arguments.number("limit", DATASETS[1])?.unwrap_or(DATASETS[0]);
    let search = arguments.text("query")?;
    let page = host.datasets(DatasetQuery { search, ..DatasetQuery::page(limit) })?;
    let found: Vec<Value> = page.datasets.iter().map(summary).map(Value::Object).collect();
    Ok(json!({ "total": page.total, "datasets": found }))
}

/// `describe_dataset`.
pub(crate) fn describe(arguments: &Arguments<'_>, host: &mut Host) -> Step<Value> {
    let dataset = host.dataset(&arguments.needed_text("dataset")?)?;
    let mut described = summary(&dataset);
    described.insert("columns".to_owned(), columns(&dataset.columns, |_| true));
    let mut add = |name: &str, value: Value| {
        described.insert(name.to_owned(), value);
    };
    add("description", json!(dataset.description));
    add("notes", json!(dataset.notes));
    add("languages", json!(dataset.languages));
    add("cadence", json!(dataset.cadence));
    add("primary_key", json!(dataset.primary_key));
    add("series_columns", json!(series_columns(&dataset)));
    add("distance_of_dates", json!(dataset.axis.map(unit)));
    add("bbox", json!(dataset.bbox.map(|bbox| [bbox.west, bbox.south, bbox.east, bbox.north])));
    let edition = |edition: &yearbook_sdk::adapter::Edition| {
        json!({
            "snapshot": edition.id,
            "version": edition.version,
            "published_at": edition.published_at,
            "rows": edition.rows,
        })
    };
    add("editions", dataset.editions.iter().map(edition).collect());
    Ok(Value::Object(described))
}

/// Members that tell of every dataset.
fn summary(dataset: &Dataset) -> Map<String, Value> {
    let mut made = Map::new();
    let mut add = |name: &str, value: Value| {
        made.insert(name.to_owned(), value);
    };
    add("dataset", json!(dataset.name));
    add("title", json!(dataset.title));
    add("dates", json!(dataset.dates.as_ref().map(|(first, last)| [first, last])));
    let edition = dataset.editions.first();
    add("rows", json!(edition.map(|edition| edition.rows)));
    add("snapshot", json!(edition.map(|edition| &edition.id)));
    add("published_at", json!(edition.map(|edition| &edition.published_at)));
    add("credit", credit(&dataset.credit));
    add("columns", columns(&dataset.columns, |_| false));
    made
}

/// Columns whose values tell one series from another: the key without its times.
fn series_columns(dataset: &Dataset) -> Vec<&str> {
    let of_key = dataset.columns.iter().filter(|column| dataset.primary_key.contains(&column.name));
    let series = of_key.filter(|column| column.role != "date" && column.role != "period");
    series.map(|column| column.name.as_str()).collect()
}

/// `list_values`.
pub(crate) fn values(arguments: &Arguments<'_>, host: &mut Host) -> Step<Value> {
    let selection = selection::conditions(arguments)?;
    let columns = arguments.texts("columns")?.unwrap_or_default();
    if columns.is_empty() || columns.len() > MOST_COLUMNS {
        return Err(wrong("columns", format!("name 1 to {MOST_COLUMNS} columns")).into());
    }
    let limit = arguments.number("limit", VALUES[1])?.unwrap_or(VALUES[0]);
    let cited = Asked::citation(Selection { limit: Some(0), ..selection.clone() });
    let query = ValueQuery { limit, ..ValueQuery::new(selection.clone(), columns) };
    let about = (Asked::dataset(&selection.dataset), cited);
    let ((dataset, cited), values) = host.ask((about, Asked::values(query)))?;
    let listed: Vec<Value> = values.iter().map(|values| listed(&dataset, values)).collect();
    Ok(json!({
        "dataset": dataset.name,
        "columns": listed,
        "snapshot": cited.snapshot,
        "published_at": published_at(&dataset, &cited.snapshot),
        "credit": credit(&dataset.credit),
        "citation": address(&cited.address),
    }))
}

fn listed(dataset: &Dataset, column: &ColumnValues) -> Value {
    let described = dataset.columns.iter().find(|described| described.name == column.column);
    let value = |observed: &yearbook_sdk::adapter::Observed| {
        json!({
            "value": observed.code.value,
            "label": observed.code.label,
            "rows": observed.rows,
            "first": observed.first,
            "last": observed.last,
        })
    };
    json!({
        "name": column.column,
        "unit": described.and_then(|described| described.unit.as_ref()),
        "distinct": column.distinct,
        "nulls": column.nulls,
        "values": column.values.iter().map(value).collect::<Vec<Value>>(),
        "values_remain": column.next.is_some(),
    })
}

/// The time at which a snapshot was published. `None` where it is no edition that is told of.
pub(crate) fn published_at<'a>(dataset: &'a Dataset, snapshot: &str) -> Option<&'a str> {
    let edition = dataset.editions.iter().find(|edition| edition.id == snapshot);
    edition.map(|edition| edition.published_at.as_str())
}

/// An address; null where there is none.
pub(crate) fn address(text: &str) -> Value {
    if text.is_empty() { Value::Null } else { json!(text) }
}

/// Source, licence and credit line.
pub(crate) fn credit(credit: &Credit) -> Value {
    json!({
        "line": credit.attribution,
        "source": credit.source,
        "source_url": credit.source_url,
        "licence": credit.licence,
        "licence_url": credit.licence_url,
    })
}

/// Columns with what is known of each; with the sentences of their publisher where `is_described`,
/// for these are long.
pub(crate) fn columns(columns: &[Column], is_described: fn(&Column) -> bool) -> Value {
    columns.iter().map(|one| column(one, is_described(one))).collect()
}

fn column(column: &Column, is_described: bool) -> Value {
    let kind = match column.type_ {
        ColumnType::Text => "text",
        ColumnType::Integer => "integer",
        ColumnType::Number => "number",
        ColumnType::Boolean => "boolean",
        ColumnType::Date => "date",
    };
    let mut made = Map::new();
    made.insert("name".to_owned(), json!(column.name));
    made.insert("type".to_owned(), json!(kind));
    made.insert("role".to_owned(), json!(column.role));
    // A value's unit stands there although it is not known, so that nobody guesses one.
    if column.role == "value" || column.unit.is_some() {
        made.insert("unit".to_owned(), json!(column.unit));
    }
    for (name, text) in [
        ("title", &column.title),
        ("description", if is_described { &column.description } else { &None }),
        ("qualifies", &column.of),
    ] {
        if let Some(text) = text {
            made.insert(name.to_owned(), json!(text));
        }
    }
    if let Some(distinct) = column.distinct {
        made.insert("distinct".to_owned(), json!(distinct));
    }
    Value::Object(made)
}

fn unit(unit: Unit) -> &'static str {
    match unit {
        Unit::Day => "day",
        Unit::Week => "week",
        Unit::Month => "month",
        Unit::Quarter => "quarter",
        Unit::Half => "half",
        Unit::Year => "year",
    }
}
