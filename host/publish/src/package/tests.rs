//! Descriptors that are accepted, and the words for each fault (contract-7-descriptor).

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod columns;
mod credit;
mod descriptor_files;
mod faults;
mod meaning;
mod planned_releases;

use serde_json::json;
use yearbook_domain::{ColumnRole, ColumnType};

use super::*;

/// A long table that is right in every way; tests change one thing each.
fn good() -> Value {
    json!({
        "name": "cpi", "title": "Consumer prices", "description": "Index\nby group",
        "licenses": [{"name": "CC-BY-4.0", "title": "Creative Commons Attribution 4.0"}],
        "sources": [{"title": "Stats NZ", "path": "https://stats.govt.nz/cpi"}],
        "resources": [{
            "name": "cpi", "path": "cpi.csv",
            "schema": {
                "fields": [
                    {"name": "date", "type": "date"},
                    {"name": "period", "type": "string"},
                    {"name": "group", "type": "string", "description": "Group of goods"},
                    {"name": "code", "type": "string", "constraints": {"required": true}},
                    {"name": "value", "type": "number", "unit": "index"},
                    {"name": "flag", "type": "boolean"},
                    {"name": "geometry_wkt", "type": "string"}
                ],
                "primaryKey": ["date", "group", "code"]
            }
        }],
        "yearbook": {"namespace": "prices", "dimensions": ["group"], "refresh_cadence": "weekly"}
    })
}

/// Parses `descriptor` beside an empty `cpi.csv`.
fn open(descriptor: &Value) -> Result<DataPackage, PublishError> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("cpi.csv"), "").unwrap();
    std::fs::write(folder.path().join(DESCRIPTOR), descriptor.to_string()).unwrap();
    DataPackage::open(folder.path())
}

/// `good` with the value at a JSON pointer replaced (created where its parent is an object).
fn with(pointer: &str, value: Value) -> Value {
    let mut descriptor = good();
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    let parent = descriptor.pointer_mut(parent).unwrap();
    match key.parse::<usize>() {
        Ok(index) if parent.is_array() => parent[index] = value,
        _ => parent[key] = value,
    }
    descriptor
}

/// The single problem of `descriptor`, as `path: message`.
fn problem(descriptor: &Value) -> String {
    match open(descriptor) {
        Err(PublishError::Descriptor { problems, .. }) => {
            assert_eq!(problems.len(), 1, "{problems:?}");
            problems[0].to_string()
        }
        other => panic!("expected a descriptor problem, got {other:?}"),
    }
}

#[test]
fn a_good_descriptor_is_taken_whole_contract_7() {
    let package = open(&good()).unwrap();
    assert_eq!((package.name.as_str(), package.namespace.as_str()), ("cpi", "prices"));
    assert_eq!(package.layout, TableLayout::Long);
    assert_eq!(package.date_column.as_deref(), Some("date"));
    assert_eq!(package.refresh_cadence.map(Cadence::as_str), Some("weekly"));
    assert!(package.bulk_redistribution);
    let roles: Vec<ColumnRole> = package.columns.iter().map(|c| c.role).collect();
    assert_eq!(
        roles,
        [
            ColumnRole::Date,
            ColumnRole::Period,
            ColumnRole::Dimension,
            ColumnRole::Key,
            ColumnRole::Value,
            ColumnRole::Attribute,
            ColumnRole::Geometry
        ]
    );
    let nullable: Vec<bool> = package.columns.iter().map(|c| c.nullable).collect();
    assert_eq!(nullable, [false, true, false, false, true, true, true]);
    assert_eq!(package.columns[4].unit.as_deref(), Some("index"));
    assert_eq!(package.columns[0].column_type, ColumnType::Date);
}

#[test]
fn refresh_cadence_is_from_a_closed_list_contract_7() {
    for cadence in
        ["hourly", "daily", "weekly", "monthly", "quarterly", "annual", "irregular", "none"]
    {
        let package = open(&with("/yearbook/refresh_cadence", json!(cadence))).unwrap();
        assert_eq!(package.refresh_cadence.map(Cadence::as_str), Some(cadence));
    }
    for cadence in ["fortnightly", "Weekly", "yearly", "", "weekly "] {
        let found = problem(&with("/yearbook/refresh_cadence", json!(cadence)));
        let list = "hourly, daily, weekly, monthly, quarterly, annual, irregular or none";
        assert_eq!(
            found,
            format!("yearbook.refresh_cadence: {cadence:?} is unknown; write {list}")
        );
    }
    assert_eq!(
        open(&with("/yearbook/refresh_cadence", Value::Null)).unwrap().refresh_cadence,
        None
    );
}

#[test]
fn keywords_are_the_topics_of_a_dataset_contract_7() {
    let keywords = |value: Value| open(&with("/keywords", value)).unwrap().keywords;
    assert_eq!(keywords(Value::Null), Vec::<String>::new());
    assert_eq!(keywords(json!(["prices", "Māori land", "prices"])), ["prices", "Māori land"]);
    for (value, fault) in [
        (json!("prices"), "keywords: "),
        (json!(["a", 7]), "keywords[1]: "),
        (json!([" a"]), "keywords[0]: starts or ends with white space"),
        (json!(["a\nb"]), "keywords[0]: has a control character"),
        (json!(["k".repeat(201)]), "keywords[0]: has 201 bytes"),
        (json!(vec!["k"; 101]), "keywords: has 101 entries"),
    ] {
        let found = problem(&with("/keywords", value));
        assert!(found.starts_with(fault), "{found}");
    }
}
