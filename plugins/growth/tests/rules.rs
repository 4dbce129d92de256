//! The rules of contract-16-growth, with values computed by hand.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::HashMap;

use proptest::prelude::*;
use yearbook_growth::Growth;
use yearbook_sdk::Transform as _;
use yearbook_sdk::calendar::{CalendarSpan, CalendarUnit};
use yearbook_sdk::testing::Table;
use yearbook_sdk::transform::{Needs, Priming, TransformError};
use yearbook_series::testing::{self, check, column, options, run, run_from, schema, table};

/// Results of the column `value`, `-` for null.
fn values(table: &Table, options: &[(&str, &str)]) -> Vec<String> {
    column::<Growth>(table, "value", options)
}

fn needs(table: &Table, given: &[(&str, &str)]) -> Result<Needs, TransformError> {
    testing::needs::<Growth>(table, given)
}

fn text(values: &[Option<f64>]) -> Vec<String> {
    values.iter().map(|value| value.map_or("-".to_owned(), |value| value.to_string())).collect()
}

const QUARTERS: &str = "date:date period:period region:dimension value:value";

fn two_regions() -> Table {
    table(
        QUARTERS,
        &[
            "2020-01-01 2020-Q1 north 100",
            "2020-01-01 2020-Q1 south 50",
            "2020-04-01 2020-Q2 north 110",
            "2020-04-01 2020-Q2 south 40",
            "2020-07-01 2020-Q3 north 99",
            "2020-10-01 2020-Q4 south 60",
            "2020-10-01 2020-Q4 north 0",
            "2021-01-01 2021-Q1 north 7",
        ],
    )
}

#[test]
fn conforms() {
    check::<Growth>(&[("unit", "day")]);
}

#[test]
fn each_value_is_compared_with_the_one_exactly_so_much_earlier_of_its_series_contract_16() {
    let ratio = [
        None,
        None,
        Some(110.0 / 100.0 - 1.0),
        Some(40.0 / 50.0 - 1.0),
        Some(99.0 / 110.0 - 1.0),
        // Its third quarter is missing: the second one is no neighbour.
        None,
        Some(-1.0),
        // There is no ratio to 0.
        None,
    ];
    assert_eq!(values(&two_regions(), &[]), text(&ratio));
    let difference =
        [None, None, Some(10.0), Some(-10.0), Some(-11.0), None, Some(-99.0), Some(7.0)];
    assert_eq!(values(&two_regions(), &[("as", "difference")]), text(&difference));
    let log = [
        None,
        None,
        Some(libm::log(1.1)),
        Some(libm::log(0.8)),
        Some(libm::log(0.9)),
        None,
        // The ratio is not above 0, or there is none.
        None,
        None,
    ];
    assert_eq!(values(&two_regions(), &[("as", "log")]), text(&log));
    let year = [None, None, None, None, None, None, None, Some(7.0 / 100.0 - 1.0)];
    assert_eq!(values(&two_regions(), &[("periods", "4")]), text(&year));
    assert_eq!(values(&two_regions(), &[("unit", "year")]), text(&year));
    assert_eq!(values(&two_regions(), &[("unit", "month"), ("periods", "12")]), text(&year));
    // A quarter is not a month after any other.
    assert_eq!(values(&two_regions(), &[("unit", "month")]), text(&[None; 8]));
}

#[test]
fn all_other_columns_pass_and_a_ratio_has_no_unit_contract_16() {
    let table = two_regions().about("value", "yearbook.unit", "NZD");
    let answer = run::<Growth>(&table, &[("as", "difference")]).unwrap();
    assert_eq!(answer[0], "date period region value");
    assert_eq!(answer[3], "2020-04-01 2020-Q2 north 10");
    let schema = schema(&table);
    for (measure, unit) in [("difference", Some("NZD")), ("ratio", None), ("log", None)] {
        let options = options::<Growth>(&[("as", measure)]);
        let growth = Growth::open(&schema, &yearbook_sdk::transform::Codes::default(), &options);
        assert_eq!(growth.unwrap().output().columns[3].unit.as_deref(), unit, "{measure}");
    }
}

