//! Parameters of the description: those of the specification with the defaults and bounds that
//! parsing uses, and those that loaded plugins declare (contract-4-openapi).

use serde_json::{Value, json};
use yearbook_domain::name::{MAX_BYTES, PATTERN};
use yearbook_domain::query::options::MAX_VALUE_BYTES;
use yearbook_domain::query::{DEFAULT_LIMIT, MAX_SERIES_ROWS};
use yearbook_domain::read_plan::UNBOUNDED_ROWS;
use yearbook_domain::values::{DEFAULT_VALUES, MAX_COLUMNS, MAX_VALUES};
use yearbook_domain::{Plan, changes};
use yearbook_http::{CoreSettings, media_types};
use yearbook_sandbox::{ParameterKind, PluginParameter, PluginSet, TransformDescription};

use crate::request::data_link::{DEFAULT_DAYS, MAX_DAYS};

/// Parameters of `/values`, in the order of contract-15-values-parameters.
pub(super) const VALUES_PARAMETERS: [&str; 12] = [
    "name",
    "values_limit",
    "start",
    "end",
    "dimensions",
    "snapshot",
    "values_columns",
    "where",
    "bbox",
    "as_of",
    "after",
    "lang",
];

/// Every parameter that more than one operation may refer to.
pub(super) fn components(settings: &CoreSettings, plugins: &PluginSet) -> Value {
    let formats: Vec<&str> =
        plugins.encoders().map(|encoder| encoder.description().format.as_str()).collect();
    // The first one is what negotiation offers first.
    let default_format = formats.first().copied().unwrap_or_default();
    let lines: Vec<String> = plugins
        .encoders()
        .map(|encoder| encoder.description())
        .map(|format| format!("- `{}`: {}", format.format, format.docs))
        .collect();
    let name = json!({"type": "string", "pattern": PATTERN, "maxLength": MAX_BYTES});
    let date = json!({"type": "string", "format": "date"});
    let text = json!({"type": "string"});
    let boolean = |default: bool| json!({"type": "boolean", "default": default});
    json!({
        "name": path("name", "Name of a dataset, as `/v1/datasets` lists it.", &name, "consumer_prices"),
        "namespace": path("namespace", "Namespace of the dataset.", &name, "prices"),
        "start": query("start", "Inclusive lower date bound. No effect on a dataset without a date axis.", &date, "2020-01-01"),
        "end": query("end", "Inclusive upper date bound; not before `start`. No effect on a dataset without a date axis.", &date, "2020-12-31"),
        "dimensions": query("dimensions", "Keep rows in which any dimension column contains this text, whatever its case.", &text, "otago"),
        "limit": query("limit", &limit(settings), &json!({"type": "integer", "minimum": 0, "default": DEFAULT_LIMIT}), 5),
        "changes_limit": query(
            "limit",
            "Maximum changes; the plan's row cap holds too.",
            &json!({"type": "integer", "minimum": 1, "default": changes::DEFAULT_LIMIT}),
            100,
        ),
        "since": query(
            "since",
            "`X-Service-Watermark` of the answer before, or a snapshot's id. Left out: the oldest snapshot that changes are known from.",
            &text,
            "310413fcb9f65f52b329453883a6535f",
        ),
        "revisions_since": query(
            "since",
            "Leaves out what had ended before this time: a date (the end of that day, UTC), or a time with its offset.",
            &text,
            "2026-10-01",
        ),
        "format": query(
            "format",
            &format!("Form of the rows; wins over `Accept`. One of those loaded now:\n{}", lines.join("\n")),
            &one_of(&formats, default_format),
            default_format,
        ),
        "geometry": query("geometry", "`false` leaves `geometry_wkt` out; it is then neither read nor sent.", &boolean(true), false),
        "envelope": query("envelope", "JSON only: wrap the rows with the licences of their sources.", &boolean(false), true),
        "cursor": query("cursor", "Where to go on: `X-Next-Page` of the page before. It keeps its snapshot and wants the same filters.", &text, ""),
        "snapshot": query("snapshot", "Read this retained snapshot instead of the current one.", &text, "310413fcb9f65f52b329453883a6535f"),
        "columns": query(
            "columns",
            "Names of columns, separated by commas, in the order wanted.",
            &json!({"type": "string", "pattern": "^[^,]+(,[^,]+)*$"}),
            "date,value",
        ),
        "values_limit": query(
            "limit",
            "Maximum values of a column.",
            &json!({"type": "integer", "minimum": 1, "maximum": MAX_VALUES, "default": DEFAULT_VALUES}),
            100,
        ),
        "values_columns": query(
            "columns",
            &format!("Names of columns, {MAX_COLUMNS} at most, separated by commas. Left out: the dimension columns."),
            &json!({"type": "string", "pattern": "^[^,]+(,[^,]+)*$"}),
            "region",
        ),
        "days": query(
            "days",
            "Days for which the link works.",
            &json!({"type": "integer", "minimum": 1, "maximum": MAX_DAYS, "default": DEFAULT_DAYS}),
            7,
        ),
        "file": path("file", "Token and extension, as `url` of `/link` has them.", &text, "AQx3.csv"),
        "after": query(
            "after",
            "Go on behind this value: `next` of the answer before. Wants one name in `columns`.",
            &text,
            "Auckland",
        ),
        "lang": query(
            "lang",
            "Language of titles, descriptions, labels and notes (BCP 47). Left out: what `Accept-Language` prefers, else the publisher's first.",
            &json!({"type": "string", "pattern": "^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$", "maxLength": 35}),
            "en",
        ),
        "where": conditions(),
        "sort": query(
            "sort",
            "Names of columns, separated by commas, the greatest value first behind a `-`. Nulls come last. Left out: by date, then by primary key.",
            &json!({"type": "string", "pattern": "^[^,]+(,[^,]+){0,7}$"}),
            "-date",
        ),
        "first": query("first", "Only so many of the oldest rows of each series, of those that all else leaves. Not beside `last`.", &series_rows(), 1),
        "last": query("last", "Only so many of the newest rows of each series, of those that all else leaves. Not beside `first`.", &series_rows(), 1),
        "bbox": query(
            "bbox",
            "Keep rows whose geometry meets this box: west, south, east and north in degrees. West > east crosses 180°.",
            &json!({"type": "string", "pattern": "^[^,]+(,[^,]+){3}$"}),
            "166.0,-47.5,179.0,-34.0",
        ),
        "as_of": query(
            "as_of",
            "Read what was current at this time, at the end of a date (UTC) or at RFC 3339 with an offset, also where the snapshot is not \
                retained any more. Not after today, not beside `snapshot`.",
            &json!({"type": "string", "pattern": "^\\d{4}-\\d{2}-\\d{2}([Tt ]\\d{2}:\\d{2}:\\d{2}(\\.\\d+)?([Zz]|[+ -]\\d{2}:\\d{2}))?$"}),
            "2026-11-21",
        ),
        "apply": apply(plugins),
        "datasets": {
            "name": "datasets", "in": "query", "required": true, "description": "Names of datasets, separated by commas.",
            "schema": {"type": "string", "minLength": 1}, "example": "consumer_prices,regions",
        },
        "freshness": query(
            "freshness",
            "Which snapshot: `monthly` is the last from before the first of this month (UTC), `current` the newest. Left out: the best that the plan has.",
            &json!({"type": "string", "enum": ["monthly", "current"]}),
            "monthly",
        ),
        "Range": header("Range", "One range of bytes, or a suffix.", "bytes=0-1023"),
        "If-Range": header("If-Range", "Send the range only if the file still has this tag.", "\"310413fcb9f65f52b329453883a6535f\""),
        "If-Match": header("If-Match", "Answer 412 unless the tag is still this one.", "\"310413fcb9f65f52b329453883a6535f\""),
        "If-Unmodified-Since": header(
            "If-Unmodified-Since",
            "Answer 412 if `Last-Modified` is later. Ignored beside `If-Match`.",
            "Sun, 01 Nov 2026 00:00:00 GMT",
        ),
        "If-None-Match": header("If-None-Match", "Answer 304 if the tag is still this one.", "\"310413fcb9f65f52b329453883a6535f\""),
        "If-Modified-Since": header(
            "If-Modified-Since",
            "Never answered 304, since a date cannot say which version a client has: send `If-None-Match`.",
            "Sat, 21 Nov 2026 00:00:00 GMT",
        ),
        "Accept": header("Accept", "Media types that will do, by preference; where `format` does not decide.", media_types::JSON),
        "Accept-Encoding": header("Accept-Encoding", "Codings that the client undoes: `gzip`, `zstd`.", "gzip"),
    })
}

