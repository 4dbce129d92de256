//! The rules of contract-16-resample, with values computed by hand.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;

use proptest::prelude::*;
use yearbook_resample::Resample;
use yearbook_sdk::testing::Table;
use yearbook_sdk::transform::TransformError;
use yearbook_series::testing::{check, run, table};

fn resampled(table: &Table, options: &[(&str, &str)]) -> Vec<String> {
    run::<Resample>(table, options).unwrap()[1..].to_vec()
}

const MONTHS: &str = "date:date period:period region:dimension value:value";

/// A whole quarter of two regions, and two months of the next one.
fn two_regions() -> Table {
    table(
        MONTHS,
        &[
            "2020-01-01 2020-01 south 1",
            "2020-01-01 2020-01 north 0.1",
            "2020-02-01 2020-02 south 2",
            "2020-02-01 2020-02 north 0.2",
            "2020-03-01 2020-03 south -",
            "2020-03-01 2020-03 north 0.3",
            "2020-04-01 2020-04 south 7",
            "2020-05-01 2020-05 south 9",
        ],
    )
}

#[test]
fn conforms() {
    check::<Resample>(&[("to", "year")]);
}

#[test]
fn a_row_is_of_one_series_and_period_by_date_and_series_contract_16() {
    let answer = run::<Resample>(&two_regions(), &[("to", "quarter")]).unwrap();
    assert_eq!(
        answer,
        [
            "date period region value",
            // 0.1 + 0.2 + 0.3 is 0.6 exactly rounded, and 0.6000000000000001 added up.
            "2020-01-01 2020-Q1 north 0.2",
            "2020-01-01 2020-Q1 south -",
            "2020-04-01 2020-Q2 south -",
        ]
    );
}

#[test]
fn a_period_that_lacks_a_part_is_null_unless_it_is_partial_contract_16() {
    for (with, north, south, next) in [
        ("sum", "0.6", "3", "16"),
        ("mean", "0.2", "1.5", "8"),
        ("first", "0.1", "1", "7"),
        ("last", "0.3", "-", "9"),
        ("min", "0.1", "1", "7"),
        ("max", "0.3", "2", "9"),
        ("count", "3", "2", "2"),
    ] {
        let options = [("to", "quarter"), ("with", with)];
        let row = |row: &str, value: &str| format!("{row} {value}");
        let expected = [
            row("2020-01-01 2020-Q1 north", north),
            row("2020-01-01 2020-Q1 south", "-"),
            row("2020-04-01 2020-Q2 south", "-"),
        ];
        assert_eq!(resampled(&two_regions(), &options), expected, "{with}");
        let options = [options[0], options[1], ("partial", "true")];
        let expected = [
            row("2020-01-01 2020-Q1 north", north),
            row("2020-01-01 2020-Q1 south", south),
            row("2020-04-01 2020-Q2 south", next),
        ];
        assert_eq!(resampled(&two_regions(), &options), expected, "{with}");
    }
}

#[test]
fn integers_stay_integers_unless_they_are_summed_contract_16() {
    let large = 9_007_199_254_740_993_i64;
    let rows = [
        format!("2020-01-01 2020-Q1 {large}"),
        format!("2020-04-01 2020-Q2 {large}"),
        "2020-07-01 2020-Q3 -5".to_owned(),
        "2020-10-01 2020-Q4 5".to_owned(),
    ];
    let table = table("date:date period:period people:value:integer", &rows);
    for (with, value) in [
        ("max", "9007199254740993"),
        ("min", "-5"),
        ("first", "9007199254740993"),
        ("last", "5"),
        ("count", "4"),
        // Of floats there are 18014398509481984 and 18014398509481988.
        ("sum", "18014398509481984"),
        ("mean", "4503599627370496"),
    ] {
        let found = resampled(&table, &[("to", "year"), ("with", with)]);
        assert_eq!(found, [format!("2020-01-01 2020 {value}")], "{with}");
    }
}

/// Days from the first of January of 2023 on, the value of each its number from 1.
fn days(count: usize, left_out: usize) -> Table {
    let mut rows = Vec::new();
    for (month, days) in [31, 28, 31, 30].into_iter().enumerate() {
        rows.extend((1..=days).map(|day| format!("2023-{:02}-{day:02}", month + 1)));
    }
    let rows: Vec<String> = rows
        .into_iter()
        .zip(1..=count)
        .filter(|(_, n)| *n != left_out)
        .map(|(date, n)| format!("{date} {n}"))
        .collect();
    table("date:date value:value", &rows).metadata("yearbook.axis", "day")
}

#[test]
fn days_make_months_with_a_period_code_contract_16() {
    let options = [("to", "month"), ("with", "max")];
    let answer = run::<Resample>(&days(60, 0), &options).unwrap();
    assert_eq!(
        answer,
        [
            "date period value",
            "2023-01-01 2023-01 31",
            "2023-02-01 2023-02 59",
            "2023-03-01 2023-03 -"
        ]
    );
    assert_eq!(resampled(&days(59, 33), &options)[1], "2023-02-01 2023-02 -");
    assert_eq!(resampled(&days(90, 0), &[("to", "quarter")]), ["2023-01-01 2023-Q1 45.5"]);
}

