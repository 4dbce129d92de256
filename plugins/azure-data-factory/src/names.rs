//! Names of resources: each is also a file's name and what others refer to.

use serde_json::{Value, json};

pub(crate) const SERVICE: &str = "YearbookService";
pub(crate) const VAULT: &str = "YearbookKeyVault";
pub(crate) const LAKE: &str = "YearbookLake";
pub(crate) const SOURCE: &str = "YearbookRows";
pub(crate) const SINK: &str = "YearbookFiles";
pub(crate) const PIPELINE: &str = "CopyYearbookDatasets";
pub(crate) const TRIGGER: &str = "YearbookWeekly";
/// The key's name in the vault.
pub(crate) const SECRET: &str = "yearbook-api-key";

/// A reference to a linked service.
pub(crate) fn linked(name: &str) -> Value {
    json!({"referenceName": name, "type": "LinkedServiceReference"})
}

/// A value that is computed when the pipeline runs.
pub(crate) fn expression(text: &str) -> Value {
    json!({"value": text, "type": "Expression"})
}
