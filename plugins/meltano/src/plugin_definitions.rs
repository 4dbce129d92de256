//! Plugins of the project: the tap, defined in full (with less, `meltano install` asks Meltano's
//! hub), and a loader that needs no account, JSON lines in a folder, which is meant to be replaced.

use serde_json::{Value, json};
use yearbook_sdk::generator::KEY_VARIABLE;

use crate::stream::TapStream;

/// Name of the tap in the project.
pub(crate) const EXTRACTOR: &str = "tap-rest-api-msdk";
/// Name of the loader in the project.
pub(crate) const LOADER: &str = "target-jsonl";
/// The first date that a dataset may have.
const BEGINNING: &str = "0001-01-01";

/// Tap with its settings and streams.
pub(crate) fn extractor(base_url: &str, streams: &[TapStream<'_>]) -> Value {
    let setting = |name: &str, kind: &str| json!({"name": name, "kind": kind});
    let mut definition = json!({
        "name": EXTRACTOR,
        "namespace": "tap_rest_api_msdk",
        // It imports pkg_resources, which later versions of setuptools lack.
        "pip_url": "tap-rest-api-msdk==1.4.2 setuptools<81",
        "executable": "tap-rest-api-msdk",
        "capabilities": ["state", "catalog", "discover", "about", "stream-maps"],
        "settings": [
            setting("api_url", "string"),
            setting("auth_method", "string"),
            {"name": "api_keys", "kind": "object", "sensitive": true},
            setting("pagination_request_style", "string"),
            setting("pagination_next_page_param", "string"),
            setting("backoff_type", "string"),
            setting("backoff_param", "string"),
            setting("start_date", "string"),
            setting("streams", "array"),
        ],
        "config": {
            "api_url": format!("{base_url}/v1"),
            "auth_method": "api_key",
            "api_keys": {"X-API-Key": format!("${KEY_VARIABLE}")},
            // Reads X-Next-Page. Its other styles either stop after the first page of a bare array
            // or fail on the second.
            "pagination_request_style": "simple_header_paginator",
            "pagination_next_page_param": "cursor",
            "backoff_type": "header",
            "backoff_param": "Retry-After",
            "streams": streams.iter().map(TapStream::definition).collect::<Vec<_>>(),
        },
    });
    if streams.iter().any(TapStream::is_incremental) {
        // Where the tap has neither a state nor a date to begin with, it asks for an order in words
        // that the service refuses. A stream's own is not read.
        definition["config"]["start_date"] = json!(BEGINNING);
    }
    definition
}

/// Loader with its settings. It appends to its files: a run that reads everything begins new ones,
/// named by its time, and an incremental run goes on in the files that are there.
pub(crate) fn loader(incremental: bool) -> Value {
    json!({
        "name": LOADER,
        "namespace": "target_jsonl",
        "pip_url": "target-jsonl==0.1.4 setuptools<81",
        "executable": "target-jsonl",
        "settings": [
            {"name": "destination_path", "kind": "string"},
            {"name": "do_timestamp_file", "kind": "boolean"},
        ],
        "config": {"destination_path": "output", "do_timestamp_file": !incremental},
    })
}