#[test]
fn a_leap_day_is_a_part_of_its_month_contract_16() {
    let rows = |year: i32, days: i32| {
        let row = |day| format!("{year}-02-{day:02} 1");
        let rows: Vec<String> = (1..=days).map(row).collect();
        table("date:date value:value", &rows).metadata("yearbook.axis", "day")
    };
    let options = [("to", "month"), ("with", "sum")];
    assert_eq!(resampled(&rows(2024, 28), &options), ["2024-02-01 2024-02 -"]);
    assert_eq!(resampled(&rows(2024, 29), &options), ["2024-02-01 2024-02 29"]);
    assert_eq!(resampled(&rows(2023, 28), &options), ["2023-02-01 2023-02 28"]);
}

#[test]
fn weeks_months_quarters_and_halves_are_parts_too_contract_16() {
    let weeks = table(
        "date:date value:value",
        &[
            "2024-01-25 1",
            "2024-02-01 1",
            "2024-02-08 1",
            "2024-02-15 1",
            "2024-02-22 1",
            "2024-02-29 1",
        ],
    )
    .metadata("yearbook.axis", "week");
    let options = [("to", "month"), ("with", "sum")];
    assert_eq!(resampled(&weeks, &options), ["2024-01-01 2024-01 -", "2024-02-01 2024-02 5"]);
    // The last days of months.
    let ends = table(
        "date:date value:value",
        &["2023-10-31 1", "2023-11-30 2", "2023-12-31 3", "2024-01-31 4"],
    );
    let months = ends.clone().metadata("yearbook.axis", "month");
    assert_eq!(
        resampled(&months, &[("to", "quarter"), ("with", "sum")]),
        ["2023-10-01 2023-Q4 6", "2024-01-01 2024-Q1 -"]
    );
    let halves = table("date:date value:value", &["2023-06-30 1", "2023-12-31 2", "2024-06-30 3"])
        .metadata("yearbook.axis", "half");
    let options = [("to", "year"), ("with", "sum")];
    assert_eq!(resampled(&halves, &options), ["2023-01-01 2023 3", "2024-01-01 2024 -"]);
    // Without a distance nothing is known to be whole.
    let refused = run::<Resample>(&ends, &options).unwrap_err();
    assert!(matches!(refused, TransformError::InvalidOption { option: "partial", .. }));
    let options = [("to", "year"), ("with", "sum"), ("partial", "true")];
    assert_eq!(resampled(&ends, &options), ["2023-01-01 2023 6", "2024-01-01 2024 4"]);
}

#[test]
fn of_several_rows_of_one_series_and_time_the_last_one_counts_contract_16() {
    let rows = [
        "2020-01-01 2020-Q1 n 5",
        "2020-01-01 2020-Q1 n 1",
        "2020-04-01 2020-Q2 n 1",
        "2020-07-01 2020-Q3 n 1",
        "2020-10-01 2020-Q4 n -",
        "2020-10-01 2020-Q4 n 1",
    ];
    let options = [("to", "year"), ("with", "sum")];
    assert_eq!(resampled(&table(MONTHS, &rows), &options), ["2020-01-01 2020 n 4"]);
    let swapped = [rows[0], rows[1], rows[2], rows[3], rows[5], rows[4]];
    assert_eq!(resampled(&table(MONTHS, &swapped), &options), ["2020-01-01 2020 n -"]);
}

#[test]
fn codes_of_each_form_make_rows_of_their_own_contract_16() {
    let rows = [
        "2020-01-01 2020-Q1 n 10",
        "2020-01-01 2020-01 n 1",
        "2020-02-01 2020-02 n 2",
        "2020-03-01 2020-03 n 3",
        "2020-04-01 2020-Q2 n 20",
    ];
    assert_eq!(
        resampled(&table(MONTHS, &rows), &[("to", "quarter"), ("with", "sum")]),
        ["2020-01-01 2020-Q1 n 6", "2020-01-01 2020-Q1 n 10", "2020-04-01 2020-Q2 n 20"]
    );
    for (code, to) in [("2020", "quarter"), ("2020-Q1", "month"), ("2020/21", "year")] {
        let row = format!("2020-01-01 {code} n 1");
        let refused = run::<Resample>(&table(MONTHS, &[row]), &[("to", to)]).unwrap_err();
        assert!(
            matches!(&refused, TransformError::UnsupportedRows(text) if text.contains(code) && text.contains("condition")),
            "{refused}"
        );
    }
}

#[test]
fn nan_stays_nan_and_the_order_of_values_changes_no_sum_contract_16() {
    let rows =
        ["2020-01-01 2020-01 n 1e16", "2020-02-01 2020-02 n 1", "2020-03-01 2020-03 n -1e16"];
    let options = [("to", "quarter"), ("with", "sum")];
    assert_eq!(resampled(&table(MONTHS, &rows), &options), ["2020-01-01 2020-Q1 n 1"]);
    let rows = ["2020-01-01 2020-01 n 1", "2020-02-01 2020-02 n NaN", "2020-03-01 2020-03 n 3"];
    for (with, value) in [
        ("sum", "NaN"),
        ("mean", "NaN"),
        ("min", "NaN"),
        ("max", "NaN"),
        ("first", "1"),
        ("last", "3"),
        ("count", "3"),
    ] {
        let found = resampled(&table(MONTHS, &rows), &[("to", "quarter"), ("with", with)]);
        assert_eq!(found, [format!("2020-01-01 2020-Q1 n {value}")], "{with}");
    }
}

