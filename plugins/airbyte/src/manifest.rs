//! Contents of manifest.yaml. Texts of publishers stand in schemas and in `metadata` alone, which
//! Airbyte does not interpolate, though it resolves references there; everything that it does
//! interpolate is made of names.

use serde_json::{Map, Value, json};
use yearbook_sdk::generator::{Column, ColumnType, Dataset, Request};

/// The version of the declarative language: newer CDKs read it and migrate it.
const VERSION: &str = "6.0.0";
/// The earliest date to begin with, so that rows which are added at the front come too: Airbyte
/// writes earlier years with fewer than four digits.
const BEGINNING: &str = "1000-01-01";

/// True for a stream that can be read on from its last date, where its owner chooses that: it
/// misses revisions of older rows. A spatial dataset is an edition of a map: it changes as a whole.
/// Rows before the earliest date that Airbyte can begin with would be left out.
pub(crate) fn is_dated(dataset: &Dataset) -> bool {
    dataset.date_column.is_some()
        && dataset.geometry().is_none()
        && dataset.date_range.as_ref().is_none_or(|(first, _)| first.as_str() >= BEGINNING)
}

/// manifest.yaml; `incremental`: with the choice to read on.
pub(crate) fn manifest(request: &Request, incremental: bool) -> Value {
    let smallest = request
        .datasets
        .iter()
        .min_by_key(|dataset| dataset.rows)
        .map_or("", |dataset| dataset.name.as_str());
    json!({
        "version": VERSION,
        "type": "DeclarativeSource",
        "check": {"type": "CheckStream", "stream_names": [smallest]},
        "streams": request.datasets.iter().map(|dataset| stream(dataset, request, incremental)).collect::<Vec<_>>(),
        "spec": {
            "type": "Spec",
            "connection_specification": {
                "$schema": "http://json-schema.org/draft-07/schema#",
                "type": "object",
                "required": ["api_key"],
                "additionalProperties": true,
                "properties": {
                    "api_key": {"type": "string", "title": "API key", "airbyte_secret": true, "order": 0},
                },
            },
        },
        "metadata": {"credits": request.datasets.iter().map(credit).collect::<Map<_, _>>()},
    })
}

fn credit(dataset: &Dataset) -> (String, Value) {
    let credit = json!({
        "title": free_text(&dataset.label()),
        "attribution": free_text(&dataset.attribution),
        "licence": free_text(&dataset.licence),
        "source": free_text(&dataset.source),
        "source_url": dataset.source_url.as_deref().map(free_text),
    });
    (dataset.name.clone(), credit)
}

fn stream(dataset: &Dataset, request: &Request, incremental: bool) -> Value {
    let mut stream = json!({
        "type": "DeclarativeStream",
        "name": dataset.name,
        "retriever": {
            "type": "SimpleRetriever",
            "requester": {
                "type": "HttpRequester",
                "url": dataset.data_url,
                "http_method": "GET",
                "authenticator": {
                    "type": "ApiKeyAuthenticator",
                    "api_token": "{{ config['api_key'] }}",
                    "inject_into": {"type": "RequestOption", "inject_into": "header", "field_name": "X-API-Key"},
                },
                "request_parameters": {"format": "json"},
                "error_handler": {
                    "type": "DefaultErrorHandler",
                    "max_retries": 5,
                    // If it is asked to wait longer, the month is used up.
                    "backoff_strategies": [
                        {"type": "WaitTimeFromHeader", "header": "Retry-After", "max_waiting_time_in_seconds": 120},
                    ],
                },
            },
            "record_selector": {"type": "RecordSelector", "extractor": {"type": "DpathExtractor", "field_path": []}},
            "paginator": {
                "type": "DefaultPaginator",
                "page_size_option": {"type": "RequestOption", "inject_into": "request_parameter", "field_name": "limit"},
                "page_token_option": {"type": "RequestOption", "inject_into": "request_parameter", "field_name": "cursor"},
                "pagination_strategy": {
                    "type": "CursorPagination",
                    "page_size": dataset.page(&request.plan, true),
                    "cursor_value": "{{ headers['x-next-page'] }}",
                    "stop_condition": "{{ not headers['x-next-page'] }}",
                },
            },
        },
        "schema_loader": {"type": "InlineSchemaLoader", "schema": schema(dataset)},
    });
    if !dataset.primary_key.is_empty() {
        stream["primary_key"] = json!(dataset.primary_key);
    }
    if let (Some(date), true) = (&dataset.date_column, incremental && is_dated(dataset)) {
        stream["incremental_sync"] = json!({
            "type": "DatetimeBasedCursor",
            "cursor_field": date,
            "datetime_format": "%Y-%m-%d",
            "cursor_datetime_formats": ["%Y-%m-%d"],
            "start_datetime": {"type": "MinMaxDatetime", "datetime": BEGINNING, "datetime_format": "%Y-%m-%d"},
            "start_time_option": {"type": "RequestOption", "inject_into": "request_parameter", "field_name": "start"},
        });
    }
    stream
}

fn schema(dataset: &Dataset) -> Value {
    let properties: Map<String, Value> =
        dataset.columns.iter().map(|column| (column.name.clone(), property(column))).collect();
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "additionalProperties": true,
        "properties": properties,
    })
}

fn property(column: &Column) -> Value {
    let mut property = json!({"type": column.json_types()});
    if column.column_type == ColumnType::Date {
        property["format"] = json!("date");
    }
    if let Some(description) = &column.description {
        property["description"] = json!(free_text(description));
    }
    property
}

/// Text of a publisher. Airbyte takes one that begins with `#/` for a reference to another place of
/// the manifest, wherever it stands, and refuses a manifest without that place; a blank before it
/// leaves it a text.
fn free_text(text: &str) -> String {
    if text.starts_with("#/") { format!(" {text}") } else { text.to_owned() }
}
