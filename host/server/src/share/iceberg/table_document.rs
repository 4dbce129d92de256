//! A table as `loadTable` answers (contract-12-iceberg, contract-12-iceberg-credentials): the
//! metadata that publishing wrote, without versions that are no longer retained or may not be
//! handed on, and with the catalog's times. Never reads a row.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use yearbook_domain::{Dataset, Millis};

use crate::error::Error;
use crate::share::ShareRefusal;
use crate::share::history::newest;
use crate::state::AppState;

/// Reads and completes the metadata of `dataset`.
///
/// # Errors
/// 404 for a table that was published before it was described; 500 for metadata that is none.
pub(super) async fn load(app: &AppState, dataset: &Dataset) -> Result<Value, Error> {
    let version = newest(dataset)?.version;
    let (sha256, name) = (&dataset.current.file.sha256, format!("v{version}.metadata.json"));
    let stored = app.share.metadata_files.get(app, sha256, version, &name).await?;
    let (Some(bytes), Some(address)) = (stored, app.storage.companion_address(sha256, &name))
    else {
        return Err(ShareRefusal::NotDescribed(dataset.name.to_string()).into());
    };
    let mut metadata: Value = serde_json::from_slice(&bytes)
        .map_err(|failure| Error::internal("read the metadata of a table", &failure))?;
    keep_shown(&mut metadata, &shown_versions(app, dataset).await?);
    let mut config = Map::new();
    for (name, value) in app.settings.share.iceberg_credentials.properties() {
        config.insert(name.to_owned(), json!(value));
    }
    let mut table = json!({
        "metadata-location": address,
        "metadata": metadata,
        "config": config,
    });
    if !config.is_empty() {
        let prefix = app.storage.bucket_root().unwrap_or_default();
        table["storage-credentials"] = json!([{"prefix": prefix, "config": config}]);
    }
    Ok(table)
}

/// Times of the retained versions that may be handed on, by snapshot id of Iceberg.
async fn shown_versions(app: &AppState, dataset: &Dataset) -> Result<BTreeMap<i64, Millis>, Error> {
    let mut shown = BTreeMap::new();
    for summary in &dataset.snapshots {
        let snapshot = app.catalog_cache.snapshot(dataset, &summary.id).await?;
        if snapshot.is_some_and(|snapshot| snapshot.bulk_redistribution) {
            let number = i64::try_from(summary.version).unwrap_or(i64::MAX - 1) + 1;
            shown.insert(number, summary.created_at);
        }
    }
    Ok(shown)
}

/// Keeps the snapshots in `shown`, with these times.
fn keep_shown(metadata: &mut Value, shown: &BTreeMap<i64, Millis>) {
    for list in ["snapshots", "snapshot-log"] {
        let Some(entries) = metadata.get_mut(list).and_then(Value::as_array_mut) else { continue };
        entries.retain_mut(|entry| {
            let time = entry["snapshot-id"].as_i64().and_then(|number| shown.get(&number));
            if let Some(time) = time {
                entry["timestamp-ms"] = json!(time.0);
            }
            time.is_some()
        });
        if list == "snapshots"
            && let Some(first) = entries.first_mut().and_then(Value::as_object_mut)
        {
            // A snapshot that is not listed is no parent.
            first.remove("parent-snapshot-id");
        }
    }
    if let Some(last) = shown.values().next_back() {
        metadata["last-updated-ms"] = json!(last.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropped_versions_are_not_told_and_times_are_the_catalogs_contract_12() {
        let entry =
            |id: i64| json!({"snapshot-id": id, "timestamp-ms": 0, "parent-snapshot-id": id - 1});
        let mut metadata = json!({
            "last-updated-ms": 0,
            "snapshots": [entry(1), entry(2), entry(3)],
            "snapshot-log": [
                {"snapshot-id": 1, "timestamp-ms": 0},
                {"snapshot-id": 2, "timestamp-ms": 0},
                {"snapshot-id": 3, "timestamp-ms": 0},
            ],
        });
        keep_shown(&mut metadata, &BTreeMap::from([(2, Millis(20)), (3, Millis(30))]));
        let expected = json!({
            "last-updated-ms": 30,
            "snapshots": [
                {"snapshot-id": 2, "timestamp-ms": 20},
                {"snapshot-id": 3, "timestamp-ms": 30, "parent-snapshot-id": 2},
            ],
            "snapshot-log": [
                {"snapshot-id": 2, "timestamp-ms": 20},
                {"snapshot-id": 3, "timestamp-ms": 30},
            ],
        });
        assert_eq!(metadata, expected);
    }
}
