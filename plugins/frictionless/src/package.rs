//! The descriptor, by the profile of Data Package 2.0 and, where that has kept an older spelling,
//! 1.0.

use serde_json::{Map, Value, json};
use yearbook_sdk::generator::{Column, ColumnType, Dataset, Plan, Request};

use crate::ResourceSource;

/// Rows above which the service refuses `limit=0` (spec-8-guard), as it does where there is
/// geometry.
const UNBOUNDED_GUARD_ROWS: u64 = 100_000;
/// In the place of `limit=0`: more than any dataset has.
const ALL_ROWS: u64 = 1_000_000_000;

/// datapackage.json.
pub(crate) fn package(request: &Request, source: ResourceSource) -> Value {
    let mut licences: Vec<Value> = Vec::new();
    for licence in request.datasets.iter().map(licence) {
        if !licences.contains(&licence) {
            licences.push(licence);
        }
    }
    let resources: Vec<Value> =
        request.datasets.iter().map(|dataset| resource(dataset, &request.plan, source)).collect();
    let mut package = json!({
        "$schema": "https://datapackage.org/profiles/2.0/datapackage.json",
        "name": match request.datasets.as_slice() {
            [only] => only.name.as_str(),
            _ => "datasets",
        },
        "licenses": licences,
        "resources": resources,
    });
    if let [only] = request.datasets.as_slice() {
        // Two snapshots of one dataset are two versions of the package.
        package["version"] = json!(only.snapshot_id);
    }
    package
}

/// The file that a resource is, where it is one.
pub(crate) fn file<'a>(
    dataset: &'a Dataset,
    plan: &Plan,
    source: ResourceSource,
) -> Option<&'a str> {
    dataset.file(plan).filter(|_| source == ResourceSource::Files)
}

fn resource(dataset: &Dataset, plan: &Plan, source: ResourceSource) -> Value {
    let limit = if dataset.rows > UNBOUNDED_GUARD_ROWS || dataset.geometry().is_some() {
        ALL_ROWS
    } else {
        0
    };
    let (path, format, media_type) = match file(dataset, plan, source) {
        Some(url) => (url.to_owned(), "parquet", "application/vnd.apache.parquet"),
        None => (format!("{}?format=csv&limit={limit}", dataset.data_url), "csv", "text/csv"),
    };
    let mut resource = json!({
        "name": dataset.name,
        "type": "table",
        "title": dataset.label(),
        "path": path,
        "scheme": path.split(':').next(),
        "format": format,
        "mediatype": media_type,
        "encoding": "utf-8",
        "schema": schema(dataset),
        "licenses": [licence(dataset)],
        "sources": [origin(dataset)],
        // Not of the profile, which allows more: the credit that must be passed on verbatim.
        "attribution": dataset.attribution,
        "snapshot_id": dataset.snapshot_id,
    });
    if let Some(description) = &dataset.description {
        resource["description"] = json!(description);
    }
    resource
}

fn schema(dataset: &Dataset) -> Value {
    let mut schema = json!({
        "fields": dataset.columns.iter().map(field).collect::<Vec<_>>(),
        "missingValues": [""],
    });
    if !dataset.primary_key.is_empty() {
        schema["primaryKey"] = json!(dataset.primary_key);
    }
    schema
}

fn field(column: &Column) -> Value {
    let name = match column.column_type {
        ColumnType::Date => "date",
        other => other.json_type(),
    };
    let mut field =
        Map::from_iter([("name".to_owned(), json!(column.name)), ("type".to_owned(), json!(name))]);
    if let Some(description) = &column.description {
        field.insert("description".to_owned(), json!(description));
    }
    if let Some(unit) = &column.unit {
        field.insert("unit".to_owned(), json!(unit));
    }
    // Readers of CSV take a text of no characters for a missing value, so that it can't be
    // required.
    if !column.nullable && column.column_type != ColumnType::Text {
        field.insert("constraints".to_owned(), json!({"required": true}));
    }
    Value::Object(field)
}

fn origin(dataset: &Dataset) -> Value {
    let mut origin = json!({"title": dataset.source});
    if let Some(url) = &dataset.source_url {
        origin["path"] = json!(url);
    }
    origin
}

/// The profile takes identifiers of licences in letters, digits, dots, dashes and underscores
/// alone.
fn licence(dataset: &Dataset) -> Value {
    let plain =
        |character: char| character.is_ascii_alphanumeric() || matches!(character, '-' | '.' | '_');
    if !dataset.licence.is_empty() && dataset.licence.chars().all(plain) {
        return json!({"name": dataset.licence});
    }
    let name: String = dataset
        .licence
        .chars()
        .map(|character| if plain(character) { character } else { '-' })
        .collect();
    json!({"name": if name.is_empty() { "notspecified" } else { &name }, "title": dataset.licence})
}
