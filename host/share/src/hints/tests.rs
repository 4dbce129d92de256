//! Hints against statistics: what is proved empty, and what must never be.

use serde_json::{Value, json};

use super::*;

fn statistics() -> FileStatistics {
    let column =
        |name: &str, nulls, min, max| ColumnStatistics { name: name.to_owned(), nulls, min, max };
    let text = |text: &str| Some(StatisticValue::Text(text.to_owned()));
    FileStatistics {
        rows: 10,
        columns: vec![
            column("date", Some(0), text("2020-01-01"), text("2024-12-31")),
            column(
                "code",
                Some(2),
                Some(StatisticValue::Integer(5)),
                Some(StatisticValue::Integer(9)),
            ),
            // NaN may be among the values.
            column("value", Some(0), Some(StatisticValue::Number(-1.5)), None),
            column(
                "open",
                Some(0),
                Some(StatisticValue::Boolean(true)),
                Some(StatisticValue::Boolean(true)),
            ),
            column("empty", Some(10), None, None),
            column("unknown", None, None, None),
        ],
    }
}

fn sql(hint: &str) -> bool {
    may_match(&statistics(), &[hint.to_owned()], None)
}

fn tree(hint: &Value) -> bool {
    may_match(&statistics(), &[], Some(&hint.to_string()))
}

fn leaf(op: &str, name: &str, value: &str, value_type: &str) -> Value {
    json!({"op": op, "children": [
        {"op": "column", "name": name, "valueType": value_type},
        {"op": "literal", "value": value, "valueType": value_type},
    ]})
}

#[test]
fn a_file_is_left_out_where_no_row_can_match_contract_12() {
    for hint in [
        "date < '2020-01-01'",
        "date > '2024-12-31'",
        "`date` = '2019-05-05'",
        "'2025-01-01' <= date",
        "code = 4",
        "code >= 10",
        "10 < code",
        "value < -2",
        "value <= -1.75",
        "date IS NULL",
        "empty is not null",
    ] {
        assert!(!sql(hint), "{hint}");
    }
    for hint in [
        leaf("equal", "date", "2019-05-05", "string"),
        leaf("lessThan", "code", "5", "int"),
        leaf("greaterThan", "code", "9", "long"),
        leaf("equal", "open", "false", "bool"),
        json!({"op": "not", "children": [leaf("equal", "open", "true", "bool")]}),
        json!({"op": "and", "children": [leaf("equal", "code", "6", "int"), leaf("equal", "code", "4", "int")]}),
        json!({"op": "or", "children": [leaf("equal", "code", "3", "int"), leaf("equal", "code", "4", "int")]}),
        json!({"op": "isNull", "children": [{"op": "column", "name": "date", "valueType": "date"}]}),
        json!({"op": "not", "children": [{"op": "isNull", "children": [{"op": "column", "name": "empty"}]}]}),
    ] {
        assert!(!tree(&hint), "{hint}");
    }
}

#[test]
fn a_file_that_may_match_is_never_left_out_contract_12() {
    for hint in [
        "date >= '2020-01-01'",
        "date <= '2020-01-01'",
        "date = '2024-12-31'",
        "code = 5",
        "code <> 5",
        "code IS NULL",
        "code is not null",
        "value > 100",
        "value = 7",
        "unknown = 'x'",
        "unknown IS NULL",
        "elsewhere = 1",
        // Casts, functions and what is no comparison.
        "date < 5",
        "code = '4'",
        "code = 4.5",
        "upper(date) = 'X'",
        "code = 4 OR code = 5",
        "code IN (1, 2)",
        "date = 'it''s'",
        "code",
        "",
        "= 4",
        "true = false",
    ] {
        assert!(sql(hint), "{hint}");
    }
    for hint in [
        leaf("equal", "code", "5", "int"),
        leaf("greaterThan", "value", "1e300", "double"),
        leaf("lessThan", "value", "-2", "float"),
        leaf("equal", "date", "2019-05-05", "date"),
        leaf("equal", "code", "4", "string"),
        leaf("notEqual", "code", "5", "int"),
        json!({"op": "not", "children": [leaf("equal", "code", "4", "int")]}),
        json!({"op": "not", "children": [leaf("like", "code", "4", "int")]}),
        json!({"op": "or", "children": [leaf("equal", "code", "4", "int"), leaf("like", "code", "4", "int")]}),
        json!({"op": "and", "children": [leaf("equal", "code", "4", "int")]}),
        json!({"op": "equal"}),
        json!([]),
        json!("x"),
    ] {
        assert!(tree(&hint), "{hint}");
    }
    assert!(may_match(&statistics(), &[], Some("{")));
    let mut deep = leaf("equal", "code", "4", "int");
    for _ in 0..60 {
        deep = json!({"op": "not", "children": [deep]});
    }
    assert!(tree(&deep), "nothing is known below the bound");
}
