//! Rules of the format: JSON-stat 2.0 (<https://json-stat.org/full/>), read back by `serde_json` and
//! by our own reader.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use serde_json::{Value, json};
use yearbook_json_stat::JsonStatEncoder;
use yearbook_read_json_stat::JsonStatReader;
use yearbook_sdk::testing::{
    Table, batches_for, chosen, conformance, encode, encode_apart, encode_parts, reading,
};
use yearbook_sdk::{Code, Encoder as _, Error};

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

/// The same with two lists of statuses of the prices, and one of the sales.
fn judged() -> Table {
    let status = |table: Table, name: &str, list: &str, of: &str| {
        let table = table.about(name, "yearbook.role", "status");
        table.about(name, "yearbook.of", of).about(name, "yearbook.status", list)
    };
    let table = prices()
        .dictionary("secret", &[Some("F"), None, None])
        .dictionary("price_status", &[Some("P"), Some("M"), None])
        .text("sales_status", &[None, Some("\"late\""), Some("M")]);
    let table = status(table, "secret", "sdmx-conf", r#"["price"]"#);
    let table = status(table, "price_status", "sdmx-obs", r#"["price"]"#);
    status(table, "sales_status", "own", r#"["sales","stock"]"#)
}

#[test]
fn cells_have_the_statuses_that_speak_of_them_contract_21() {
    let cube = read(&judged());
    let statuses = json!({"0": "P", "2": "M", "3": "\"late\"", "5": "M"});
    assert_eq!(cube["status"], statuses);
    assert_eq!(cube["value"], read(&prices())["value"]);
    // Parts are made apart, and their notes come to another instance.
    for rows in 1..4 {
        let table = judged().batches_of(rows);
        let apart = encode_apart::<JsonStatEncoder>(&table, &[]).unwrap().response(Some(b","));
        let cube: Value = serde_json::from_slice(&apart).unwrap();
        assert_eq!(cube["status"], statuses, "{rows}");
    }
    // A column without a status makes the member all the same; none makes none.
    let none = Table::new()
        .integers("age", &[Some(9)])
        .numbers("value", &[Some(1.0)])
        .about("value", "yearbook.role", "value")
        .text("status", &[None::<&str>])
        .about("status", "yearbook.role", "status")
        .metadata("yearbook.primary_key", r#"["age"]"#);
    assert_eq!(read(&none).get("status"), None);
    assert_eq!(read(&none.about("status", "yearbook.of", r#"["value"]"#))["status"], json!({}));
}

#[test]
fn our_own_reader_has_every_status_back_contract_21() {
    let made = encode::<JsonStatEncoder>(&judged(), &[]).unwrap();
    // Cells without a value may have one too, and are kept where that is asked for.
    let keep = [("missing", yearbook_sdk::Value::Text("keep".to_owned()))];
    let table = reading::read::<JsonStatReader>(&made, &[], &keep).unwrap();
    let cell = |date, region, metric, value, status| (date, region, metric, value, status);
    let names = ["date", "region", "metric", "value", "status"];
    let columns = names.map(|name| table.column(name));
    let cells: Vec<_> = (0..columns[0].len())
        .map(|row| {
            let [date, region, metric, value, status] = [0, 1, 2, 3, 4].map(|at| columns[at][row]);
            cell(date.unwrap(), region.unwrap(), metric.unwrap(), value, status)
        })
        .collect();
    assert_eq!(
        cells,
        [
            cell("2024-01-01", "north", "price", Some("1.5"), Some("P")),
            cell("2024-01-01", "north", "sales", Some("9007199254740992"), None),
            cell("2024-01-01", "south", "price", None, Some("M")),
            cell("2024-01-01", "south", "sales", Some("2"), Some("\"late\"")),
            cell("2024-04-01", "north", "price", None, None),
            cell("2024-04-01", "north", "sales", None, Some("M")),
            cell("2024-04-01", "south", "price", None, None),
            cell("2024-04-01", "south", "sales", None, None),
        ]
    );
}

#[test]
fn codes_of_statuses_have_their_labels_contract_21() {
    let batch = batches_for::<JsonStatEncoder>(&judged()).unwrap().remove(0);
    let mut schema = batch.schema().clone();
    let at = schema.fields.iter().position(|field| field.name == "price_status").unwrap();
    let label = |value: &str, label: Option<&str>| Code {
        value: value.to_owned(),
        label: label.map(str::to_owned),
    };
    schema.fields[at].codes = Some([label("M", None), label("P", Some("Provisional"))].into());
    let mut encoder = JsonStatEncoder::open(schema, &chosen::<JsonStatEncoder>(&[])).unwrap();
    let mut head = Vec::new();
    encoder.head(&mut head).unwrap();
    head.extend_from_slice(b"}}");
    let cube: Value = serde_json::from_slice(&head).unwrap();
    assert_eq!(cube["extension"]["status"], json!({"label": {"P": "Provisional"}}));
    assert_eq!(cube["extension"]["dataset"], "prices");
}

#[test]
fn statuses_that_could_be_too_many_are_declined_before_the_first_row_contract_21() {
    let known: Vec<_> = (0..10_000).map(|number| number.to_string()).collect();
    let table = |days: usize| {
        let days: Vec<_> = known.iter().take(days).collect();
        let table = Table::new().integers("n", &[Some(3)]).known("n", &known);
        let table = table.integers("day", &[Some(0)]).known("day", &days);
        let table = table.numbers("value", &[Some(1.0)]).about("value", "yearbook.role", "value");
        table.metadata("yearbook.primary_key", r#"["n","day"]"#)
    };
    let with = |days| {
        let table = table(days).text("judged", &[Some("A")]);
        table.about("judged", "yearbook.role", "status").about(
            "judged",
            "yearbook.of",
            r#"["value"]"#,
        )
    };
    assert_eq!(read(&with(89))["status"].as_object().unwrap().len(), 1);
    let said = refusal(&with(100));
    assert!(said.contains("1000000 cells") && said.contains("leave `judged` out"), "{said}");
    read(&table(100));
    // Long codes are fewer.
    let long = with(9).known("judged", &["x".repeat(200)]);
    assert!(refusal(&long).contains("90000 cells"));
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
