//! Source and sink of the copy, with the dataset's name as a parameter, so that two files serve any
//! number of datasets.

use serde_json::{Value, json};

use crate::RowSource;
use crate::linked_service::{LAKE, SERVICE, SINK, SOURCE, expression, linked};

/// Container of the lake.
const FILE_SYSTEM: &str = "yearbook";

/// Source and sink.
pub(crate) fn all(source: RowSource) -> Vec<Value> {
    vec![rows(source), files(source)]
}

fn rows(source: RowSource) -> Value {
    let path = expression("@concat('v1/datasets/', dataset().name, '/data?', dataset().query)");
    let (kind, type_properties) = match source {
        RowSource::Parquet => {
            ("Parquet", json!({"location": {"type": "HttpServerLocation", "relativeUrl": path}}))
        }
        RowSource::Rest => ("RestResource", json!({"relativeUrl": path})),
    };
    json!({
        "name": SOURCE,
        "properties": {
            "type": kind,
            "linkedServiceName": linked(SERVICE),
            "parameters": {"name": {"type": "String"}, "query": {"type": "String"}},
            "annotations": [],
            "typeProperties": type_properties,
        },
    })
}

fn files(source: RowSource) -> Value {
    let (kind, extension) = match source {
        RowSource::Parquet => ("Parquet", "parquet"),
        RowSource::Rest => ("Json", "json"),
    };
    let mut type_properties = json!({
        "location": {
            "type": "AzureBlobFSLocation",
            "fileSystem": FILE_SYSTEM,
            "folderPath": expression("@dataset().name"),
            "fileName": expression(&format!("@concat(dataset().name, '.{extension}')")),
        },
    });
    if source == RowSource::Parquet {
        type_properties["compressionCodec"] = json!("snappy");
    }
    json!({
        "name": SINK,
        "properties": {
            "type": kind,
            "linkedServiceName": linked(LAKE),
            "parameters": {"name": {"type": "String"}},
            "annotations": [],
            "typeProperties": type_properties,
        },
    })
}
