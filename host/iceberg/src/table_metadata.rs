//! Metadata of a table in Iceberg's format 2: that of the version before with one snapshot more
//! (contract-12-iceberg-files, contract-12-iceberg-fields). A column's id belongs to its name for
//! ever, because manifests of older versions name it. Never reads or writes anything.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use yearbook_catalog::RetainedVersion;
use yearbook_domain::uuid::uuid_of_name;
use yearbook_domain::{Column, ColumnType, DatasetName, Millis, Snapshot, iceberg_number};

/// Property that leads from names of columns to field ids.
const NAME_MAPPING: &str = "schema.name-mapping.default";

/// Ids of columns by name, of all versions.
pub(super) struct FieldIds(BTreeMap<String, i32>);

impl FieldIds {
    /// Reads the ids that `previous` gave, and gives new columns the next.
    pub(super) fn new(previous: Option<&Value>, columns: &[Column]) -> Self {
        let mut ids = BTreeMap::new();
        let mapping = previous.and_then(|table| table["properties"][NAME_MAPPING].as_str());
        let mapping: Vec<Value> =
            mapping.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
        for entry in &mapping {
            let id = entry["field-id"].as_i64().and_then(|id| i32::try_from(id).ok());
            if let (Some(id), Some(name)) = (id, entry["names"][0].as_str()) {
                ids.insert(name.to_owned(), id);
            }
        }
        for column in columns {
            let next = ids.values().max().map_or(1, |last| last + 1);
            ids.entry(column.name.clone()).or_insert(next);
        }
        Self(ids)
    }

    /// Id of the column called `name`.
    pub(super) fn get(&self, name: &str) -> Option<i32> {
        self.0.get(name).copied()
    }

    /// The greatest id that was given.
    fn last(&self) -> i32 {
        self.0.values().max().copied().unwrap_or_default()
    }

    fn mapping(&self) -> String {
        let mut entries: Vec<_> = self.0.iter().collect();
        entries.sort_by_key(|(_, id)| **id);
        let entries: Vec<Value> = entries
            .into_iter()
            .map(|(name, id)| json!({"field-id": id, "names": [name]}))
            .collect();
        json!(entries).to_string()
    }
}

/// Returns the schema of `columns`: one of `previous` where nothing changed, else the next.
pub(super) fn schema(previous: Option<&Value>, columns: &[Column], ids: &FieldIds) -> Value {
    let fields: Vec<Value> = columns.iter().map(|column| schema_field(column, ids)).collect();
    let known = previous.and_then(|table| table["schemas"].as_array());
    let known = known.map(Vec::as_slice).unwrap_or_default();
    if let Some(same) = known.iter().find(|schema| schema["fields"] == json!(fields)) {
        return same.clone();
    }
    let id = known.iter().filter_map(|schema| schema["schema-id"].as_i64()).max();
    json!({"type": "struct", "schema-id": id.map_or(0, |id| id + 1), "fields": fields})
}

fn schema_field(column: &Column, ids: &FieldIds) -> Value {
    let kind = match column.column_type {
        ColumnType::String | ColumnType::Date => "string",
        ColumnType::Integer => "long",
        ColumnType::Number => "double",
        ColumnType::Boolean => "boolean",
    };
    let mut field = json!({
        "id": ids.get(&column.name),
        "name": column.name,
        "required": !column.nullable,
        "type": kind,
    });
    let unit = column.unit.as_ref().map(|unit| format!("Unit: {unit}."));
    let date = (column.column_type == ColumnType::Date)
        .then(|| "A date as text, YYYY-MM-DD; it sorts as dates do.".to_owned());
    let parts: Vec<String> = [column.description.clone(), unit, date]
        .into_iter()
        .flatten()
        .filter(|part| !part.is_empty())
        .collect();
    if !parts.is_empty() {
        field["doc"] = json!(parts.join(" "));
    }
    field
}

/// A version as the metadata tells it.
pub(super) struct NewVersion<'a> {
    /// The dataset.
    pub(super) name: &'a DatasetName,
    /// The version's snapshot.
    pub(super) snapshot: &'a Snapshot,
    /// Its number, from 1.
    pub(super) number: i64,
    /// Its time.
    pub(super) at: Millis,
    /// Its schema.
    pub(super) schema: &'a Value,
    /// Address of its manifest list.
    pub(super) manifest_list: &'a str,
    /// Address of the bucket's part that is ours.
    pub(super) root: &'a str,
}

