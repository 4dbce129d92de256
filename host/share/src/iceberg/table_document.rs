//! A table as `loadTable` answers (contract-12-iceberg, contract-12-iceberg-credentials): the
//! metadata that publishing wrote, without versions that are no longer retained or may not be
//! handed on, and with the catalog's times. Never reads a row, and of the catalog only what is in
//! memory.

use std::collections::{BTreeMap, HashSet};

use bytes::Bytes;
use serde_json::{Map, Value, json};
use yearbook_domain::{Dataset, SnapshotSummary, iceberg_number};
use yearbook_http::Error;

use crate::ShareRefusal;
use crate::ShareState;

/// Reads and completes the metadata of `dataset`.
///
/// # Errors
/// 404 for a table that was published before it was described; 500 for metadata that is none.
pub(super) async fn load(app: &ShareState, dataset: &Dataset) -> Result<Value, Error> {
    let Some((bytes, address)) = newest_description(app, dataset).await? else {
        return Err(ShareRefusal::NotDescribed(dataset.name.to_string()).into());
    };
    let mut metadata: Value = serde_json::from_slice(&bytes)
        .map_err(|failure| Error::internal("read the metadata of a table", &failure))?;
    keep_shown(&mut metadata, &shown_versions(dataset));
    let mut config = Map::new();
    for (name, value) in app.settings.iceberg_credentials.properties() {
        config.insert(name.to_owned(), json!(value));
    }
    let mut table = json!({
        "metadata-location": address,
        "metadata": metadata,
        "config": config,
    });
    if !config.is_empty() {
        let prefix = app.core.storage.bucket_root().unwrap_or_default();
        table["storage-credentials"] = json!([{"prefix": prefix, "config": config}]);
    }
    Ok(table)
}

/// Text and address of the newest metadata: of the current version, or of the one before it where
/// that was released at an instant and is not described yet (contract-21-waiting-files).
async fn newest_description(
    app: &ShareState,
    dataset: &Dataset,
) -> Result<Option<(Bytes, String)>, Error> {
    for summary in dataset.snapshots.iter().rev().take(2) {
        let Some(snapshot) = app.core.catalog_cache.snapshot(dataset, &summary.id).await? else {
            continue;
        };
        let (sha256, version) = (&snapshot.file.sha256, summary.version);
        let name = format!("v{version}.metadata.json");
        let stored = app.metadata_files.get(app, sha256, version, &name).await?;
        let address = app.core.storage.companion_address(sha256, &name);
        if let Some(described) = stored.zip(address) {
            return Ok(Some(described));
        }
    }
    Ok(None)
}

/// The retained versions that may be handed on, by snapshot id of Iceberg.
fn shown_versions(dataset: &Dataset) -> BTreeMap<i64, &SnapshotSummary> {
    let shown = dataset.snapshots.iter().filter(|summary| summary.bulk_redistribution);
    shown.map(|summary| (iceberg_number(summary.version), summary)).collect()
}

/// Keeps the snapshots in `shown`, with their times. One that is told under the number of another
/// is of a history that a restored catalog does not have.
fn keep_shown(metadata: &mut Value, shown: &BTreeMap<i64, &SnapshotSummary>) {
    let find = |entry: &Value| {
        let number = entry["snapshot-id"].as_i64()?;
        Some((number, *shown.get(&number)?))
    };
    let mut kept = HashSet::new();
    if let Some(entries) = metadata.get_mut("snapshots").and_then(Value::as_array_mut) {
        entries.retain_mut(|entry| {
            let found = find(entry).filter(|(_, summary)| {
                entry["summary"]["yearbook.snapshot-id"] == summary.id.as_str()
            });
            let Some((number, summary)) = found else { return false };
            entry["timestamp-ms"] = json!(summary.created_at.0);
            kept.insert(number);
            true
        });
        if let Some(first) = entries.first_mut().and_then(Value::as_object_mut) {
            // A snapshot that is not listed is no parent.
            first.remove("parent-snapshot-id");
        }
    }
    if let Some(entries) = metadata.get_mut("snapshot-log").and_then(Value::as_array_mut) {
        entries.retain_mut(|entry| {
            let found = find(entry).filter(|(number, _)| kept.contains(number));
            let Some((_, summary)) = found else { return false };
            entry["timestamp-ms"] = json!(summary.created_at.0);
            true
        });
    }
    if let Some(last) = shown.values().next_back() {
        metadata["last-updated-ms"] = json!(last.created_at.0);
    }
}

#[cfg(test)]
mod tests {
    use yearbook_domain::{Digest, Millis, SnapshotId};

    use super::*;

    fn id(label: &str) -> SnapshotId {
        SnapshotId::from_digest(Digest::compute(label.as_bytes()))
    }

    /// A version of so many milliseconds.
    fn summary(version: u64, label: &str, at: i64) -> SnapshotSummary {
        SnapshotSummary {
            id: id(label),
            version,
            created_at: Millis(at),
            rows: 1,
            changes: None,
            largest_revision: None,
            held: false,
            bulk_redistribution: true,
        }
    }

    /// A snapshot as publishing tells it.
    fn entry(number: i64, label: &str) -> Value {
        json!({
            "snapshot-id": number,
            "timestamp-ms": 0,
            "parent-snapshot-id": number - 1,
            "summary": {"yearbook.snapshot-id": id(label).as_str()},
        })
    }

    /// Metadata with versions of these labels.
    fn metadata(labels: &[&str]) -> Value {
        let entries: Vec<Value> =
            (1..).zip(labels).map(|(number, label)| entry(number, label)).collect();
        let log: Vec<Value> =
            entries.iter().map(|entry| json!({"snapshot-id": entry["snapshot-id"]})).collect();
        json!({"last-updated-ms": 0, "snapshots": entries, "snapshot-log": log})
    }

    /// Keeps `versions` of metadata with these labels, and returns numbers and times of its
    /// snapshots and of its log.
    fn kept(labels: &[&str], versions: &[SnapshotSummary]) -> [Vec<(i64, i64)>; 2] {
        let mut metadata = metadata(labels);
        let shown = versions.iter().map(|summary| (summary.version.cast_signed() + 1, summary));
        keep_shown(&mut metadata, &shown.collect());
        let last = versions.last().map_or(0, |summary| summary.created_at.0);
        assert_eq!(metadata["last-updated-ms"], last);
        assert_eq!(metadata["snapshots"][0].get("parent-snapshot-id"), None);
        ["snapshots", "snapshot-log"].map(|list| {
            let entries = metadata[list].as_array().into_iter().flatten();
            entries
                .filter_map(|entry| {
                    Some((entry["snapshot-id"].as_i64()?, entry["timestamp-ms"].as_i64()?))
                })
                .collect()
        })
    }

    #[test]
    fn dropped_versions_are_not_told_and_times_are_the_catalogs_contract_12() {
        let versions = [summary(1, "b", 20), summary(2, "c", 30)];
        let expected = vec![(2, 20), (3, 30)];
        assert_eq!(kept(&["a", "b", "c"], &versions), [expected.clone(), expected]);
    }

    #[test]
    fn a_version_of_a_history_that_was_lost_is_not_told_contract_12() {
        let versions = [summary(0, "a", 10), summary(1, "other", 20), summary(2, "c", 30)];
        let expected = vec![(1, 10), (3, 30)];
        assert_eq!(kept(&["a", "b", "c"], &versions), [expected.clone(), expected]);
    }
}
