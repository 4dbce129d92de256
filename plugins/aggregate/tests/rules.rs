//! The rules of contract-16-aggregate, with values computed by hand.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;

use proptest::prelude::*;
use yearbook_aggregate::Aggregate;
use yearbook_sdk::testing::Table;
use yearbook_sdk::transform::TransformError;
use yearbook_series::testing::{check, run, table};

fn aggregated(table: &Table, options: &[(&str, &str)]) -> Vec<String> {
    run::<Aggregate>(table, options).unwrap()[1..].to_vec()
}

fn sales() -> Table {
    table(
        "date:date region:dimension kind:dimension people:value:integer price:value",
        &[
            "2020-01-01 south food 1 0.1",
            "2020-01-01 - food 2 0.2",
            "2020-01-01 north toys 3 0.3",
            "2021-01-01 south toys - -",
            "2021-01-01 north food 5 0.7",
            "2021-01-01 north food 6 -",
            "2021-01-01 west food - -",
        ],
    )
}

#[test]
fn conforms() {
    check::<Aggregate>(&[("by", "a_place")]);
}

#[test]
fn each_combination_has_a_row_in_ascending_order_null_last_contract_16() {
    let answer = run::<Aggregate>(&sales(), &[("by", "region")]).unwrap();
    assert_eq!(answer, ["region people price", "north 14 1", "south 1 0.1", "west - -", "- 2 0.2"]);
    let options = [("by", "kind, date"), ("value", "people")];
    let answer = run::<Aggregate>(&sales(), &options).unwrap();
    assert_eq!(
        answer,
        [
            "kind date people",
            "food 2020-01-01 3",
            "food 2021-01-01 11",
            "toys 2020-01-01 3",
            "toys 2021-01-01 -"
        ]
    );
}

#[test]
fn every_summary_leaves_nulls_out_contract_16() {
    for (with, north, south, west) in [
        ("sum", "14 1", "1 0.1", "- -"),
        ("mean", "4.666666666666667 0.5", "1 0.1", "- -"),
        ("first", "3 0.3", "1 0.1", "- -"),
        // The last row has no price, and the last row of the south has nothing.
        ("last", "6 -", "- -", "- -"),
        ("min", "3 0.3", "1 0.1", "- -"),
        ("max", "6 0.7", "1 0.1", "- -"),
        ("count", "3 2", "1 1", "0 0"),
    ] {
        let found = aggregated(&sales(), &[("by", "region"), ("with", with)]);
        let expected = [format!("north {north}"), format!("south {south}"), format!("west {west}")];
        assert_eq!(found[..3], expected, "{with}");
    }
}

#[test]
fn sums_and_means_are_exact_and_rounded_once_contract_16() {
    let tenths = vec!["a 0.1"; 10];
    let columns = "k:dimension value:value";
    assert_eq!(aggregated(&table(columns, &tenths), &[("by", "k")]), ["a 1"]);
    let mean = [("by", "k"), ("with", "mean")];
    assert_eq!(aggregated(&table(columns, &tenths), &mean), ["a 0.1"]);
    let large = ["a 1e308", "a 1e308", "a -1e308", "a 1"];
    assert_eq!(aggregated(&table(columns, &large), &[("by", "k")]), [format!("a {}", 1e308)]);
    // Integers beyond 2^53, one by one no floats.
    let rows = ["a 9007199254740993", "a 9007199254740993", "a -18014398509481985"];
    let integers = table("k:dimension n:value:integer", &rows);
    assert_eq!(aggregated(&integers, &[("by", "k")]), ["a 1"]);
    let odd = ["a NaN", "a 1", "b inf", "b 1", "c inf", "c -inf"];
    assert_eq!(aggregated(&table(columns, &odd), &[("by", "k")]), ["a NaN", "b inf", "c NaN"]);
}

#[test]
fn a_mean_can_have_weights_contract_16() {
    let rows = ["a 0.1 3", "a 0.2 1", "b 5 -", "b - 5", "b 7 2", "c 1 0", "d 1 -1", "d 2 1"];
    let table = table("k:dimension value:value w:attribute:integer", &rows);
    let options = [("by", "k"), ("with", "mean"), ("weight", "w")];
    assert_eq!(aggregated(&table, &options), ["a 0.125", "b 7", "c -", "d -"]);
}

