//! Contents of successful answers: media types with their schema and an example.

use serde_json::{Map, Value, json};
use yearbook_domain::Plan;
use yearbook_domain::changes::{CHANGE_TYPE, COMMITTED_AT, SNAPSHOT_ID};
use yearbook_http::CoreSettings;
use yearbook_http::media_types::JSON;
use yearbook_sandbox::PluginSet;

use crate::request::options::has_envelope;

/// JSON of the schema called `schema`.
pub(super) fn json_content(schema: &str, example: &Value) -> Value {
    json!({JSON: {"schema": reference(schema), "example": example}})
}

/// The list of datasets.
pub(super) fn datasets() -> Value {
    json!({JSON: {"schema": {"type": "array", "items": reference("DatasetMeta")}, "example": [meta()]}})
}

/// Rows in every format that is loaded.
pub(super) fn rows(plugins: &PluginSet) -> Value {
    content_by_format(plugins, "Row", "Envelope", &row())
}

/// Changes in every format that is loaded.
pub(super) fn changes(plugins: &PluginSet) -> Value {
    let mut changed = row();
    for (name, value) in
        [(CHANGE_TYPE, "insert"), (SNAPSHOT_ID, SNAPSHOT), (COMMITTED_AT, "2026-11-01T00:00:00Z")]
    {
        changed[name] = json!(value);
    }
    content_by_format(plugins, "Change", "ChangeEnvelope", &changed)
}

/// Revisions in every format that is loaded.
pub(super) fn revisions(plugins: &PluginSet) -> Value {
    let mut revised = row();
    for (name, value) in
        [("_valid_from", json!("2026-11-01T00:00:00Z")), ("_valid_to", Value::Null)]
    {
        revised[name] = value;
    }
    content_by_format(plugins, "Row", "Envelope", &revised)
}

/// Content of every loaded format: a schema for JSON with an envelope, nothing for other formats.
fn content_by_format(plugins: &PluginSet, row: &str, envelope: &str, example: &Value) -> Value {
    let source = json!({
        "dataset": "consumer_prices", "namespace": "prices", "source": "Stats NZ", "source_url": "https://www.stats.govt.nz/",
        "licence": "CC-BY-4.0", "licence_title": "Creative Commons Attribution 4.0 International",
        "licence_url": "https://creativecommons.org/licenses/by/4.0/", "attribution": "Contains data from Stats NZ, CC BY 4.0",
        "snapshot_id": SNAPSHOT, "sources": [source_entry()],
    });
    let each = plugins.encoders().map(|encoder| {
        let description = encoder.description();
        let content = if description.media_type == JSON && has_envelope(description) {
            json!({
                "schema": {"anyOf": [{"type": "array", "items": reference(row)}, reference(envelope)]},
                "examples": {
                    "rows": {"summary": "As it comes", "value": [example]},
                    "envelope": {"summary": "In an envelope", "value": {"data_sources": [source], "data": [example]}},
                },
            })
        } else {
            json!({})
        };
        (description.media_type.clone(), content)
    });
    Value::Object(each.collect::<Map<_, _>>())
}

fn source_entry() -> Value {
    json!({"title": "Stats NZ", "path": "https://www.stats.govt.nz/"})
}

/// A dataset in the list.
pub(super) fn meta() -> Value {
    json!({
        "name": "consumer_prices", "namespace": "prices", "source": "Stats NZ", "title": "Consumer prices",
        "description": "Prices of what households buy, by quarter and region.",
    })
}

