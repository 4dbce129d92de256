//! A loader that needs no account: JSON lines in a folder. Meant to be replaced.

use serde_json::{Value, json};

/// The loader's name in the project.
pub(crate) const NAME: &str = "target-jsonl";

/// The loader. It appends to its files: a run that reads everything begins new ones, named by its
/// time, and what is read on follows what is there.
pub(crate) fn definition(incremental: bool) -> Value {
    json!({
        "name": NAME,
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
