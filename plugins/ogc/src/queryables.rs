//! Columns by which features can be asked for: as a schema, and as parameters.

use serde_json::{Map, Value, json};
use yearbook_sdk::adapter::{Column, ColumnType, Dataset, Document, Host, Reply, Request, Step};

use crate::collections::{page_of, spatial};
use crate::links::{self, SCHEMA};
use crate::problem::not_found;
use crate::{negotiation, parameters, records};

/// Parameters of items besides columns. A column with one of these names is no parameter.
pub(crate) const RESERVED: [&str; 6] = ["limit", "bbox", "datetime", "as_of", "f", "cursor"];

/// The columns that are parameters of items.
pub(crate) fn queryables(dataset: &Dataset) -> impl Iterator<Item = &Column> {
    let is_queryable =
        |column: &&Column| column.role != "geometry" && !RESERVED.contains(&column.name.as_str());
    dataset.columns.iter().filter(is_queryable)
}

/// `/collections/{id}/queryables`.
pub(crate) fn show(request: &Request, host: &mut Host, id: &str) -> Step<Reply> {
    parameters::check(request, |name| name == "f")?;
    if id == records::COLLECTION {
        return Err(not_found("records have no queryables but their parameters: see `/api`"));
    }
    negotiation::page(request, SCHEMA, &page_of(id)?)?;
    let dataset = spatial(id, host.ask(negotiation::dataset(request, id))?)?;
    let dataset = negotiation::in_language(request, host, dataset)?;
    let mut properties: Map<String, Value> =
        queryables(&dataset).map(|column| (column.name.clone(), schema(column))).collect();
    for column in dataset.columns.iter().filter(|column| column.role == "geometry") {
        let title = column.title.as_ref().unwrap_or(&column.name);
        let geometry =
            json!({ "title": title, "format": "geometry-any", "x-ogc-role": "primary-geometry" });
        properties.insert(column.name.clone(), geometry);
    }
    let document = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": links::below(request, &["collections", id, "queryables"]),
        "type": "object",
        "title": dataset.title.as_ref().unwrap_or(&dataset.name),
        "properties": properties,
        "additionalProperties": false,
    });
    Ok(Document { media_type: SCHEMA.to_owned(), ..Document::json(200, &document) }.into())
}

/// The schema of a column's values.
pub(crate) fn schema(column: &Column) -> Value {
    let (name, format) = match column.type_ {
        ColumnType::Text => ("string", None),
        ColumnType::Integer => ("integer", Some("int64")),
        ColumnType::Number => ("number", Some("double")),
        ColumnType::Boolean => ("boolean", None),
        ColumnType::Date => ("string", Some("date")),
    };
    let mut schema =
        json!({ "title": column.title.as_ref().unwrap_or(&column.name), "type": name });
    let texts = [
        ("format", format),
        ("description", column.description.as_deref()),
        ("x-ogc-unit", column.unit.as_deref()),
        ("x-ogc-role", (column.role == "date").then_some("primary-instant")),
    ];
    for (name, text) in texts {
        if let Some(text) = text {
            schema[name] = text.into();
        }
    }
    schema
}
