//! Rules of the format: JSON-stat 2.0 (<https://json-stat.org/full/>), read back by `serde_json` and
//! by our own reader.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use serde_json::{Value, json};
use yearbook_json_stat::JsonStatEncoder;
use yearbook_read_json_stat::JsonStatReader;
use yearbook_sdk::Error;
use yearbook_sdk::testing::{Table, conformance, encode, encode_apart, encode_parts, reading};

/// Prices of two regions on two days, one of which has no row.
fn prices() -> Table {
    Table::new()
        .text("date", &["2024-01-01", "2024-01-01", "2024-04-01"].map(Some))
        .about("date", "yearbook.type", "date")
        .dictionary("region", &["north", "south", "north"].map(Some))
        .about("region", "yearbook.role", "dimension")
        .text("note", &[Some("a"), None, Some("b")])
        .about("note", "yearbook.role", "attribute")
        .numbers("price", &[Some(1.5), None, Some(f64::NAN)])
        .about("price", "yearbook.role", "value")
        .about("price", "yearbook.unit", "NZD/kg")
        .integers("sales", &[Some(9_007_199_254_740_993), Some(2), None])
        .about("sales", "yearbook.role", "value")
        .metadata("yearbook.dataset", "prices")
        .metadata("yearbook.attribution", "Source: \"A\".")
        .metadata("yearbook.primary_key", r#"["date","region"]"#)
}

fn read(table: &Table) -> Value {
    serde_json::from_slice(&encode::<JsonStatEncoder>(table, &[]).unwrap()).unwrap()
}

fn refusal(table: &Table) -> String {
    match encode::<JsonStatEncoder>(table, &[]).unwrap_err() {
        Error::UnsupportedSchema(sentence) => sentence,
        other => panic!("{other:?}"),
    }
}

#[test]
fn it_holds_what_every_format_must() {
    conformance::check::<JsonStatEncoder>(|body| {
        let cube: Value = serde_json::from_slice(body).unwrap();
        cube["value"].as_object().unwrap().len()
    });
}

#[test]
fn the_key_is_dimensions_and_columns_of_values_are_metrics_json_stat_2() {
    assert_eq!(
        read(&prices()),
        json!({
            "version": "2.0", "class": "dataset", "label": "prices", "source": "Source: \"A\".",
            "id": ["date", "region", "metric"], "size": [2, 2, 2],
            "role": {"time": ["date"], "metric": ["metric"]},
            "dimension": {
                "date": {"category": {"index": ["2024-01-01", "2024-04-01"]}},
                "region": {"category": {"index": ["north", "south"]}},
                "metric": {"category": {
                    "index": ["price", "sales"], "unit": {"price": {"label": "NZD/kg"}},
                }},
            },
            "extension": {"dataset": "prices", "attribution": "Source: \"A\"."},
            "value": {
                "0": 1.5, "1": 9_007_199_254_740_993_i64, "2": null, "3": 2, "4": null, "5": null,
            },
        })
    );
}

#[test]
fn notes_are_notes_json_stat_2() {
    let cube = read(&prices().metadata("yearbook.notes", "Revised.\nWithout \"islands\"."));
    assert_eq!(cube["note"], json!(["Revised.", "Without \"islands\"."]));
}

#[test]
fn categories_are_those_that_the_selection_can_have_contract_19() {
    let table = prices().known("region", &["east", "north", "south"]);
    let cube = read(&table);
    assert_eq!(cube["size"], json!([2, 3, 2]));
    assert_eq!(cube["dimension"]["region"]["category"]["index"], json!(["east", "north", "south"]));
    // North is the second of three on the second day.
    assert_eq!(cube["value"].as_object().unwrap().keys().max().unwrap(), "9");
}

#[test]
fn a_name_that_is_taken_is_not_that_of_the_metrics_json_stat_2() {
    let table = prices().text("metric", &["a", "b", "c"].map(Some));
    assert_eq!(read(&table)["id"], json!(["date", "region", "metric_"]));
}

#[test]
fn integers_and_booleans_of_the_key_are_categories_as_text_json_stat_2() {
    let table = Table::new()
        .integers("age", &[Some(10), Some(9), Some(10)])
        .booleans("final", &[true, true, false].map(Some))
        .numbers("value", &[Some(1.0), Some(2.0), Some(3.0)])
        .about("value", "yearbook.role", "value")
        .metadata("yearbook.primary_key", r#"["age","final"]"#);
    let cube = read(&table);
    assert_eq!(cube["dimension"]["age"]["category"]["index"], json!(["9", "10"]));
    assert_eq!(cube["value"], json!({"3": 1.0, "1": 2.0, "2": 3.0}));
}

#[test]
fn parts_do_not_depend_on_each_other() {
    let table = prices().batches_of(1);
    let one = encode_parts::<JsonStatEncoder>(&table, &[]).unwrap();
    assert_eq!(encode_apart::<JsonStatEncoder>(&table, &[]).unwrap(), one);
    assert_eq!(one.response(Some(b",")), encode::<JsonStatEncoder>(&prices(), &[]).unwrap());
}

#[test]
fn what_is_no_cube_is_declined_with_what_to_do_contract_9() {
    let keyless = Table::new().numbers("value", &[Some(1.0)]);
    assert!(refusal(&keyless).contains("no primary key"));
    let cut = keyless.metadata("yearbook.primary_key", r#"["date"]"#);
    assert!(refusal(&cut).contains("name `date` in `columns` too"));
    let bare = Table::new().text("date", &[Some("2024-01-01")]);
    let bare = bare.metadata("yearbook.primary_key", r#"["date"]"#);
    assert!(refusal(&bare).contains("no column of values"));
    let rows: Vec<_> = (0..10_001).map(Some).collect();
    let numbers = vec![Some(0.5); 10_001];
    let long = |key: &str| {
        let table = Table::new().integers("a", &rows).integers("b", &rows);
        let table = table.numbers("value", &numbers).about("value", "yearbook.role", "value");
        table.metadata("yearbook.primary_key", key)
    };
    assert!(refusal(&long(r#"["a"]"#)).contains("the values of `a`"));
    let known: Vec<_> = (0..10_001).map(|number| number.to_string()).collect();
    let large = long(r#"["a","b"]"#).known("a", &known).known("b", &known);
    assert!(refusal(&large).contains("100020001 cells"));
}

#[test]
fn our_own_reader_has_every_value_back_contract_7() {
    let made = encode::<JsonStatEncoder>(&prices(), &[]).unwrap();
    let table = reading::read::<JsonStatReader>(&made, &[], &[]).unwrap();
    assert_eq!(table.column("date"), ["2024-01-01"; 3].map(Some));
    assert_eq!(table.column("region"), ["north", "north", "south"].map(Some));
    assert_eq!(table.column("metric"), ["price", "sales", "sales"].map(Some));
    assert_eq!(table.column("value"), ["1.5", "9007199254740992", "2"].map(Some));
}
