//! Layout, roles of columns, and the date axis.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use serde_json::{Value, json};
use yearbook_domain::{ColumnRole, ColumnType, TableLayout};

use super::{open, problem, with};
use crate::package::DataPackage;

#[test]
fn layout_and_roles_of_a_wide_table() {
    let mut descriptor = with("/yearbook/dimensions", json!([]));
    let package = open(&descriptor).unwrap();
    assert_eq!(package.layout, TableLayout::Wide, "a date and a value column without dimensions");
    descriptor["yearbook"]["layout"] = json!("long");
    assert_eq!(open(&descriptor).unwrap().layout, TableLayout::Long, "what is stated wins");
    let package =
        open(&with("/resources/0/schema/fields/5", json!({"name": "emp", "type": "integer"})))
            .unwrap();
    assert_eq!(
        (package.layout, package.columns[5].role),
        (TableLayout::Wide, ColumnRole::Value),
        "two measures: a column a series"
    );
}

/// `good` with a measure called `amount`, a numeric part of the key, and these words under
/// `"yearbook"`.
fn with_amount(words: &[(&str, Value)]) -> Value {
    let mut descriptor =
        with("/resources/0/schema/fields/4", json!({"name": "amount", "type": "integer"}));
    descriptor["resources"][0]["schema"]["fields"][3] = json!({"name": "code", "type": "integer"});
    for (key, value) in words {
        descriptor["yearbook"][*key] = value.clone();
    }
    descriptor
}

#[test]
fn the_measure_of_a_long_table_may_have_any_name_contract_7() {
    let roles =
        |package: &DataPackage| (package.layout, package.columns[3].role, package.columns[4].role);
    let package = open(&with_amount(&[])).unwrap();
    assert_eq!(
        roles(&package),
        (TableLayout::Long, ColumnRole::Key, ColumnRole::Value),
        "a date, a dimension, one number outside the key"
    );
    let package = open(&with_amount(&[("date_filter_column", Value::Null)])).unwrap();
    assert_eq!(
        roles(&package),
        (TableLayout::Wide, ColumnRole::Key, ColumnRole::Value),
        "without a date axis"
    );
    let package =
        open(&with_amount(&[("dimensions", json!([])), ("layout", json!("long"))])).unwrap();
    assert_eq!(
        roles(&package),
        (TableLayout::Long, ColumnRole::Key, ColumnRole::Value),
        "what is stated wins"
    );
    let package = open(&with_amount(&[("value_columns", json!([]))])).unwrap();
    assert_eq!(
        roles(&package),
        (TableLayout::Wide, ColumnRole::Key, ColumnRole::Attribute),
        "no measure at all"
    );
}

#[test]
fn value_columns_say_which_numbers_are_measures_contract_7() {
    let mut descriptor = with_amount(&[("value_columns", json!(["amount"]))]);
    descriptor["resources"][0]["schema"]["fields"][5] = json!({"name": "sample", "type": "number"});
    let package = open(&descriptor).unwrap();
    assert_eq!(
        (package.layout, package.columns[4].role, package.columns[5].role),
        (TableLayout::Long, ColumnRole::Value, ColumnRole::Attribute)
    );
    descriptor["yearbook"].as_object_mut().unwrap().remove("value_columns");
    let package = open(&descriptor).unwrap();
    assert_eq!(
        (package.layout, package.columns[4].role, package.columns[5].role),
        (TableLayout::Wide, ColumnRole::Value, ColumnRole::Value)
    );
    for (named, expected) in [
        (json!(["group"]), "yearbook.value_columns[0]: column \"group\": a measure is a number"),
        (
            json!(["amount", "code"]),
            "yearbook.value_columns[1]: column \"code\" is part of the primary key",
        ),
        (
            json!(["amont"]),
            "yearbook.value_columns[0]: there is no column \"amont\"; the nearest is \"amount\"",
        ),
        (json!("amount"), "yearbook.value_columns: must be an array"),
    ] {
        let found = problem(&with_amount(&[("value_columns", named)]));
        assert!(found.starts_with(expected), "{found}");
    }
}

#[test]
fn a_text_column_called_date_is_the_date_axis_contract_7() {
    let package = open(&with("/resources/0/schema/fields/0/type", json!("string"))).unwrap();
    assert_eq!(package.date_column.as_deref(), Some("date"));
    assert_eq!(
        (package.columns[0].column_type, package.columns[0].role),
        (ColumnType::Date, ColumnRole::Date)
    );
    for kind in ["integer", "number", "boolean"] {
        let found = problem(&with("/resources/0/schema/fields/0/type", json!(kind)));
        assert!(found.starts_with("resources[0].schema.fields[0].type: date holds dates YYYY-MM-DD; declare it as date"), "{found}");
    }
    let found = problem(&with("/yearbook/dimensions", json!(["group", "date"])));
    assert!(found.starts_with("yearbook.dimensions[1]: column \"date\" holds dates"), "{found}");
}

#[test]
fn the_date_filter_column_is_named_or_called_date() {
    assert_eq!(open(&with("/yearbook/date_filter_column", Value::Null)).unwrap().date_column, None);
    let mut descriptor =
        with("/resources/0/schema/fields/5", json!({"name": "observed", "type": "date"}));
    descriptor["yearbook"]["date_filter_column"] = json!("observed");
    let package = open(&descriptor).unwrap();
    assert_eq!(package.date_column.as_deref(), Some("observed"));
    assert!(!package.columns[5].nullable, "the date column refuses nulls");
}
