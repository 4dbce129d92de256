//! Shapes of JSON bodies (spec-2.1-detail, spec-2.4-validation). Words of closed sets come from the
//! domain's types.

use serde::Serialize;
use serde_json::{Value, json};
use yearbook_domain::changes::{CHANGE_TYPE, COMMITTED_AT, SNAPSHOT_ID};
use yearbook_domain::credit::SourceUrlPrecision;
use yearbook_domain::{ColumnRole, ColumnType, Plan, TableLayout};

const COLUMN_TYPES: [ColumnType; 5] = [
    ColumnType::String,
    ColumnType::Integer,
    ColumnType::Number,
    ColumnType::Boolean,
    ColumnType::Date,
];
const ROLES: [ColumnRole; 7] = [
    ColumnRole::Date,
    ColumnRole::Period,
    ColumnRole::Dimension,
    ColumnRole::Value,
    ColumnRole::Geometry,
    ColumnRole::Key,
    ColumnRole::Attribute,
];

/// Every schema that has a name.
pub(super) fn components() -> Value {
    let mut full = dataset_meta();
    full["description"] =
        json!("One dataset: what `DatasetMeta` says, its columns, its credit and its versions.");
    if let (Some(properties), Value::Object(more)) =
        (full["properties"].as_object_mut(), dataset_details())
    {
        let names: Vec<Value> =
            properties.keys().chain(more.keys()).map(|name| json!(name)).collect();
        properties.extend(more);
        full["required"] = json!(names);
    }
    json!({
        "DatasetMeta": dataset_meta(),
        "Dataset": full,
        "Column": object("A column.", &json!({
            "name": {"type": "string"},
            "type": enumeration(&COLUMN_TYPES),
            "nullable": {"type": "boolean"},
            "role": enumeration(&ROLES),
            "unit": nullable("string"),
            "description": nullable("string"),
        })),
        "Row": {
            "type": "object",
            "description": "A row: every column, null where it is null.",
            "additionalProperties": {"type": ["string", "integer", "number", "boolean", "null"]},
            "examples": [{"date": "2020-03-31", "period": "2020-Q1", "region": "Otago", "value": 12.5}],
        },
        "Change": {
            "type": "object",
            "description": "A row with what happened to it; an update is two, the row before and the row after.",
            "properties": {
                CHANGE_TYPE: {"type": "string", "enum": ["insert", "update_preimage", "update_postimage", "delete"]},
                SNAPSHOT_ID: {"type": "string"},
                COMMITTED_AT: date_time(),
            },
            "required": [CHANGE_TYPE, SNAPSHOT_ID, COMMITTED_AT],
            "additionalProperties": {"type": ["string", "integer", "number", "boolean", "null"]},
        },
        "Envelope": envelope("Row"),
        "ChangeEnvelope": envelope("Change"),
        "DataSource": object("Where rows come from, and the licence that they have.", &json!({
            "dataset": {"type": "string"},
            "namespace": {"type": "string"},
            "source": {"type": "string"},
            "source_url": nullable("string"),
            "licence": {"type": "string"},
            "licence_title": nullable("string"),
            "licence_url": nullable("string"),
            "attribution": {"type": "string", "description": "Credit to be passed on verbatim."},
            "snapshot_id": {"type": "string"},
            "sources": {"type": "array", "items": reference("SourceEntry")},
        })),
        "SourceEntry": object("A source that the publisher names.", &json!({
            "title": nullable("string"),
            "path": {"type": ["string", "null"], "description": "Its address."},
        })),
        "Preview": object("Up to ten rows, in at most 64 KiB.", &json!({
            "name": {"type": "string"},
            "snapshot_id": {"type": "string"},
            "row_count": {"type": "integer", "minimum": 0, "description": "Rows of the snapshot."},
            "columns": {"type": "array", "items": object("A column that is shown.", &json!({
                "name": {"type": "string"},
                "type": enumeration(&COLUMN_TYPES),
                "role": enumeration(&ROLES),
            }))},
            "hidden_columns": {
                "type": "array", "items": {"type": "string"}, "description": "Columns that the rows lack: geometry, and what would not fit.",
            },
            "rows": {"type": "array", "maxItems": crate::routes::preview::MAX_ROWS, "items": reference("Row")},
        })),
        "Project": object("Files for a tool.", &json!({
            "tool": {"type": "string"},
            "files": {"type": "object", "additionalProperties": {"type": "string"}, "description": "What stands in each file, by path."},
            "media_types": {"type": "object", "additionalProperties": {"type": "string"}, "description": "Media type of each file, by path."},
            "attribution": {"type": "array", "items": {"type": "string"}, "description": "Credits to be passed on with the data."},
            "warnings": {"type": "array", "items": {"type": "string"}},
        })),
        "Me": object("The caller's plan and what is left of it.", &json!({
            "plan": enumeration(&Plan::ALL),
            "row_cap": nullable("integer"),
            "requests": object("Requests of this month (UTC).", &json!({
                "limit": nullable("integer"),
                "used": {"type": "integer"},
                "left": nullable("integer"),
                "resets_at": date_time(),
            })),
        })),
        "Health": object("Alive.", &json!({"status": {"type": "string", "enum": ["ok"]}})),
        "Readiness": readiness(),
        "HTTPValidationError": object("Parameters that are wrong, all of them.", &json!({
            "detail": {"type": "array", "items": reference("ValidationError")},
        })),
        "ValidationError": validation_error(),
        "Error": object("Why not, and what to do next.", &json!({"detail": {"type": "string"}})),
        "Problem": object("The same as RFC 9457 has it.", &json!({
            "type": {"type": "string", "format": "uri-reference"},
            "title": {"type": "string"},
            "status": {"type": "integer"},
            "detail": {"type": "string"},
            "code": {"type": "string"},
            "request_id": {"type": "string"},
        })),
    })
}

