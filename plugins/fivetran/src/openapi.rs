//! connector.yaml: OpenAPI 3.0, limited to the chosen datasets, with the rows of each typed.

use serde_json::{Map, Value, json};
use yearbook_sdk::generator::{Column, ColumnType, Dataset, Request};

/// The document.
pub(crate) fn document(request: &Request) -> Value {
    let paths: Map<String, Value> = request
        .datasets
        .iter()
        .map(|dataset| {
            (
                format!("/v1/datasets/{}/data", dataset.name),
                json!({"get": operation(dataset, request)}),
            )
        })
        .collect();
    let mut schemas: Map<String, Value> =
        request.datasets.iter().map(|dataset| (schema_name(dataset), row(dataset))).collect();
    schemas.insert(
        "error".to_owned(),
        json!({"type": "object", "properties": {"detail": {"type": "string"}}}),
    );
    json!({
        "openapi": "3.0.3",
        "info": {
            "title": "Public statistics",
            "version": "0.1.0",
            "description": "Rows are paged: while a response has the header X-Next-Page, ask again with its value as `cursor` \
                            and all other parameters unchanged. The header X-Service-Snapshot-Id names the version of the data; \
                            when it has changed, old rows may have been revised, so load the table anew.",
        },
        "servers": [{"url": request.base_url}],
        "security": [{"api_key": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {"api_key": {"type": "apiKey", "in": "header", "name": "X-API-Key"}},
            "parameters": {
                "start": date("start", "Inclusive lower bound of dates."),
                "end": date("end", "Inclusive upper bound of dates."),
                "cursor": {
                    "name": "cursor",
                    "in": "query",
                    "description": "X-Next-Page of the page before.",
                    "schema": {"type": "string"},
                },
            },
            "headers": {
                "next_page": {"description": "Cursor of the next page; absent on the last one.", "schema": {"type": "string"}},
                "snapshot_id": {"description": "Version of the data.", "schema": {"type": "string"}},
                "attribution": {"description": "Credit to be passed on verbatim.", "schema": {"type": "string"}},
                "retry_after": {"description": "Seconds to wait.", "schema": {"type": "integer"}},
            },
            "responses": {
                "refused": refusal("The key is missing or invalid.", &Map::new()),
                "later": refusal(
                    "Too many requests, or the month's are used up.",
                    &Map::from_iter([("Retry-After".to_owned(), reference("headers", "retry_after"))]),
                ),
            },
            "schemas": schemas,
        },
    })
}

fn operation(dataset: &Dataset, request: &Request) -> Value {
    let rows = dataset.page(&request.plan, true);
    let mut parameters = vec![json!({
        "name": "limit",
        "in": "query",
        "description": "Rows of a page.",
        "schema": {"type": "integer", "minimum": 1, "default": rows},
    })];
    parameters.push(reference("parameters", "cursor"));
    if dataset.date_column.is_some() {
        parameters.extend([reference("parameters", "start"), reference("parameters", "end")]);
    }
    json!({
        "operationId": format!("read_{}", dataset.name),
        "summary": dataset.label(),
        "description": dataset.attribution,
        "parameters": parameters,
        "responses": {
            "200": {
                "description": "Rows.",
                "headers": {
                    "X-Next-Page": reference("headers", "next_page"),
                    "X-Service-Snapshot-Id": reference("headers", "snapshot_id"),
                    "X-Service-Attribution": reference("headers", "attribution"),
                },
                "content": {"application/json": {"schema": {"type": "array", "items": reference("schemas", &schema_name(dataset))}}},
            },
            "401": reference("responses", "refused"),
            "429": reference("responses", "later"),
        },
    })
}

fn row(dataset: &Dataset) -> Value {
    let properties: Map<String, Value> =
        dataset.columns.iter().map(|column| (column.name.clone(), property(column))).collect();
    let names: Vec<&String> = dataset.columns.iter().map(|column| &column.name).collect();
    let mut row = json!({"type": "object", "properties": properties, "required": names, "additionalProperties": false});
    if !dataset.primary_key.is_empty() {
        row["x-primary-key"] = json!(dataset.primary_key);
    }
    row
}

fn property(column: &Column) -> Value {
    let mut property = json!({"type": column.column_type.json_type()});
    let format = match column.column_type {
        ColumnType::Text | ColumnType::Boolean => None,
        ColumnType::Date => Some("date"),
        ColumnType::Integer => Some("int64"),
        ColumnType::Number => Some("double"),
    };
    if let Some(format) = format {
        property["format"] = json!(format);
    }
    if column.is_nullable_in_json() {
        property["nullable"] = json!(true);
    }
    if let Some(description) = &column.description {
        property["description"] = json!(description);
    }
    if let Some(unit) = &column.unit {
        property["x-unit"] = json!(unit);
    }
    property
}

fn schema_name(dataset: &Dataset) -> String {
    format!("{}_row", dataset.name)
}

fn date(name: &str, description: &str) -> Value {
    json!({"name": name, "in": "query", "description": description, "schema": {"type": "string", "format": "date"}})
}

fn refusal(description: &str, headers: &Map<String, Value>) -> Value {
    json!({
        "description": description,
        "headers": headers,
        "content": {"application/json": {"schema": reference("schemas", "error")}},
    })
}

fn reference(kind: &str, name: &str) -> Value {
    json!({"$ref": format!("#/components/{kind}/{name}")})
}
