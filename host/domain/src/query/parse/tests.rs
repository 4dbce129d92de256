//! The table of `docs/spec/errors.md`, as far as one parameter alone is concerned; the values
//! themselves are in the tests of `scalar`.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use serde_json::{Value, json};

use super::*;
use crate::Date;
use crate::query::parse_pairs;

const FORMATS: [&str; 5] = ["json", "csv", "arrow", "parquet", "ndjson"];

fn problems(raw: &str) -> Value {
    serde_json::to_value(parse_data(&parse_pairs(raw), &FORMATS).unwrap_err()).unwrap()
}

fn parsed(raw: &str) -> Selection {
    parse_data(&parse_pairs(raw), &FORMATS).unwrap().0
}

fn output(raw: &str) -> OutputParameters {
    parse_data(&parse_pairs(raw), &FORMATS).unwrap().1
}

#[test]
fn defaults_are_those_of_spec_4_1() {
    let query = parsed("");
    assert_eq!(
        query,
        Selection {
            start: None,
            end: None,
            dimensions: None,
            limit: 100,
            geometry: true,
            cursor: None,
            snapshot: None,
            as_of: None,
            columns: None,
            conditions: Vec::new(),
            sort: None,
            series_rows: None,
            bbox: None,
            apply: None,
            skip: 0,
            row: None,
            row_numbers: false,
        }
    );
    assert_eq!(output(""), OutputParameters::default());
}

#[test]
fn every_problem_is_told_at_once_in_declared_order_contract_2() {
    let found = problems(
        "columns=&envelope=maybe&geometry=2&format=xml&limit=-1&end=x&start=2020-13-01&dimensions=%FF",
    );
    let order: Vec<&Value> =
        found.as_array().unwrap().iter().map(|problem| &problem["loc"][1]).collect();
    assert_eq!(order, ["start", "end", "limit", "format", "geometry", "envelope", "columns"]);
}

#[test]
fn problems_have_pydantics_shape_contract_2() {
    assert_eq!(
        problems("limit=-1"),
        json!([{"loc": ["query", "limit"], "msg": "Input should be greater than or equal to 0", "type": "greater_than_equal",
            "input": "-1", "ctx": {"ge": 0}}])
    );
    assert_eq!(
        problems("limit="),
        json!([{"loc": ["query", "limit"], "msg": "Input should be a valid integer, unable to parse string as an integer",
            "type": "int_parsing", "input": ""}])
    );
    assert_eq!(
        problems("start=2021-01-01&end=2020-01-01"),
        json!([{"loc": ["query", "start"], "msg": "Value error, start must not be after end (2020-01-01)", "type": "value_error",
            "input": "2021-01-01", "ctx": {"error": {}}}])
    );
}

#[test]
fn unknown_formats_get_the_loaded_ones_listed_contract_2() {
    let four = parse_data(&parse_pairs("format=xml"), &FORMATS[..4]).unwrap_err();
    assert_eq!(four[0].msg, "Input should be 'json', 'csv', 'arrow' or 'parquet'");
    assert_eq!(
        four[0].ctx.as_deref(),
        Some(&json!({"expected": "'json', 'csv', 'arrow' or 'parquet'"}))
    );
    assert_eq!(four[0].kind, "literal_error");
    for wrong in ["xml", "JSON", "", "json "] {
        assert_eq!(
            problems(&format!("format={wrong}"))[0]["msg"],
            "Input should be 'json', 'csv', 'arrow', 'parquet' or 'ndjson'",
            "{wrong}"
        );
    }
}

#[test]
fn equal_bounds_are_fine_and_one_bad_bound_hides_no_other() {
    assert_eq!(parsed("start=2020-01-01&end=2020-01-01").end, Date::parse("2020-01-01"));
    assert_eq!(problems("start=2021-01-01&end=x").as_array().unwrap().len(), 1);
}

#[test]
fn empty_values_are_judged_as_given_except_two_contract_2() {
    assert_eq!(parsed("cursor=&dimensions="), parsed(""));
    assert_eq!(parsed("snapshot=").snapshot.as_deref(), Some(""));
    let found = problems("start=&end=&limit=&format=&geometry=&envelope=&columns=");
    assert_eq!(found.as_array().unwrap().len(), 7);
}

#[test]
fn the_last_of_a_repeated_parameter_wins_and_unknown_ones_are_ignored_contract_2() {
    let query = "limit=x&limit=5&_sdc_page=9&csv.delimiter=,&json.indent=2&csv.delimiter=;";
    assert_eq!(parsed(query).limit, 5);
    assert_eq!(
        output(query).options,
        [("csv.delimiter".to_owned(), ";".to_owned()), ("json.indent".to_owned(), "2".to_owned())]
    );
    assert_eq!(problems("limit=5&limit=x").as_array().unwrap().len(), 1);
}

#[test]
fn columns_are_names_each_once() {
    let columns = vec!["b".to_owned(), "a".to_owned()];
    assert_eq!(parsed("columns=b,%20a").columns, Some(Sent::new("b, a", columns)));
    for wrong in ["", ",", "a,", "a,,b", "+"] {
        let msg = "Value error, columns must be names separated by commas, none of them empty; leave it out to get every column";
        assert_eq!(problems(&format!("columns={wrong}"))[0]["msg"], msg, "{wrong}");
    }
    assert_eq!(problems("columns=a,b,a")[0]["msg"], "Value error, column 'a' is named twice");
}

#[test]
fn a_list_of_more_names_than_any_table_has_is_refused_before_it_is_read_contract_3() {
    let listed =
        |names: usize| (0..names).map(|index| format!("c{index}")).collect::<Vec<_>>().join(",");
    assert_eq!(
        parsed(&format!("columns={}", listed(MAX_LISTED_NAMES)))
            .columns
            .map(|sent| sent.value.len()),
        Some(MAX_LISTED_NAMES)
    );
    let one_more = problems(&format!("columns={}", listed(MAX_LISTED_NAMES + 1)));
    assert_eq!(
        one_more[0]["msg"],
        "Value error, columns lists 4097 names and may list 4096; ask in several requests"
    );
    assert_eq!(
        problems(&format!("columns={},c7", listed(100)))[0]["msg"],
        "Value error, column 'c7' is named twice"
    );
}

#[test]
fn many_options_keep_their_order_and_their_last_values_contract_2() {
    let raw: String = (0..2_000).map(|index| format!("x.{}={index}&", index % 1_000)).collect();
    let options = output(&raw).options;
    let expected: Vec<_> =
        (0..1_000).map(|index| (format!("x.{index}"), (index + 1_000).to_string())).collect();
    assert_eq!(options, expected);
}

proptest::proptest! {
    #[test]
    fn no_query_string_makes_the_parser_panic(raw in ".{0,80}") {
        let _ = parse_data(&parse_pairs(&raw), &FORMATS);
        let _ = parse_data(&parse_pairs(&format!("start={raw}&limit={raw}&columns={raw}&end={raw}")), &FORMATS);
    }
}