/// Parameters that plugins declare under `prefix`, as `<prefix>.<name>`.
pub(super) fn plugin_parameters<'a>(
    prefix: &'a str,
    declared: &'a [PluginParameter],
) -> impl Iterator<Item = Value> + 'a {
    declared.iter().map(move |parameter| {
        let mut schema = match parameter.kind {
            ParameterKind::Text => json!({"type": "string", "maxLength": MAX_VALUE_BYTES}),
            ParameterKind::Integer => json!({"type": "integer", "format": "int64"}),
            ParameterKind::Number => json!({"type": "number", "format": "double"}),
            ParameterKind::Boolean => json!({"type": "boolean"}),
        };
        if !parameter.allowed.is_empty() {
            schema.as_object_mut().map(|schema| schema.remove("maxLength"));
            let allowed: Vec<Value> = parameter.allowed.iter().filter_map(|text| parameter.parse(text)).map(|value| json!(value)).collect();
            schema["enum"] = json!(allowed);
        }
        schema["default"] = json!(parameter.default);
        json!({"name": format!("{prefix}.{}", parameter.name), "in": "query", "description": parameter.docs, "schema": schema})
    })
}

/// Conditions on columns, whose names each dataset has for itself: an object whose members become
/// parameters.
fn conditions() -> Value {
    json!({
        "name": "where", "in": "query", "style": "form", "explode": true,
        "description": "Conditions on columns; all hold. `where.COLUMN=VALUE` is equality, repeated: with any of the values. \
            `where.COLUMN.OPERATOR=VALUE` has one of the operators `not`, `ge`, `gt`, `le`, `lt`, `contains`, `starts` and `null`.",
        "schema": {
            "type": "object",
            // Other names are other parameters, and those that nothing declares are ignored.
            "patternProperties": {"^where\\.[^.]+(\\.(not|ge|gt|le|lt|contains|starts|null))?$": {"anyOf": [
                {"type": "string", "maxLength": 1_024},
                {"type": "array", "items": {"type": "string", "maxLength": 1_024}},
            ]}},
        },
        "example": {"where.value.ge": "0.2"},
    })
}