#[test]
fn nulls_and_nan_are_no_numbers_to_compare_with_contract_16() {
    let table = table(
        "date:date period:period value:value",
        &[
            "2020-01-01 2020 1",
            "2021-01-01 2021 -",
            "2022-01-01 2022 3",
            "2023-01-01 2023 NaN",
            "2024-01-01 2024 5",
            "2025-01-01 2025 -5",
        ],
    );
    for measure in ["ratio", "difference", "log"] {
        let found = values(&table, &[("as", measure)]);
        assert_eq!(found[..5], ["-", "-", "-", "NaN", "NaN"], "{measure}");
    }
    assert_eq!(values(&table, &[("as", "log")])[5], "-", "the ratio is not above 0");
}

#[test]
fn of_several_rows_of_one_series_and_time_the_last_one_counts_contract_16() {
    let table = table(
        "date:date period:period value:value",
        &[
            "2020-01-01 2020 1",
            "2020-01-01 2020 2",
            "2021-01-01 2021 6",
            "2021-01-01 2021 8",
            "2022-01-01 2022 4",
        ],
    );
    let expected = [None, None, Some(4.0), Some(6.0), Some(-4.0)];
    assert_eq!(values(&table, &[("as", "difference")]), text(&expected));
}

#[test]
fn codes_of_each_form_are_a_series_of_their_own_contract_16() {
    let table = table(
        "date:date period:period value:value",
        &[
            "2020-01-01 2020 100",
            "2020-01-01 2020-Q1 20",
            "2020-01-01 2020-01 5",
            "2020-02-01 2020-02 6",
            "2020-04-01 2020-Q2 30",
            "2020-07-01 2020/21 7",
            "2021-01-01 2021 150",
            "2021-01-01 2021-Q1 21",
            "2021-07-01 2021/22 9",
        ],
    );
    let next = [None, None, None, Some(1.0), Some(10.0), None, Some(50.0), None, Some(2.0)];
    assert_eq!(values(&table, &[("as", "difference")]), text(&next));
    let year = [None, None, None, None, None, None, Some(50.0), Some(1.0), Some(2.0)];
    assert_eq!(values(&table, &[("as", "difference"), ("unit", "year")]), text(&year));
}

#[test]
fn without_periods_dates_step_to_the_same_day_and_last_days_to_last_days_contract_16() {
    let table = table(
        "date:date value:value",
        &[
            "2023-12-30 1",
            "2023-12-31 2",
            "2024-01-30 3",
            "2024-01-31 4",
            "2024-02-28 5",
            "2024-02-29 6",
            "2024-03-29 7",
            "2024-03-30 8",
            "2024-03-31 9",
            "2025-02-28 10",
        ],
    );
    let month =
        [None, None, Some(2.0), Some(2.0), None, Some(2.0), Some(1.0), None, Some(3.0), None];
    let difference = ("as", "difference");
    assert_eq!(values(&table, &[difference, ("unit", "month")]), text(&month));
    let year = [None, None, None, None, None, None, None, None, None, Some(4.0)];
    assert_eq!(values(&table, &[difference, ("unit", "year")]), text(&year));
    // From 30 March two months lead to 30 January, and one leads to no day.
    let two = [None, None, None, None, None, Some(4.0), None, Some(5.0), Some(5.0), None];
    assert_eq!(values(&table, &[difference, ("unit", "month"), ("periods", "2")]), text(&two));
    let day = [None, Some(1.0), None, Some(1.0), None, Some(1.0), None, Some(1.0), Some(1.0), None];
    assert_eq!(values(&table, &[difference, ("unit", "day")]), text(&day));
    let axis = table.metadata("yearbook.axis", "day");
    assert_eq!(values(&axis, &[difference]), text(&day));
    assert_eq!(values(&axis, &[difference, ("unit", "week")]), text(&[None; 10]));
}