/// One dataset.
pub(super) fn dataset() -> Value {
    let column = |name: &str, kind: &str, role: &str, nullable: bool| json!({"name": name, "type": kind, "nullable": nullable, "role": role, "unit": null, "description": null});
    let mut dataset = meta();
    let more = json!({
        "date_filter_column": "date",
        "attribution_text": "Contains data from Stats NZ, CC BY 4.0",
        "licence": "CC-BY-4.0",
        "licence_title": "Creative Commons Attribution 4.0 International",
        "licence_url": "https://creativecommons.org/licenses/by/4.0/",
        "no_derivatives": false,
        "source_url": "https://www.stats.govt.nz/",
        "source_url_precision": "source",
        "sources": [source_entry()],
        "last_refreshed_at": "2026-11-01T00:00:00Z",
        "refresh_cadence": "weekly",
        "row_count_at_last_refresh": 1280,
        "current_snapshot_id": SNAPSHOT,
        "columns": [column("date", "date", "date", false), column("period", "string", "period", true), column("region", "string", "dimension", false), column("value", "number", "value", true)],
        "primary_key": ["date", "region"],
        "dimensions": ["region"],
        "series": ["region"],
        "layout": "long",
        "has_geometry": false,
        "bbox": null,
        "date_range": {"first": "1999-03-31", "last": "2020-03-31"},
        "checked_at": "2026-11-21T00:00:00Z",
        "snapshots": [{"id": SNAPSHOT, "version": 0, "created_at": "2026-11-01T00:00:00Z", "rows": 1280}],
    });
    if let (Some(members), Value::Object(more)) = (dataset.as_object_mut(), more) {
        members.extend(more);
    }
    dataset
}

/// A preview.
pub(super) fn preview() -> Value {
    let columns = [
        ("date", "date", "date"),
        ("period", "string", "period"),
        ("region", "string", "dimension"),
        ("value", "number", "value"),
    ];
    let columns: Vec<Value> = columns
        .iter()
        .map(|(name, kind, role)| json!({"name": name, "type": kind, "role": role}))
        .collect();
    json!({"name": "consumer_prices", "snapshot_id": SNAPSHOT, "row_count": 1280, "columns": columns, "hidden_columns": [], "rows": [row()]})
}

/// Values of one column.
pub(super) fn values() -> Value {
    let value = json!({"value": "Auckland", "label": null, "rows": 84, "first": "2005-03-31", "last": "2026-03-31"});
    let column = json!({"name": "region", "role": "dimension", "distinct": 16, "nulls": 0, "values": [value], "next": "Auckland"});
    json!({"name": "consumer_prices", "snapshot_id": SNAPSHOT, "selection": "", "rows": 1280, "columns": [column]})
}

/// A link to rows in a format.
pub(super) fn link(format: &str) -> Value {
    json!({
        "url": format!("https://data.example.org/l/AQx3.{format}"), "expires_at": "2026-12-03T09:00:00Z",
        "format": format, "selection": "last=1&where.measure=rate",
    })
}

/// `/v1/me` of a Free key at the beginning of a month.
pub(super) fn me(settings: &CoreSettings) -> Value {
    let limits = settings.plans.free;
    let requests = limits.requests_per_month;
    json!({
        "plan": Plan::Free, "row_cap": limits.row_cap,
        "requests": {"limit": requests, "used": 0, "left": requests, "resets_at": "2027-01-01T00:00:00Z"},
    })
}

/// Files for `tool`.
pub(super) fn project(tool: &str) -> Value {
    json!({
        "tool": tool,
        "files": {"README.md": "# How to run this\n"},
        "media_types": {"README.md": "text/markdown"},
        "attribution": ["Contains data from Stats NZ, CC BY 4.0"],
        "warnings": [],
    })
}

/// Everything is well.
pub(super) fn readiness() -> Value {
    let check = |latency: f64| json!({"status": "ok", "latency_ms": latency});
    json!({
        "status": "ok", "checked_at": "2026-11-21T00:00:00Z", "version": env!("CARGO_PKG_VERSION"),
        "checks": {"database": check(0.41), "object_storage": check(0.87), "catalogue": check(0.01), "plugins": check(0.01)},
    })
}

pub(super) const SNAPSHOT: &str = "310413fcb9f65f52b329453883a6535f";

fn row() -> Value {
    json!({"date": "2020-03-31", "period": "2020-Q1", "region": "Otago", "value": 12.5})
}

fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}
