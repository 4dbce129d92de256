//! The pipeline, one dataset after the other so that a burst limit is never met, and its trigger.

use serde_json::{Value, json};
use yearbook_sdk::generator::{Plan, Request};

use crate::RowSource;
use crate::linked_service::{PIPELINE, SINK, SOURCE, TRIGGER, expression};

/// More rows than any dataset has. A positive limit passes the guard against unbounded pulls, which
/// `limit=0` does not.
const ALL_ROWS: u64 = 1_000_000_000;
/// Rows of a page of JSON, geometry included.
const PAGE_ROWS: u64 = 10_000;

/// Rows of a page where pages are read.
pub(crate) fn page(plan: &Plan) -> u64 {
    plan.page(PAGE_ROWS)
}

/// The pipeline with the chosen datasets as its parameter's default.
pub(crate) fn copy(request: &Request, source: RowSource) -> Value {
    let names: Vec<&str> = request.datasets.iter().map(|dataset| dataset.name.as_str()).collect();
    json!({
        "name": PIPELINE,
        "properties": {
            "description": "Copies each dataset to the lake in full.",
            "parameters": {"datasets": {"type": "Array", "defaultValue": names}},
            "activities": [{
                "name": "EachDataset",
                "type": "ForEach",
                "dependsOn": [],
                "userProperties": [],
                "typeProperties": {
                    "items": expression("@pipeline().parameters.datasets"),
                    "isSequential": true,
                    "activities": [activity(request, source)],
                },
            }],
            "annotations": [],
        },
    })
}

fn activity(request: &Request, source: RowSource) -> Value {
    let query = match source {
        RowSource::Parquet => format!("format=parquet&limit={ALL_ROWS}"),
        RowSource::Rest => format!("format=json&limit={}", page(&request.plan)),
    };
    json!({
        "name": "CopyDataset",
        "type": "Copy",
        "dependsOn": [],
        "userProperties": [],
        // One more try, not soon: a limited plan pays for each, and a rate limit asks for patience.
        "policy": {"timeout": "0.02:00:00", "retry": 1, "retryIntervalInSeconds": 60, "secureInput": true, "secureOutput": false},
        "typeProperties": {
            "source": reader(source),
            "sink": writer(source),
            "enableStaging": false,
        },
        "inputs": [{
            "referenceName": SOURCE,
            "type": "DatasetReference",
            "parameters": {"name": expression("@item()"), "query": query},
        }],
        "outputs": [{
            "referenceName": SINK,
            "type": "DatasetReference",
            "parameters": {"name": expression("@item()")},
        }],
    })
}

fn reader(source: RowSource) -> Value {
    match source {
        RowSource::Parquet => json!({
            "type": "ParquetSource",
            "storeSettings": {"type": "HttpReadSettings", "requestMethod": "GET", "requestTimeout": "00:10:00"},
        }),
        RowSource::Rest => json!({
            "type": "RestSource",
            "requestMethod": "GET",
            "httpRequestTimeout": "00:10:00",
            "requestInterval": "00.00:00:00.100",
            // Follows `Link: rel="next"`.
            "paginationRules": {"supportRFC5988": "true"},
        }),
    }
}

fn writer(source: RowSource) -> Value {
    let store = json!({"type": "AzureBlobFSWriteSettings"});
    match source {
        RowSource::Parquet => {
            json!({"type": "ParquetSink", "storeSettings": store, "formatSettings": {"type": "ParquetWriteSettings"}})
        }
        RowSource::Rest => json!({
            "type": "JsonSink",
            "storeSettings": store,
            "formatSettings": {"type": "JsonWriteSettings", "filePattern": "setOfObjects"},
        }),
    }
}

/// Trigger that runs the pipeline weekly, as the service refreshes its data; stopped until somebody
/// starts it.
pub(crate) fn weekly_trigger() -> Value {
    json!({
        "name": TRIGGER,
        "properties": {
            "type": "ScheduleTrigger",
            "description": "Every Monday morning. Start it when a run by hand has gone well.",
            "runtimeState": "Stopped",
            "annotations": [],
            "pipelines": [{"pipelineReference": {"referenceName": PIPELINE, "type": "PipelineReference"}}],
            "typeProperties": {
                "recurrence": {
                    "frequency": "Week",
                    "interval": 1,
                    "startTime": "2026-01-05T05:00:00Z",
                    "timeZone": "UTC",
                    "schedule": {"minutes": [0], "hours": [5], "weekDays": ["Monday"]},
                },
            },
        },
    })
}