#[test]
fn a_unit_is_required_where_neither_codes_nor_dates_have_one_contract_16() {
    let dates = table("date:date value:value", &["2020-01-01 1"]);
    let unit = |table: &Table, options: &[(&str, &str)]| match needs(table, options) {
        Err(TransformError::InvalidOption { option: "unit", sentence }) => sentence,
        other => panic!("{other:?}"),
    };
    assert!(unit(&dates, &[]).contains("no common distance"));
    assert!(unit(&two_regions(), &[("unit", "week")]).contains("periods"));
    assert!(needs(&dates, &[("unit", "week")]).is_ok());
}

#[test]
fn rows_before_the_start_and_years_of_the_base_are_asked_for_contract_16() {
    let before = |table: &Table, options: &[(&str, &str)]| needs(table, options).unwrap().before;
    let span = |count, unit| Some(CalendarSpan { count, unit });
    let dates = table("date:date value:value", &["2020-01-01 1"]);
    let months = dates.clone().metadata("yearbook.axis", "month");
    assert_eq!(before(&months, &[("periods", "12")]), span(12, CalendarUnit::Month));
    assert_eq!(before(&dates, &[("unit", "week")]), span(1, CalendarUnit::Week));
    // Any row may be of a year.
    assert_eq!(before(&two_regions(), &[("periods", "4")]), span(5, CalendarUnit::Year));
    // Dates are anywhere in a period, of which the distance is a multiple.
    for (unit, periods, expected) in [
        ("month", "1", span(2, CalendarUnit::Month)),
        ("month", "3", span(6, CalendarUnit::Month)),
        ("month", "12", span(24, CalendarUnit::Month)),
        ("month", "4800", span(4800, CalendarUnit::Month)),
        ("quarter", "1", span(2, CalendarUnit::Quarter)),
        ("quarter", "4", span(8, CalendarUnit::Quarter)),
        ("year", "1", span(2, CalendarUnit::Year)),
    ] {
        let given = [("unit", unit), ("periods", periods)];
        assert_eq!(before(&two_regions(), &given), expected, "{given:?}");
    }
    for (base, first, last) in [
        ("2020-Q2", "2020-01-01", "2020-12-31"),
        ("2020-03", "2020-01-01", "2020-12-31"),
        ("0999", "0999-01-01", "0999-12-31"),
        ("2020/21", "2020-01-01", "2021-12-31"),
        ("2020-07-01", "2020-01-01", "2020-12-31"),
    ] {
        let needs = needs(&two_regions(), &[("as", "index"), ("base", base)]).unwrap();
        let (first, last) = (first.to_owned(), last.to_owned());
        assert_eq!(needs.prime, Priming::Dates { first, last }, "{base}");
        assert_eq!(needs.before, None);
    }
}

