//! The rules of rolling windows, with values computed by hand and, over any rows, in another way.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::HashMap;

use proptest::prelude::*;
use yearbook_rolling::Rolling;
use yearbook_sdk::Transform as _;
use yearbook_sdk::calendar::{CalendarSpan, CalendarUnit};
use yearbook_sdk::testing::Table;
use yearbook_sdk::transform::{Needs, TransformError};
use yearbook_series::testing::{self, check, column, options, run, run_from, schema, table};

/// Results of the column `value`, `-` for null.
fn values(table: &Table, options: &[(&str, &str)]) -> Vec<String> {
    column::<Rolling>(table, "value", options)
}

fn needs(table: &Table, given: &[(&str, &str)]) -> Result<Needs, TransformError> {
    testing::needs::<Rolling>(table, given)
}

const MONTHS: &str = "date:date period:period region:dimension value:value";

fn two_regions() -> Table {
    table(
        MONTHS,
        &[
            "2020-01-01 2020-01 north 1",
            "2020-01-01 2020-01 south 10",
            "2020-02-01 2020-02 north 2",
            "2020-02-01 2020-02 south -",
            "2020-03-01 2020-03 north 6",
            "2020-03-01 2020-03 south 30",
            "2020-05-01 2020-05 north 8",
            "2020-06-01 2020-06 north 4",
        ],
    )
}

#[test]
fn conforms() {
    check::<Rolling>(&[]);
}

#[test]
fn a_window_has_the_times_up_to_that_of_the_row_and_is_null_unless_it_is_whole_contract_16() {
    assert_eq!(values(&two_regions(), &[]), ["-", "-", "-", "-", "3", "-", "-", "-"]);
    let two = ("window", "2");
    let sum = ("with", "sum");
    assert_eq!(values(&two_regions(), &[two, sum]), ["-", "-", "3", "-", "8", "-", "-", "12"]);
    let partial = ("partial", "true");
    // In May the months from March on are in the window, and April is missing.
    let sums = ["1", "10", "3", "10", "9", "40", "14", "12"];
    assert_eq!(values(&two_regions(), &[sum, partial]), sums);
    let counts = ["1", "1", "2", "1", "3", "2", "2", "2"];
    assert_eq!(values(&two_regions(), &[("with", "count"), partial]), counts);
    let least = ["1", "10", "1", "10", "1", "10", "6", "4"];
    assert_eq!(values(&two_regions(), &[("with", "min"), partial]), least);
    let one = ["1", "10", "2", "-", "6", "30", "8", "4"];
    assert_eq!(values(&two_regions(), &[("window", "1")]), one);
}

#[test]
fn other_columns_pass_and_a_count_has_no_unit_contract_16() {
    let table = two_regions().about("value", "yearbook.unit", "NZD");
    let answer = run::<Rolling>(&table, &[("window", "1")]).unwrap();
    assert_eq!(answer[..2], ["date period region value", "2020-01-01 2020-01 north 1"]);
    let schema = schema(&table);
    for (with, unit) in [("mean", Some("NZD")), ("max", Some("NZD")), ("count", None)] {
        let options = options::<Rolling>(&[("with", with)]);
        let rolling = Rolling::open(&schema, &yearbook_sdk::transform::Codes::default(), &options);
        assert_eq!(rolling.unwrap().output().columns[3].unit.as_deref(), unit, "{with}");
    }
}

#[test]
fn statuses_of_values_are_left_out_contract_16() {
    let columns = "date:date period:period value:value value_status:status";
    let rows = ["2024-01-01 2024-01 1 -", "2024-02-01 2024-02 3 P"];
    let answer = run::<Rolling>(&table(columns, &rows), &[("window", "2")]).unwrap();
    let expected = ["date period value", "2024-01-01 2024-01 -", "2024-02-01 2024-02 2"];
    assert_eq!(answer, expected);
}

#[test]
fn dates_without_periods_are_counted_by_the_distance_of_the_table_contract_16() {
    let dates = table(
        "date:date value:value:integer",
        &["2020-01-31 1", "2020-02-29 2", "2020-03-31 4", "2020-05-31 8"],
    );
    let months = dates.clone().metadata("yearbook.axis", "month");
    let max = [("window", "2"), ("with", "max")];
    assert_eq!(values(&months, &max), ["-", "2", "4", "-"]);
    let refused = needs(&dates, &[]).unwrap_err();
    assert!(matches!(&refused, TransformError::UnsupportedSchema(why) if why.contains("distance")));
}