#[test]
fn what_cannot_be_is_refused_contract_16() {
    let option = |table: &Table, options: &[(&str, &str)]| match run::<Resample>(table, options) {
        Err(TransformError::InvalidOption { option, .. }) => option,
        other => panic!("{other:?}"),
    };
    assert_eq!(option(&two_regions(), &[]), "to");
    let quarters = two_regions().metadata("yearbook.axis", "quarter");
    assert_eq!(option(&quarters, &[("to", "month")]), "to");
    let to = [("to", "year")];
    for (columns, row) in
        [("region:dimension value:value", "n 1"), ("date:date n:dimension", "2020-01-01 n")]
    {
        let refused = run::<Resample>(&table(columns, &[row]), &to);
        assert!(matches!(refused, Err(TransformError::UnsupportedSchema(_))), "{columns}");
    }
    for rows in [
        ["2021-01-01 2021-01 n 1", "2020-01-01 2020-01 n 1"],
        ["2020-02-01 2020-02 n 1", "2020-01-01 2020-01 n 1"],
        ["2020-01-01 2020-01 n 1", "2020-01-01 - n 1"],
    ] {
        let refused = run::<Resample>(&table(MONTHS, &rows), &to);
        assert!(matches!(refused, Err(TransformError::UnsupportedRows(_))), "{rows:?}");
    }
}

#[test]
fn columns_that_are_no_part_of_a_series_are_left_out_contract_16() {
    let columns =
        "note:attribute date:date region:dimension n:value period:period x:value flag:status";
    let table = table(columns, &["a 2020-01-01 n 1 2020 2 P", "b 2021-01-01 n 3 2021 4 -"]);
    let answer = run::<Resample>(&table, &[("to", "year")]).unwrap();
    assert_eq!(answer[0], "date region n period x");
    assert_eq!(answer[1..], ["2020-01-01 n 1 2020 2", "2021-01-01 n 3 2021 4"]);
}

#[test]
fn a_period_that_is_made_has_a_name_of_its_own_contract_16() {
    for (columns, names, rows) in [
        ("date:date period:dimension value:value", "date period_2 period value", "a 1"),
        ("date:date value:value period:value", "date period_2 value period", "1 2"),
        ("period:date value:value period_2:value", "period period_3 value period_2", "1 2"),
        // It does not come out itself.
        ("date:date period:attribute value:value", "date period value", "a 1"),
    ] {
        let table = table(columns, &[format!("2020-01-01 {rows}")]);
        let table = table.metadata("yearbook.axis", "month");
        let answer = run::<Resample>(&table, &[("to", "year"), ("partial", "true")]).unwrap();
        assert_eq!(answer[0], names);
        assert!(answer[1].starts_with("2020-01-01 2020 "), "{answer:?}");
    }
}

proptest! {
    /// Any months of any regions, cut anywhere.
    #[test]
    fn sums_of_any_rows_are_those_of_a_table_of_all_values_contract_16(
        given in prop::collection::btree_map((0_i32..48, 0_usize..3), prop::option::of(-3_i32..4), 1..80),
        partial in any::<bool>(),
        cut in 1_usize..20,
    ) {
        let regions = ["a", "b", "-"];
        let mut expected: BTreeMap<(i32, usize), Vec<Option<i32>>> = BTreeMap::new();
        let line = |((month, region), value): (&(i32, usize), &Option<i32>)| {
            let code = format!("{:04}-{:02}", 2000 + month / 12, month % 12 + 1);
            let value = value.map_or("-".to_owned(), |value| value.to_string());
            expected.entry((month / 3, *region)).or_default().push(value.parse().ok());
            format!("{code}-01 {code} {} {value}", regions[*region])
        };
        let lines: Vec<String> = given.iter().map(line).collect();
        let expected: Vec<String> = expected.into_iter().map(|((quarter, region), values)| {
            let (year, quarter) = (2000 + quarter / 4, quarter % 4);
            let whole = partial || values.iter().flatten().count() == 3;
            let sum: Option<i32> = values.into_iter().flatten().map(Some).reduce(|a, b| Some(a? + b?)).flatten();
            let sum = sum.filter(|_| whole).map_or("-".to_owned(), |sum| sum.to_string());
            format!("{year:04}-{:02}-01 {year:04}-Q{} {} {sum}", quarter * 3 + 1, quarter + 1, regions[region])
        }).collect();
        let partial = partial.to_string();
        let options = [("to", "quarter"), ("with", "sum"), ("partial", partial.as_str())];
        prop_assert_eq!(resampled(&table(MONTHS, &lines).batches_of(cut), &options), expected);
    }
}
