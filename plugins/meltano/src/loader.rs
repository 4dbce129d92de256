//! A loader that needs no account: JSON lines in a folder. Meant to be replaced.

use serde_json::{Value, json};

/// The loader's name in the project.
pub(crate) const NAME: &str = "target-jsonl";

/// The loader.
pub(crate) fn definition() -> Value {
    json!({
        "name": NAME,
        "namespace": "target_jsonl",
        "pip_url": "target-jsonl==0.1.4 setuptools<81",
        "executable": "target-jsonl",
        "settings": [
            {"name": "destination_path", "kind": "string"},
            {"name": "do_timestamp_file", "kind": "boolean"},
        ],
        "config": {"destination_path": "output", "do_timestamp_file": false},
    })
}
