//! Schemas that have a name in the document: those of the types that are serialised, and of bodies
//! that plugins make (spec-2.1-detail, spec-2.4-validation).

use serde_json::{Map, Value, json};
use yearbook_domain::changes::{CHANGE_TYPE, COMMITTED_AT, SNAPSHOT_ID};
use yearbook_domain::{SnapshotId, SourceEntry, ValidationError};
use yearbook_http::body_schema::{BodySchema, Rfc3339, object, reference};
use yearbook_http::middleware::error_bodies::{ErrorBody, InvalidParametersBody, ProblemBody};

use crate::routes::datasets::view::{ColumnView, DatasetBody, DatasetMeta};
use crate::routes::health::report::{LivenessView, ReadinessView};
use crate::routes::integrations::view::ProjectView;
use crate::routes::link::view::LinkView;
use crate::routes::me::view::AccountView;
use crate::routes::preview::fit::{Preview, PreviewRow};
use crate::routes::values::view::ValuesView;

/// Every schema that has a name.
pub(super) fn components() -> Value {
    let mut all = Map::new();
    let mut add = |name: &str, schema: Value| drop(all.insert(name.to_owned(), schema));
    // In the list, title and description may be missing (spec-2.1-list).
    let mut meta = DatasetMeta::schema();
    meta["required"] = json!(["name", "namespace", "source"]);
    add("DatasetMeta", meta);
    add_body::<DatasetBody<'_>>(&mut add);
    add_body::<ColumnView<'_>>(&mut add);
    add_body::<PreviewRow<'_>>(&mut add);
    add("Change", change());
    add("Envelope", envelope("Row"));
    add("ChangeEnvelope", envelope("Change"));
    add("DataSource", data_source());
    add_body::<SourceEntry>(&mut add);
    add_body::<Preview<'_>>(&mut add);
    add_body::<ValuesView<'_>>(&mut add);
    add_body::<LinkView>(&mut add);
    add_body::<ProjectView<'_>>(&mut add);
    add_body::<AccountView>(&mut add);
    add_body::<LivenessView>(&mut add);
    add_body::<ReadinessView>(&mut add);
    add_body::<InvalidParametersBody<'_>>(&mut add);
    add_body::<ValidationError>(&mut add);
    add_body::<ErrorBody>(&mut add);
    add_body::<ProblemBody<'_>>(&mut add);
    Value::Object(all)
}

fn add_body<T: BodySchema>(add: &mut impl FnMut(&str, Value)) {
    if let Some(name) = T::COMPONENT {
        add(name, T::schema());
    }
}

/// A row of changes, which encoders make.
fn change() -> Value {
    json!({
        "type": "object",
        "description": "A row with what happened to it; an update is two, the row before and the row after.",
        "properties": {
            CHANGE_TYPE: {"type": "string", "enum": ["insert", "update_preimage", "update_postimage", "delete"]},
            SNAPSHOT_ID: SnapshotId::schema(),
            COMMITTED_AT: Rfc3339::schema(),
        },
        "required": [CHANGE_TYPE, SNAPSHOT_ID, COMMITTED_AT],
        "additionalProperties": {"type": ["string", "integer", "number", "boolean", "null"]},
    })
}

/// Rows of the schema called `row` with the licences of their sources, which encoders make
/// (spec-2.3-envelope).
fn envelope(row: &str) -> Value {
    let list = |of: &str| json!({"type": "array", "items": reference(of)});
    object(
        "Rows with the licences of their sources.",
        [("data_sources", list("DataSource")), ("data", list(row))],
    )
}

fn data_source() -> Value {
    let (text, optional) = (String::schema, Option::<String>::schema);
    object(
        "Where rows come from, and the licence that they have.",
        [
            ("dataset", text()),
            ("namespace", text()),
            ("source", text()),
            ("source_url", optional()),
            ("licence", text()),
            ("licence_title", optional()),
            ("licence_url", optional()),
            (
                "attribution",
                json!({"type": "string", "description": "Credit to be passed on verbatim."}),
            ),
            ("snapshot_id", SnapshotId::schema()),
            ("sources", <[SourceEntry]>::schema()),
        ],
    )
}
