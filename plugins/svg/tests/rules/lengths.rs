//! Rows of years beside rows of quarters: one line has periods of one length
//! (contract-9-svg-lengths).

use yearbook_sdk::testing::Table;

use super::{bytes, dated, draw, parse, valued};

/// Quarters of three years with the year itself before them, and a row without a code.
fn mixed(with_date: bool) -> Table {
    let mut rows: Vec<(String, Option<String>, f64)> = Vec::new();
    for year in 2020..2023 {
        rows.push((format!("{year}-01-01"), Some(year.to_string()), 400.0));
        for quarter in 1..=4 {
            let date = format!("{year}-{:02}-01", quarter * 3 - 2);
            rows.push((date, Some(format!("{year}-Q{quarter}")), 100.0));
        }
    }
    rows.push(("2023-01-01".to_owned(), None, 7.0));
    let dates: Vec<_> = rows.iter().map(|row| Some(row.0.clone())).collect();
    let periods: Vec<_> = rows.iter().map(|row| row.1.clone()).collect();
    let values: Vec<_> = rows.iter().map(|row| Some(row.2)).collect();
    let table = if with_date { dated(&dates) } else { Table::new() };
    let table = table.dictionary("period", &periods).about("period", "yearbook.role", "period");
    valued(table, "value", &values)
}

#[test]
fn one_line_has_periods_of_one_length_and_the_rest_is_stated_contract_9() {
    let picture = draw(&mixed(true), &[]);
    // Twelve quarters: eleven pieces of one height.
    let line = picture.paths.iter().find(|d| d.matches('L').count() == 11).unwrap();
    let heights: Vec<_> = line.split(['M', 'L']).filter_map(|at| at.split(' ').nth(1)).collect();
    assert!(heights.len() == 12 && heights.iter().all(|y| *y == heights[0]), "{line}");
    let said = "Only quarters are drawn: 3 rows of years and 1 row of unknown periods left out.";
    assert!(picture.desc.contains(said) && picture.all_text().contains(said), "{}", picture.desc);
    assert!(
        picture.desc.contains("value: 12 values; latest 100 on 2022-10-01"),
        "{}",
        picture.desc
    );
    // The periods themselves as the axis.
    let picture = draw(&mixed(false), &[("x", "period")]);
    assert!(picture.desc.contains("Only quarters are drawn: 3 rows of years"), "{}", picture.desc);
    assert!(picture.desc.contains("1 row has no place on the axis"), "{}", picture.desc);
}

#[test]
fn a_table_of_one_length_is_drawn_as_it_was_contract_9() {
    let dates = [Some("2020-01-01".to_owned()), Some("2020-04-01".to_owned())];
    let plain = valued(dated(&dates), "value", &[Some(1.0), Some(2.0)]);
    let periods = [Some("2020-Q1"), Some("2020-Q2")];
    let coded = valued(dated(&dates), "value", &[Some(1.0), Some(2.0)])
        .text("period", &periods)
        .about("period", "yearbook.role", "period");
    assert_eq!(bytes(&plain, &[]).unwrap(), bytes(&coded, &[]).unwrap());
    // Codes that are told no role are the axis alone.
    let days = valued(Table::new().text("day", &dates), "value", &[Some(1.0), Some(2.0)]);
    let days = days.about("day", "yearbook.type", "date");
    assert!(!parse(&bytes(&days, &[]).unwrap()).desc.contains("Only"));
}