/// Returns the metadata of the table at `version`. Of `previous`, snapshots stay whose number is in
/// `retained`.
pub(super) fn table_metadata(
    previous: Option<&Value>,
    version: &NewVersion<'_>,
    ids: &FieldIds,
    retained: &BTreeSet<i64>,
) -> Value {
    let array =
        |key: &str| previous.and_then(|table| table[key].as_array()).cloned().unwrap_or_default();
    let is_other = |entry: &Value| {
        let number = entry["snapshot-id"].as_i64().unwrap_or_default();
        number != version.number && retained.contains(&number)
    };
    let mut snapshots: Vec<Value> = array("snapshots").into_iter().filter(is_other).collect();
    let mut log: Vec<Value> = array("snapshot-log").into_iter().filter(is_other).collect();
    let parent = snapshots.last().map(|last| last["snapshot-id"].clone());
    // Clocks may go back, the times of a table may not.
    let earliest = log.last().and_then(|last| last["timestamp-ms"].as_i64()).map_or(0, |at| at + 1);
    let at = version.at.0.max(earliest);
    let operation = if parent.is_some() { "overwrite" } else { "append" };
    let mut entry = json!({
        "snapshot-id": version.number,
        "sequence-number": version.number,
        "timestamp-ms": at,
        "manifest-list": version.manifest_list,
        "schema-id": version.schema["schema-id"],
        "summary": {
            "operation": operation,
            "total-records": version.snapshot.rows.to_string(),
            "total-data-files": "1",
            "total-files-size": version.snapshot.file.bytes.to_string(),
            "yearbook.snapshot-id": version.snapshot.id.to_string(),
        },
    });
    if let Some(parent) = parent {
        entry["parent-snapshot-id"] = parent;
    }
    snapshots.push(entry);
    log.push(json!({"snapshot-id": version.number, "timestamp-ms": at}));
    let mut schemas = array("schemas");
    if !schemas.contains(version.schema) {
        schemas.push(version.schema.clone());
    }
    let credit = &version.snapshot.credit;
    json!({
        "format-version": 2,
        "table-uuid": table_uuid(version),
        // Above every file of the table: readers scope their credentials by it.
        "location": version.root,
        "last-sequence-number": version.number,
        "last-updated-ms": at,
        "last-column-id": ids.last(),
        "current-schema-id": version.schema["schema-id"],
        "schemas": schemas,
        "default-spec-id": 0,
        "partition-specs": [{"spec-id": 0, "fields": []}],
        "last-partition-id": 999,
        "default-sort-order-id": 0,
        "sort-orders": [{"order-id": 0, "fields": []}],
        "properties": {
            NAME_MAPPING: ids.mapping(),
            "yearbook.source": credit.source,
            "yearbook.attribution": credit.attribution,
            "yearbook.licence": credit.licence,
        },
        "current-snapshot-id": version.number,
        "refs": {"main": {"snapshot-id": version.number, "type": "branch"}},
        "snapshots": snapshots,
        "snapshot-log": log,
        "metadata-log": [],
    })
}

/// Returns true where `metadata` leads each of `versions` that it tells to the version's own file
/// (decision 0332). A catalog that was restored from a backup gives numbers again, and the bucket
/// has what was written of them before.
pub(super) fn agrees(metadata: &Value, versions: &[RetainedVersion]) -> bool {
    let snapshots = metadata["snapshots"].as_array().map(Vec::as_slice).unwrap_or_default();
    versions.iter().all(|RetainedVersion { version, snapshot }| {
        let told = snapshots.iter().find(|entry| entry["snapshot-id"] == iceberg_number(*version));
        let list = told.map(|entry| entry["manifest-list"].as_str().unwrap_or_default());
        // It lies in a folder that is named by the file.
        list.is_none_or(|list| list.contains(snapshot.file.sha256.as_str()))
    })
}

/// The same for a dataset of a bucket for ever.
fn table_uuid(version: &NewVersion<'_>) -> String {
    uuid_of_name(&format!("yearbook iceberg\n{}\n{}", version.root, version.name))
}

#[cfg(test)]
mod tests {
    use yearbook_domain::ColumnRole;

    use super::*;

    #[test]
    fn ids_belong_to_names_for_ever_contract_12() {
        let column = |name: &str, kind| Column::new(name, kind, ColumnRole::Attribute);
        let first = [column("a", ColumnType::Integer), column("b", ColumnType::String)];
        let ids = FieldIds::new(None, &first);
        let schemas = [schema(None, &first, &ids)];
        assert_eq!((ids.get("a"), ids.get("b"), ids.last()), (Some(1), Some(2), 2));
        let stored = json!({"properties": {NAME_MAPPING: ids.mapping()}, "schemas": schemas});

        // `a` is gone, `b` has another type, `c` is new: nobody gets the id of `a`.
        let second = [column("c", ColumnType::Date), column("b", ColumnType::Number)];
        let ids = FieldIds::new(Some(&stored), &second);
        assert_eq!((ids.get("a"), ids.get("b"), ids.get("c")), (Some(1), Some(2), Some(3)));
        let changed = schema(Some(&stored), &second, &ids);
        assert_eq!(changed["schema-id"], 1);
        assert_eq!(changed["fields"][1]["type"], "double");
        assert_eq!(schema(Some(&stored), &first, &ids)["schema-id"], 0, "as it was");
    }
}