/// Options of differences.
fn given(periods: &str) -> [(&'static str, &str); 2] {
    [("periods", periods), ("as", "difference")]
}

/// Codes tell how long a period is, so a number of them may be 33 years or 400.
#[test]
fn periods_reach_back_400_years_whatever_their_codes_contract_16() {
    let months = |first: i32, last: i32| {
        let month = |at: i32| {
            let (year, month) = (at / 12, at % 12 + 1);
            format!("{year:04}-{month:02}-01 {year:04}-{month:02} {}", at - first)
        };
        let rows: Vec<String> = (first..=last).map(month).collect();
        let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
        table("date:date period:period value:value", &rows)
    };
    let table = months(1600 * 12, 2000 * 12 + 2);
    let expected = |periods: i32| {
        let results = 4803 - usize::try_from(periods).unwrap();
        let mut values = vec![None; 4803 - results];
        values.extend(vec![Some(f64::from(periods)); results]);
        text(&values)
    };
    for periods in [401, 1_601, 4_800] {
        assert_eq!(values(&table, &given(&periods.to_string())), expected(periods));
    }
    // The first row of an answer has all of them before it.
    let start = run_from::<Growth>(&table, "2000-03-01", &given("4800")).unwrap();
    assert_eq!(start[1..], ["2000-03-01 2000-03 4800"]);
    let span = |periods: &str| needs(&table, &given(periods)).unwrap().before.unwrap();
    assert_eq!(span("4800"), CalendarSpan { count: 400, unit: CalendarUnit::Year });
    let most = |rows: &[&str], periods: &str| {
        let table = testing::table("date:date period:period value:value", rows);
        match run::<Growth>(&table, &given(periods)) {
            Err(TransformError::InvalidOption { option: "periods", sentence }) => sentence,
            other => panic!("{other:?}"),
        }
    };
    let quarter = ["2020-01-01 2020-01 1", "2020-01-01 2020-Q1 1"];
    assert!(most(&quarter, "1601").starts_with("must be at most 1600 where codes are of quarters"));
    assert!(most(&["2020-01-01 2020 1"], "401").starts_with("must be at most 400 where codes are"));
    assert!(most(&["2020-07-01 2020/21 1"], "401").contains("years"));
    let quarters = testing::table("date:date period:period value:value", &quarter);
    assert!(run::<Growth>(&quarters, &given("1600")).is_ok());
}

#[test]
fn the_first_row_of_an_answer_has_a_result_like_any_other_contract_16() {
    for given in [
        vec![("as", "difference")],
        vec![("periods", "3"), ("unit", "month")],
        vec![("periods", "4")],
        vec![("as", "index"), ("base", "2020-Q1")],
        vec![("as", "index"), ("base", "2021-01-01")],
    ] {
        let whole = run::<Growth>(&two_regions(), &given).unwrap();
        for start in ["2020-04-01", "2020-09-30", "2021-01-01"] {
            let later = |row: &&String| row.as_str() >= start;
            let expected: Vec<String> = whole.iter().skip(1).filter(later).cloned().collect();
            let found = run_from::<Growth>(&two_regions(), start, &given).unwrap();
            assert_eq!(found[1..], expected, "{start} {given:?}");
        }
    }
}

#[test]
fn an_index_is_100_at_its_base_and_has_no_value_without_one_contract_16() {
    let expected = text(&[
        Some(100.0 * 100.0 / 110.0),
        Some(125.0),
        Some(100.0),
        Some(100.0),
        Some(100.0 * 99.0 / 110.0),
        Some(150.0),
        Some(0.0),
        Some(100.0 * 7.0 / 110.0),
    ]);
    for base in ["2020-Q2", "2020-04-01"] {
        assert_eq!(values(&two_regions(), &[("as", "index"), ("base", base)]), expected);
    }
    let zero = values(&two_regions(), &[("as", "index"), ("base", "2020-Q4")]);
    assert_eq!(zero[0], "-", "the base is 0");
    assert_eq!(zero[1], (100.0_f64 * 50.0 / 60.0).to_string());
    // A base of another form, or one that no row has, is none.
    for base in ["2020", "1999-Q1"] {
        let found = values(&two_regions(), &[("as", "index"), ("base", base)]);
        assert_eq!(found, text(&[None; 8]));
    }
}

#[test]
fn what_cannot_be_is_refused_at_its_option_contract_16() {
    let dates = table("date:date value:value", &["2020-01-01 1"]);
    for (table, given, option) in [
        (two_regions(), vec![("periods", "0")], "periods"),
        (two_regions(), vec![("periods", "-1")], "periods"),
        (two_regions(), vec![("periods", "4801")], "periods"),
        (two_regions(), vec![("periods", "9223372036854775807")], "periods"),
        (two_regions(), vec![("unit", "year"), ("periods", "401")], "periods"),
        (two_regions(), vec![("unit", "month"), ("periods", "4801")], "periods"),
        (dates.clone(), vec![("unit", "day"), ("periods", "146098")], "periods"),
        (two_regions(), vec![("base", "2020-Q1")], "base"),
        (two_regions(), vec![("as", "index")], "base"),
        (two_regions(), vec![("as", "index"), ("base", "soon")], "base"),
        (two_regions(), vec![("as", "index"), ("base", "2020-02-30")], "base"),
        (dates.clone(), vec![("as", "index"), ("base", "2020")], "base"),
        (two_regions(), vec![("columns", "price")], "columns"),
        (two_regions(), vec![("columns", "region")], "columns"),
        (two_regions(), vec![("columns", "value,value")], "columns"),
    ] {
        let found = needs(&table, &given);
        let is_it = |found: &str| found == option;
        assert!(
            matches!(&found, Err(TransformError::InvalidOption { option, .. }) if is_it(option)),
            "{given:?}: {found:?}"
        );
    }
    assert!(needs(&dates, &[("unit", "day"), ("periods", "146097")]).is_ok());
    let no_numbers = table("date:date period:period region:dimension", &["2020-01-01 2020 a"]);
    let no_dates = table("region:dimension value:value", &["a 1"]);
    for table in [no_numbers, no_dates] {
        assert!(matches!(needs(&table, &[]), Err(TransformError::UnsupportedSchema(_))));
    }
    let descending =
        table("date:date period:period value:value", &["2021-01-01 2021 1", "2020-01-01 2020 2"]);
    let refused = run::<Growth>(&descending, &[]).unwrap_err();
    assert!(matches!(&refused, TransformError::UnsupportedRows(text) if text.contains("ascend")));
}

#[test]
fn integers_are_compared_as_numbers_and_columns_can_be_chosen_contract_16() {
    let table = table(
        "date:date period:period people:value:integer price:value n:attribute:integer",
        &["2020-01-01 2020 3 1.5 1", "2021-01-01 2021 - 2.5 2", "2022-01-01 2022 4 - 4"],
    );
    let answer = run::<Growth>(&table, &[("as", "difference")]).unwrap();
    assert_eq!(
        answer[1..],
        ["2020-01-01 2020 - - 1", "2021-01-01 2021 - 1 2", "2022-01-01 2022 - - 4"]
    );
    let answer = run::<Growth>(&table, &[("columns", "n, price")]).unwrap();
    assert_eq!(
        answer[1..],
        [
            "2020-01-01 2020 3 - -",
            "2021-01-01 2021 - 0.6666666666666667 1",
            "2022-01-01 2022 4 - 1"
        ]
    );
}

proptest! {
    /// Any rows, cut anywhere: the same as a table of all values has.
    #[test]
    fn growth_of_any_rows_is_that_of_a_table_of_all_values_contract_16(
        given in prop::collection::vec((0_i32..60, 0_usize..3, prop::option::of(-3_i32..4)), 1..80),
        periods in 1_i32..6,
        cut in 1_usize..20,
    ) {
        let mut given = given;
        given.sort_by_key(|(month, region, _)| (*month, *region));
        let code = |month: i32| format!("{:04}-{:02}", 2000 + month / 12, month % 12 + 1);
        let regions = ["a", "b", "-"];
        let line = |(month, region, value): &(i32, usize, Option<i32>)| {
            let value = value.map_or("-".to_owned(), |value| value.to_string());
            format!("{}-01 {} {} {value}", code(*month), code(*month), regions[*region])
        };
        let lines: Vec<String> = given.iter().map(line).collect();
        let last: HashMap<(i32, usize), Option<i32>> =
            given.iter().map(|(month, region, value)| ((*month, *region), *value)).collect();
        let expected: Vec<Option<f64>> = given.iter().map(|(month, region, value)| {
            let earlier = last.get(&(month - periods, *region)).copied().flatten()?;
            Some(f64::from(value.as_ref()? - earlier))
        }).collect();
        let table = table(QUARTERS, &lines).batches_of(cut);
        let periods = periods.to_string();
        let found = values(&table, &[("as", "difference"), ("periods", &periods)]);
        prop_assert_eq!(found, text(&expected));
    }
}