/// `DatasetMeta` (spec-2.1-list).
fn dataset_meta() -> Value {
    json!({
        "type": "object",
        "description": "A dataset in the list.",
        "properties": {
            "name": {"type": "string", "description": "Address of the dataset."},
            "namespace": {"type": "string", "description": "Grouping used in bulk addresses."},
            "source": {"type": "string", "description": "The publishing agency."},
            "title": nullable("string"),
            "description": nullable("string"),
        },
        "required": ["name", "namespace", "source"],
    })
}

/// Properties that a single dataset has besides those of the list.
fn dataset_details() -> Value {
    let precisions =
        enumeration(&[Some(SourceUrlPrecision::Dataset), Some(SourceUrlPrecision::Source), None]);
    let strings = json!({"type": "array", "items": {"type": "string"}});
    let date = json!({"type": "string", "format": "date"});
    let mut range = object("First and last date.", &json!({"first": date, "last": date}));
    range["type"] = json!(["object", "null"]);
    json!({
        "date_filter_column": {"type": ["string", "null"], "description": "The column that `start` and `end` filter; null: they have no effect."},
        "attribution_text": {"type": "string", "description": "Credit to be passed on verbatim."},
        "licence": {"type": "string"},
        "licence_title": nullable("string"),
        "licence_url": nullable("string"),
        "source_url": nullable("string"),
        "source_url_precision": precisions,
        "sources": {"type": "array", "items": reference("SourceEntry"), "description": "Every source that the publisher names."},
        "last_refreshed_at": date_time(),
        "refresh_cadence": {"type": ["string", "null"], "description": "How often the source is checked again; not the frequency of the series."},
        "row_count_at_last_refresh": {"type": "integer", "minimum": 0},
        "current_snapshot_id": {"type": "string"},
        "columns": {"type": "array", "items": reference("Column")},
        "primary_key": strings,
        "dimensions": strings,
        "layout": enumeration(&[TableLayout::Long, TableLayout::Wide]),
        "has_geometry": {"type": "boolean"},
        "bbox": {
            "type": ["array", "null"], "items": {"type": "number"}, "minItems": 4, "maxItems": 4,
            "description": "West, south, east, north (RFC 7946); west > east across 180°.",
        },
        "date_range": range,
        "checked_at": date_time(),
        "snapshots": {"type": "array", "items": object("A retained snapshot.", &json!({
            "id": {"type": "string"}, "created_at": date_time(), "rows": {"type": "integer", "minimum": 0},
        }))},
    })
}

fn readiness() -> Value {
    let status = json!({"type": "string", "enum": ["ok", "degraded", "unavailable"]});
    let check = object(
        "One thing that the service needs.",
        &json!({"status": status, "latency_ms": {"type": "number", "minimum": 0}}),
    );
    object(
        "What the service needs, looked at once a minute.",
        &json!({
            "status": status,
            "checked_at": date_time(),
            "version": {"type": "string"},
            "checks": object("Each by itself.", &json!({"database": check, "object_storage": check, "catalogue": check, "plugins": check})),
        }),
    )
}

/// `ValidationError` (spec-2.4-validation).
fn validation_error() -> Value {
    json!({
        "type": "object",
        "description": "One wrong parameter, in the words of Pydantic v2.",
        "properties": {
            "loc": {"type": "array", "items": {"type": ["string", "integer"]}, "description": "`query` or `path`, then the parameter."},
            "msg": {"type": "string"},
            "type": {"type": "string"},
            "input": {"description": "What was sent; null when it is missing."},
            "ctx": {"type": "object"},
        },
        "required": ["loc", "msg", "type"],
    })
}

/// Rows of the schema called `row` with the licences of their sources (spec-2.3-envelope).
fn envelope(row: &str) -> Value {
    let rows = json!({"type": "array", "items": reference(row)});
    let sources = json!({"type": "array", "items": reference("DataSource")});
    object(
        "Rows with the licences of their sources.",
        &json!({"data_sources": sources, "data": rows}),
    )
}

/// An object with all of these properties always there.
fn object(description: &str, properties: &Value) -> Value {
    let required: Vec<&String> =
        properties.as_object().into_iter().flat_map(|properties| properties.keys()).collect();
    json!({"type": "object", "description": description, "properties": properties, "required": required})
}

/// A closed set, spelled as the type is on the wire.
fn enumeration(all: &[impl Serialize]) -> Value {
    json!({"enum": all})
}

fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}

fn nullable(kind: &str) -> Value {
    json!({"type": [kind, "null"]})
}

fn date_time() -> Value {
    json!({"type": "string", "format": "date-time"})
}
