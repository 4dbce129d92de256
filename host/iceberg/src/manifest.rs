//! Manifest and manifest list of one snapshot (contract-12-iceberg-files): one file, with bounds
//! from its footer. Never reads or writes anything.

use serde_json::{Value, json};
use yearbook_scan::{FileStatistics, StatisticValue};

use super::avro::{AvroRecord, container};
use super::table_metadata::FieldIds;

/// Columns that a manifest tells bounds of at most: what bounds that of a wide table.
const MAX_COLUMNS: usize = 256;

/// A stored file as a manifest tells it.
pub(super) struct TableFile<'a> {
    /// Address in the bucket.
    pub(super) address: &'a str,
    /// Size, bytes.
    pub(super) bytes: u64,
    /// Statistics of its footer.
    pub(super) statistics: &'a FileStatistics,
    /// Number of the snapshot, from 1; its sequence number too.
    pub(super) number: i64,
    /// Columns, as JSON.
    pub(super) schema: &'a Value,
}

/// Makes the manifest of `file`.
pub(super) fn manifest(file: &TableFile<'_>, ids: &FieldIds) -> Vec<u8> {
    let statistics = file.statistics;
    let columns: Vec<_> = statistics
        .columns
        .iter()
        .take(MAX_COLUMNS)
        .filter_map(|column| Some((i64::from(ids.get(&column.name)?), column)))
        .collect();
    let rows = long(statistics.rows);
    let mut record = AvroRecord::default();
    // Added by this snapshot, with its sequence number.
    record.long(1);
    for _ in 0..3 {
        record.branch(true);
        record.long(file.number);
    }
    record.long(0);
    record.string(file.address);
    record.string("PARQUET");
    record.long(rows);
    record.long(long(file.bytes));
    let nulls: Vec<_> =
        columns.iter().filter_map(|(id, column)| Some((*id, long(column.nulls?)))).collect();
    let values: Vec<_> = columns.iter().map(|(id, _)| (*id, rows)).collect();
    for counts in [values, nulls] {
        record.branch(true);
        record.array(counts.into_iter(), |record, (id, count)| {
            record.long(id);
            record.long(count);
        });
    }
    let lower: Vec<_> = columns
        .iter()
        .filter_map(|(id, column)| Some((*id, bound(column.min.as_ref()?))))
        .collect();
    let upper: Vec<_> = columns
        .iter()
        .filter_map(|(id, column)| Some((*id, bound(column.max.as_ref()?))))
        .collect();
    for bounds in [lower, upper] {
        record.branch(true);
        record.array(bounds.into_iter(), |record, (id, bytes)| {
            record.long(id);
            record.bytes(&bytes);
        });
    }
    let metadata = [
        ("schema", file.schema.to_string()),
        ("schema-id", file.schema["schema-id"].to_string()),
        ("partition-spec", "[]".to_owned()),
        ("partition-spec-id", "0".to_owned()),
        ("format-version", "2".to_owned()),
        ("content", "data".to_owned()),
    ];
    container(&manifest_schema().to_string(), &metadata, &record)
}

/// Makes the manifest list that names the manifest at `address`, of `bytes`.
pub(super) fn manifest_list(
    address: &str,
    bytes: usize,
    file: &TableFile<'_>,
    parent: Option<i64>,
) -> Vec<u8> {
    let mut record = AvroRecord::default();
    record.string(address);
    record.long(i64::try_from(bytes).unwrap_or(i64::MAX));
    // Partition spec and content.
    record.long(0);
    record.long(0);
    for _ in ["sequence_number", "min_sequence_number", "added_snapshot_id"] {
        record.long(file.number);
    }
    let rows = long(file.statistics.rows);
    for count in [1, 0, 0, rows, 0, 0] {
        record.long(count);
    }
    record.branch(true);
    record.array(std::iter::empty::<()>(), |_, ()| {});
    let metadata = [
        ("snapshot-id", file.number.to_string()),
        ("parent-snapshot-id", parent.map_or_else(|| "null".to_owned(), |id| id.to_string())),
        ("sequence-number", file.number.to_string()),
        ("format-version", "2".to_owned()),
    ];
    container(&list_schema().to_string(), &metadata, &record)
}

fn long(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// Iceberg's single-value form of a bound.
fn bound(value: &StatisticValue) -> Vec<u8> {
    match value {
        StatisticValue::Boolean(value) => vec![u8::from(*value)],
        StatisticValue::Integer(value) => value.to_le_bytes().to_vec(),
        StatisticValue::Number(value) => value.to_le_bytes().to_vec(),
        StatisticValue::Text(value) => value.as_bytes().to_vec(),
    }
}

fn field(name: &str, id: i32, kind: Value) -> Value {
    json!({"name": name, "type": kind, "field-id": id})
}

fn optional(name: &str, id: i32, kind: Value) -> Value {
    json!({"name": name, "type": ["null", kind], "default": null, "field-id": id})
}

/// A map from field ids, which Avro's own maps cannot be.
fn by_field(name: &str, id: i32, key: i32, value: i32, kind: &str) -> Value {
    let item = json!({
        "type": "record", "name": format!("k{key}_v{value}"),
        "fields": [field("key", key, json!("int")), field("value", value, json!(kind))],
    });
    optional(name, id, json!({"type": "array", "items": item, "logicalType": "map"}))
}

fn manifest_schema() -> Value {
    let data_file = json!({"type": "record", "name": "r2", "fields": [
        field("content", 134, json!("int")),
        field("file_path", 100, json!("string")),
        field("file_format", 101, json!("string")),
        field("partition", 102, json!({"type": "record", "name": "r102", "fields": []})),
        field("record_count", 103, json!("long")),
        field("file_size_in_bytes", 104, json!("long")),
        by_field("value_counts", 109, 119, 120, "long"),
        by_field("null_value_counts", 110, 121, 122, "long"),
        by_field("lower_bounds", 125, 126, 127, "bytes"),
        by_field("upper_bounds", 128, 129, 130, "bytes"),
    ]});
    json!({"type": "record", "name": "manifest_entry", "fields": [
        field("status", 0, json!("int")),
        optional("snapshot_id", 1, json!("long")),
        optional("sequence_number", 3, json!("long")),
        optional("file_sequence_number", 4, json!("long")),
        field("data_file", 2, data_file),
    ]})
}

fn list_schema() -> Value {
    let summary = json!({"type": "record", "name": "r508", "fields": [
        field("contains_null", 509, json!("boolean")),
        optional("contains_nan", 518, json!("boolean")),
        optional("lower_bound", 510, json!("bytes")),
        optional("upper_bound", 511, json!("bytes")),
    ]});
    let partitions = json!({"type": "array", "items": summary, "element-id": 508});
    json!({"type": "record", "name": "manifest_file", "fields": [
        field("manifest_path", 500, json!("string")),
        field("manifest_length", 501, json!("long")),
        field("partition_spec_id", 502, json!("int")),
        field("content", 517, json!("int")),
        field("sequence_number", 515, json!("long")),
        field("min_sequence_number", 516, json!("long")),
        field("added_snapshot_id", 503, json!("long")),
        field("added_files_count", 504, json!("int")),
        field("existing_files_count", 505, json!("int")),
        field("deleted_files_count", 506, json!("int")),
        field("added_rows_count", 512, json!("long")),
        field("existing_rows_count", 513, json!("long")),
        field("deleted_rows_count", 514, json!("long")),
        optional("partitions", 507, partitions),
    ]})
}