#[test]
fn an_infinite_value_has_one_mean_whatever_the_type_of_the_weights_contract_16() {
    let rows = ["a inf 3", "a 1 1", "b inf -3", "c -inf 9007199254740993", "d inf 0"];
    for columns in ["k:dimension value:value w:value:integer", "k:dimension value:value w:value"] {
        let options = [("by", "k"), ("with", "mean"), ("weight", "w")];
        let found = aggregated(&table(columns, &rows), &options);
        assert_eq!(found, ["a inf", "b inf", "c -inf", "d -"], "{columns}");
    }
}

#[test]
fn columns_of_any_type_are_counted_contract_16() {
    let rows = ["a x", "a -", "b y", "a z"];
    let table = table("k:dimension name:attribute", &rows);
    let options = [("by", "k"), ("with", "count"), ("value", "name")];
    assert_eq!(aggregated(&table, &options), ["a 2", "b 1"]);
}

#[test]
fn what_cannot_be_is_refused_at_its_option_contract_16() {
    for (given, option) in [
        (vec![], "by"),
        (vec![("by", "")], "by"),
        (vec![("by", "place")], "by"),
        (vec![("by", "region,region")], "by"),
        (vec![("by", "region"), ("value", "kind")], "value"),
        (vec![("by", "people"), ("value", "people")], "value"),
        (vec![("by", "people,price")], "value"),
        (vec![("by", "region"), ("weight", "people")], "weight"),
        (vec![("by", "region"), ("with", "mean"), ("weight", "kind")], "weight"),
        (vec![("by", "region"), ("with", "mean"), ("weight", "people,price")], "weight"),
        (vec![("by", "region"), ("with", "mean"), ("weight", ",")], "weight"),
        (
            vec![("by", "region"), ("with", "mean"), ("weight", "people"), ("value", "people")],
            "value",
        ),
    ] {
        match run::<Aggregate>(&sales(), &given) {
            Err(TransformError::InvalidOption { option: found, sentence }) => {
                assert_eq!(found, option, "{given:?}: {sentence}");
            }
            other => panic!("{given:?}: {other:?}"),
        }
    }
    let no_values = table("k:dimension", &["a"]);
    let refused = run::<Aggregate>(&no_values, &[("by", "k")]);
    assert!(matches!(refused, Err(TransformError::UnsupportedSchema(_))));
}

proptest! {
    /// Any rows in any order, cut anywhere.
    #[test]
    fn sums_do_not_depend_on_order_or_batches_contract_16(
        given in prop::collection::vec((0_usize..4, prop::option::of(-1e6_f64..1e6)), 1..60),
        shift in 0_usize..60,
        cut in 1_usize..20,
    ) {
        let line = |(key, value): &(usize, Option<f64>)| {
            let value = value.map_or("-".to_owned(), |value| value.to_string());
            format!("k{key} {value}")
        };
        let mut lines: Vec<String> = given.iter().map(line).collect();
        let whole = aggregated(&table("k:dimension v:value", &lines), &[("by", "k")]);
        // Exact in integers of millionths of millionths would be another way; i128 holds the bits.
        let mut sums: BTreeMap<usize, Option<i128>> = BTreeMap::new();
        for (key, value) in &given {
            let sum = sums.entry(*key).or_default();
            if let Some(value) = value {
                *sum = Some(sum.unwrap_or(0) + millionths(*value));
            }
        }
        for ((key, sum), row) in sums.iter().zip(&whole) {
            let found = row.strip_prefix(&format!("k{key} ")).unwrap();
            prop_assert_eq!(found == "-", sum.is_none());
            if let Some(sum) = sum {
                prop_assert!((millionths(found.parse().unwrap()) - sum).abs() <= 100, "{} {}", found, sum);
            }
        }
        let at = shift % lines.len();
        lines.rotate_left(at);
        let moved = aggregated(&table("k:dimension v:value", &lines).batches_of(cut), &[("by", "k")]);
        prop_assert_eq!(moved, whole);
    }
}

#[expect(clippy::cast_possible_truncation, reason = "below 2^63")]
fn millionths(value: f64) -> i128 {
    (value * 1e6).round() as i128
}