/// Names of transforms, with what each of them that is loaded does.
fn apply(plugins: &PluginSet) -> Value {
    let loaded: Vec<&TransformDescription> =
        plugins.transforms().map(|transform| transform.description()).collect();
    let lines: Vec<String> = loaded
        .iter()
        .map(|transform| format!("\n- `{}`: {}", transform.name, transform.docs))
        .collect();
    let lines = if lines.is_empty() { " none.".to_owned() } else { lines.concat() };
    query(
        "apply",
        &format!(
            "Transforms that the rows go through in this order, separated by commas, each once, four at most; `NAME@VERSION` takes that \
             release alone. `first`, `last`, `sort`, `columns`, `limit` and `cursor` are then of what the last one gives. Those loaded now:{lines}"
        ),
        &json!({"type": "string", "pattern": "^[^,]+(,[^,]+){0,3}$"}),
        loaded.first().map_or("name", |transform| &transform.name),
    )
}

fn series_rows() -> Value {
    json!({"type": "integer", "minimum": 1, "maximum": MAX_SERIES_ROWS})
}

fn limit(settings: &CoreSettings) -> String {
    let caps: Vec<String> = Plan::ALL
        .into_iter()
        .filter_map(|plan| {
            settings.plans.limits(plan).row_cap.map(|cap| format!("{cap} rows on {plan}"))
        })
        .collect();
    let capped = if caps.is_empty() {
        String::new()
    } else {
        format!(" A request gets at most {}.", caps.join(", "))
    };
    format!(
        "Maximum rows. 0 means everything, but is refused (413) on a dataset with more than {UNBOUNDED_ROWS} rows or with geometry \
         unless `start` or `end` bounds it, or `geometry=false` on a small spatial one.{capped}"
    )
}

/// The enumeration of `values`, with a default where it is among them.
fn one_of(values: &[&str], default: &str) -> Value {
    let mut schema = json!({"type": "string"});
    // An empty enumeration would allow nothing and is no valid schema.
    if !values.is_empty() {
        schema["enum"] = json!(values);
    }
    if values.contains(&default) {
        schema["default"] = json!(default);
    }
    schema
}

fn path(name: &str, description: &str, schema: &Value, example: &str) -> Value {
    json!({"name": name, "in": "path", "required": true, "description": description, "schema": schema, "example": example})
}

fn header(name: &str, description: &str, example: &str) -> Value {
    json!({"name": name, "in": "header", "description": description, "schema": {"type": "string"}, "example": example})
}

fn query(name: &str, description: &str, schema: &Value, example: impl Into<Value>) -> Value {
    json!({"name": name, "in": "query", "description": description, "schema": schema, "example": example.into()})
}

#[cfg(test)]
mod tests {
    use super::*;
    use yearbook_sandbox::OptionScalar as Plain;

    #[test]
    fn what_plugins_declare_becomes_parameters_with_their_name_before_it() {
        let delimiter = PluginParameter {
            name: "delimiter".to_owned(),
            kind: ParameterKind::Text,
            default: Plain::Text(",".to_owned()),
            allowed: vec![",".to_owned(), ";".to_owned()],
            docs: "Between fields.".to_owned(),
        };
        let level = PluginParameter {
            name: "level".to_owned(),
            kind: ParameterKind::Integer,
            default: Plain::Integer(3),
            allowed: vec!["1".to_owned(), "3".to_owned()],
            docs: String::new(),
        };
        let free =
            PluginParameter { name: "label".to_owned(), allowed: Vec::new(), ..delimiter.clone() };
        let found: Vec<Value> = plugin_parameters("csv", &[delimiter, level, free]).collect();
        assert_eq!(found[2]["schema"], json!({"type": "string", "maxLength": 256, "default": ","}));
        assert_eq!(found[0]["name"], "csv.delimiter");
        assert_eq!(
            found[0]["schema"],
            json!({"type": "string", "enum": [",", ";"], "default": ","})
        );
        assert_eq!(
            found[1]["schema"],
            json!({"type": "integer", "format": "int64", "enum": [1, 3], "default": 3})
        );
    }

    #[test]
    fn defaults_and_caps_are_those_in_force_spec_8() {
        let components = components(&CoreSettings::default(), &PluginSet::default());
        assert_eq!(components["limit"]["schema"]["default"], 100);
        let described = components["limit"]["description"].as_str().unwrap_or_default();
        assert!(
            described.contains("50000 rows on free, 50000 rows on starter.")
                && described.contains("more than 100000 rows"),
            "{described}"
        );
    }
}
