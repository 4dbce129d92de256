//! The rules for JSON of spec-2.3-envelope and contract-3-json.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use serde_json::{Value as Parsed, json};
use yearbook_json::JsonEncoder;
use yearbook_sdk::testing::{Table, conformance, encode};
use yearbook_sdk::{Error, Value};

fn text(table: &Table) -> String {
    String::from_utf8(encode::<JsonEncoder>(table, &[]).unwrap()).unwrap()
}

#[test]
fn conforms() {
    conformance::check::<JsonEncoder>(|bytes| {
        serde_json::from_slice::<Vec<Parsed>>(bytes).unwrap().len()
    });
}

#[test]
fn every_column_is_present_and_null_where_null_contract_3() {
    let table = Table::new()
        .text("region", &[Some("north"), None])
        .dictionary("kind", &[None, Some("a\"b")])
        .integers("year", &[None, Some(-7)])
        .numbers("value", &[Some(1.0), None])
        .booleans("final", &[Some(false), None]);
    assert_eq!(
        text(&table),
        r#"[{"region":"north","kind":null,"year":null,"value":1.0,"final":false},{"region":null,"kind":"a\"b","year":-7,"value":null,"final":null}]"#
    );
}

#[test]
fn an_empty_result_is_an_empty_array_contract_3() {
    assert_eq!(text(&Table::new().text("a", &[None::<&str>; 0])), "[]");
}

#[test]
fn numbers_that_are_not_finite_are_null_contract_3() {
    let table = Table::new()
        .numbers("a", &[Some(f64::NAN), Some(f64::INFINITY), Some(f64::NEG_INFINITY), Some(-0.0)]);
    assert_eq!(text(&table), r#"[{"a":null},{"a":null},{"a":null},{"a":-0.0}]"#);
}

#[test]
fn integers_beyond_2_to_the_53_keep_every_digit() {
    let table = Table::new().integers("a", &[Some(9_007_199_254_740_993), Some(i64::MIN)]);
    assert_eq!(text(&table), r#"[{"a":9007199254740993},{"a":-9223372036854775808}]"#);
}

#[test]
fn floats_read_back_as_themselves() {
    let numbers = [
        0.1,
        1.0 / 3.0,
        1e300,
        5e-324,
        123_456_789.125,
        1e15,
        1e16,
        1e-5,
        1e-6,
        0.07,
        2.675,
        4_194_303.999,
    ];
    let rows: Vec<Parsed> =
        serde_json::from_str(&text(&Table::new().numbers("a", &numbers.map(Some)))).unwrap();
    for (row, number) in rows.iter().zip(numbers) {
        assert_eq!(row["a"].as_f64().unwrap().to_bits(), number.to_bits());
    }
}

#[test]
fn text_is_escaped_no_more_than_rfc_8259_asks() {
    let table =
        Table::new().text("a", &[Some("\u{0}\u{8}\t\n\u{c}\r\u{1f}\"\\/é🦉\u{7f}\u{2028}")]);
    assert_eq!(
        text(&table),
        "[{\"a\":\"\\u0000\\b\\t\\n\\f\\r\\u001f\\\"\\\\/é🦉\u{7f}\u{2028}\"}]"
    );
}

#[test]
fn text_of_any_length_and_place_is_escaped() {
    let values: Vec<String> = (0..200)
        .flat_map(|length| [("x".repeat(length), ""), ("y".repeat(length), "\"z")])
        .map(|(a, b)| a + b)
        .collect();
    let cells: Vec<_> = values.iter().map(Some).collect();
    let rows: Vec<Parsed> =
        serde_json::from_str(&text(&Table::new().text("a", &cells).batches_of(37))).unwrap();
    let read: Vec<_> = rows.iter().map(|row| row["a"].as_str().unwrap()).collect();
    assert_eq!(read, values);
}

#[test]
fn the_envelope_says_where_the_data_comes_from_spec_2_3() {
    let table = Table::new()
        .integers("a", &[Some(1)])
        .metadata("yearbook.dataset", "prices")
        .metadata("yearbook.source", "The \"Office\"")
        .metadata("yearbook.licence", "CC-BY-4.0")
        .metadata("yearbook.attribution", "Credit")
        .metadata("yearbook.namespace", "nz")
        .metadata("yearbook.snapshot_id", "s1")
        .metadata("yearbook.licence_title", "Attribution \"4.0\"")
        .metadata("yearbook.licence_url", "https://licence.example/by")
        .metadata("yearbook.sources", r#"[{"title":"The \"Office\"","path":null},{"title":null,"path":"https://b.example/"}]"#);
    let bytes = encode::<JsonEncoder>(&table, &[("envelope", Value::Boolean(true))]).unwrap();
    assert_eq!(
        serde_json::from_slice::<Parsed>(&bytes).unwrap(),
        json!({
            "data_sources": [{
                "dataset": "prices", "namespace": "nz", "source": "The \"Office\"", "source_url": null,
                "licence": "CC-BY-4.0", "licence_title": "Attribution \"4.0\"", "licence_url": "https://licence.example/by",
                "attribution": "Credit", "snapshot_id": "s1",
                "sources": [{"title": "The \"Office\"", "path": null}, {"title": null, "path": "https://b.example/"}],
            }],
            "data": [{"a": 1}],
        })
    );
}

#[test]
fn the_envelope_of_a_snapshot_without_licence_title_and_sources_has_null_and_no_entries_contract_7()
{
    let table = Table::new().integers("a", &[Some(1)]).metadata("yearbook.dataset", "prices");
    let bytes = encode::<JsonEncoder>(&table, &[("envelope", Value::Boolean(true))]).unwrap();
    let source = &serde_json::from_slice::<Parsed>(&bytes).unwrap()["data_sources"][0];
    assert_eq!(
        (&source["licence_title"], &source["licence_url"], &source["sources"]),
        (&Parsed::Null, &Parsed::Null, &json!([]))
    );
}

#[test]
fn other_types_are_written_as_their_neighbours_in_json() {
    let bytes = |number: &[u8]| vec![Some(number.to_vec())];
    let table = Table::new()
        .fixed("day", "tdD", 4, bytes(&19_000_i32.to_le_bytes()))
        .fixed("at", "tsm:UTC", 8, bytes(&1_500_i64.to_le_bytes()))
        .fixed("price", "d:9,2,32", 4, bytes(&(-105_i32).to_le_bytes()))
        .variable("blob", "z", bytes(&[0, 255]))
        .lists("list", &[Some(vec![1, 2])])
        .structs("inner", Table::new().text("t", &[Some("x")]), &[true])
        .fixed("half", "f", 4, bytes(&0.1_f32.to_le_bytes()));
    assert_eq!(
        text(&table),
        r#"[{"day":"2022-01-08","at":"1970-01-01T00:00:01.500Z","price":-1.05,"blob":"00ff","list":[1,2],"inner":{"t":"x"},"half":0.1}]"#
    );
}

#[test]
fn a_type_without_a_likeness_is_declined_by_name() {
    let table = Table::new().fixed("span", "tDs", 8, vec![Some(vec![0; 8])]);
    let Err(Error::UnsupportedSchema(sentence)) = encode::<JsonEncoder>(&table, &[]) else {
        panic!("not declined")
    };
    assert!(sentence.contains("`span`"), "{sentence}");
}
