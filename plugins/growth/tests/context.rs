//! Results of growth wherever an answer begins (contract-16-context), and columns that pass.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use yearbook_growth::Growth;
use yearbook_sdk::testing::Table;
use yearbook_sdk::transform::{Priming, TransformError};
use yearbook_series::testing::{column, needs, run, run_from, table};

/// Compares the last row of a table with an answer that begins at its date.
fn check_last_row(rows: &[&str], unit: &str) {
    let columns = match rows[0].split_whitespace().count() {
        2 => "date:date value:value",
        _ => "date:date period:period value:value",
    };
    let table = table(columns, rows).metadata("yearbook.axis", "month");
    let given = [("unit", unit), ("as", "difference")];
    let whole = run::<Growth>(&table, &given).unwrap();
    let last = whole.last().unwrap();
    assert!(!last.ends_with('-'), "{last}");
    let found = run_from::<Growth>(&table, &last[..10], &given).unwrap();
    assert_eq!(found[1..], [last.as_str()], "{unit:?}");
}

#[test]
fn growth_is_a_number_wherever_dates_lie_in_their_periods_contract_16() {
    for (rows, unit) in [
        (["2023-04-28 2023-04 1", "2024-04-30 2024-04 3"], "year"),
        (["2023-04-28 2023-04 1", "2023-05-31 2023-05 3"], "month"),
        (["2023-04-28 2023-04 1", "2023-05-31 2023-05 3"], ""),
        (["2023-01-01 2023-Q1 1", "2023-06-30 2023-Q2 3"], "quarter"),
        (["2023-01-01 2023 1", "2024-12-31 2024 3"], "year"),
        (["2023-01-01 2023 1", "2024-12-31 2024 3"], ""),
        (["2023-07-01 2023/24 1", "2025-06-30 2024/25 3"], ""),
    ] {
        check_last_row(&rows, unit);
    }
    // Without periods the day is counted, from last days to last days.
    for last in ["2024-04-30", "2024-02-29", "2023-02-28"] {
        let dates = ["2023-01-31", "2023-02-28", "2024-01-31", "2024-02-29"];
        let dates = dates.into_iter().chain(["2024-03-31", "2024-04-30"]);
        let rows: Vec<String> =
            dates.filter(|date| *date <= last).map(|date| format!("{date} 1")).collect();
        let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
        check_last_row(&rows, "month");
    }
}

#[test]
fn an_index_of_a_table_without_dates_has_a_period_as_its_base_contract_16() {
    let rows = ["2019 a 1", "2019 b 8", "2020 a 2", "2021 a 3", "2020 b 4", "2021 b -"];
    let columns = "period:period region:dimension value:value";
    for batch in 1..=rows.len() {
        let table = table(columns, &rows).batches_of(batch);
        let asked = needs::<Growth>(&table, &[("as", "index"), ("base", "2020")]).unwrap();
        assert_eq!((asked.prime, asked.before), (Priming::All, None));
        let found = column::<Growth>(&table, "value", &[("as", "index"), ("base", "2020")]);
        assert_eq!(found, ["50", "200", "100", "150", "100", "-"], "{batch}");
    }
    let refused =
        needs::<Growth>(&table(columns, &rows), &[("as", "index"), ("base", "2020-01-01")]);
    assert!(
        matches!(&refused, Err(TransformError::InvalidOption { option: "base", sentence })
            if sentence.contains("name a period")),
        "{refused:?}"
    );
}

#[test]
fn statuses_pass_beside_growth_contract_16() {
    let columns = "date:date period:period value:value value_status:status";
    let rows = ["2023-01-01 2023 1 -", "2024-01-01 2024 3 P"];
    let answer = run::<Growth>(&table(columns, &rows), &[("as", "difference")]).unwrap();
    assert_eq!(answer[0], "date period value value_status");
    assert_eq!(answer[1..], ["2023-01-01 2023 - -", "2024-01-01 2024 2 P"]);
}

/// Text of which nothing says that it is always a date has no days.
#[test]
fn text_that_need_not_be_a_date_is_no_date_axis_contract_16() {
    let table = Table::new()
        .text("date", &[Some("soon")])
        .about("date", "yearbook.role", "date")
        .numbers("value", &[Some(1.0)])
        .about("value", "yearbook.role", "value");
    let refused = needs::<Growth>(&table, &[("unit", "day")]);
    assert!(matches!(refused, Err(TransformError::UnsupportedSchema(_))), "{refused:?}");
}