#[test]
fn the_first_row_of_an_answer_has_a_result_like_any_other_contract_16() {
    let before = |given: &[(&str, &str)]| needs(&two_regions(), given).unwrap().before;
    assert_eq!(before(&[]), Some(CalendarSpan { count: 3, unit: CalendarUnit::Year }));
    assert_eq!(before(&[("window", "1")]), None);
    // The host takes no span that is longer.
    let longest = Some(CalendarSpan { count: 400, unit: CalendarUnit::Year });
    assert_eq!(before(&[("window", "400")]), longest);
    let given = [("partial", "true"), ("with", "sum")];
    let whole = run::<Rolling>(&two_regions(), &given).unwrap();
    for start in ["2020-02-01", "2020-03-15", "2020-06-01"] {
        let later = |row: &&String| row.as_str() >= start;
        let expected: Vec<String> = whole.iter().skip(1).filter(later).cloned().collect();
        let found = run_from::<Rolling>(&two_regions(), start, &given).unwrap();
        assert_eq!(found[1..], expected, "{start}");
    }
}

/// Dates are anywhere in the months, weeks and years that are counted.
#[test]
fn a_window_is_whole_wherever_the_answer_begins_contract_16() {
    let dates = |unit: &str, rows: [&str; 4]| {
        table("date:date value:value", &rows).metadata("yearbook.axis", unit)
    };
    let years =
        ["2021-07-01 2021 1", "2022-01-31 2022 2", "2023-01-01 2023 3", "2024-12-31 2024 5"];
    for table in [
        dates("month", ["2024-01-31 1", "2024-02-29 2", "2024-03-28 3", "2024-04-30 5"]),
        // Sundays and Mondays.
        dates("week", ["2024-01-07 1", "2024-01-08 2", "2024-01-21 3", "2024-01-22 5"]),
        dates("quarter", ["2023-07-01 1", "2023-12-31 2", "2024-01-01 3", "2024-06-30 5"]),
        table("date:date period:period value:value", &years),
    ] {
        for window in ["2", "3"] {
            let whole = run::<Rolling>(&table, &[("window", window)]).unwrap();
            for row in &whole[1..] {
                let start = &row[..10];
                let found = run_from::<Rolling>(&table, start, &[("window", window)]).unwrap();
                assert_eq!(found[1], *row, "{window} from {start}");
            }
            assert!(!whole[4].ends_with('-'), "{whole:?}");
        }
    }
}

#[test]
fn what_cannot_be_is_refused_at_its_option_contract_16() {
    for window in ["0", "-1", "401"] {
        let refused = needs(&two_regions(), &[("window", window)]);
        assert!(matches!(refused, Err(TransformError::InvalidOption { option: "window", .. })));
    }
    let descending =
        table("date:date period:period value:value", &["2021-01-01 2021 1", "2020-01-01 2020 2"]);
    let refused = run::<Rolling>(&descending, &[]).unwrap_err();
    assert!(matches!(&refused, TransformError::UnsupportedRows(text) if text.contains("ascend")));
}

proptest! {
    /// Any rows, cut anywhere: the same as a table of all values has.
    #[test]
    fn windows_of_any_rows_are_those_of_a_table_of_all_values_contract_16(
        given in prop::collection::vec((0_i32..40, 0_usize..3, prop::option::of(-3_i32..4)), 1..80),
        window in 1_i32..6,
        cut in 1_usize..20,
        partial in any::<bool>(),
    ) {
        let mut given = given;
        given.sort_by_key(|(month, region, _)| (*month, *region));
        // Of several rows of one time the last one counts.
        given.reverse();
        let mut seen = std::collections::HashSet::new();
        given.retain(|(month, region, _)| seen.insert((*month, *region)));
        given.reverse();
        let code = |month: i32| format!("{:04}-{:02}", 2000 + month / 12, month % 12 + 1);
        let regions = ["a", "b", "-"];
        let line = |(month, region, value): &(i32, usize, Option<i32>)| {
            let value = value.map_or("-".to_owned(), |value| value.to_string());
            format!("{}-01 {} {} {value}", code(*month), code(*month), regions[*region])
        };
        let lines: Vec<String> = given.iter().map(line).collect();
        let all: HashMap<(i32, usize), i32> = given
            .iter()
            .filter_map(|(month, region, value)| Some(((*month, *region), (*value)?)))
            .collect();
        let expected: Vec<String> = given.iter().map(|(month, region, _)| {
            let times = month - window + 1..=*month;
            let found: Vec<i32> =
                times.filter_map(|month| all.get(&(month, *region)).copied()).collect();
            let whole = i32::try_from(found.len()).unwrap() == window;
            let sum: i32 = found.iter().sum();
            if found.is_empty() || !(partial || whole) { "-".to_owned() } else { sum.to_string() }
        }).collect();
        let table = table(MONTHS, &lines).batches_of(cut);
        let (window, partial) = (window.to_string(), partial.to_string());
        let given = [("with", "sum"), ("window", &*window), ("partial", &*partial)];
        prop_assert_eq!(values(&table, &given), expected);
    }
}
