//! Times as they are sent, and the sentences about what is none (contract-21-as-of).

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;
use crate::query::{is_parameter, parse_data, parse_data_at, parse_pairs};

/// 2026-11-28T12:00:00Z.
const NOW: Millis = Millis(1_795_867_200_000);

/// The instant that a query's `as_of` means, and its text.
fn read(query: &str) -> (String, String) {
    let (selection, _) = parse_data_at(&parse_pairs(query), &[], NOW).unwrap();
    let Sent { raw, value } = selection.as_of.unwrap();
    assert_eq!(value.0.rem_euclid(1_000), 999, "{query}");
    (value.to_rfc3339(), raw)
}

/// Name, kind and sentence of each problem of a query.
fn problems(query: &str) -> Vec<(String, &'static str, String)> {
    let problems = parse_data_at(&parse_pairs(query), &["json"], NOW).unwrap_err();
    let problem = |problem: ValidationError| {
        let sentence = problem.msg.replace("Value error, ", "");
        (problem.loc[1].clone(), problem.kind, sentence)
    };
    problems.into_iter().map(problem).collect()
}

#[test]
fn a_time_is_the_end_of_a_day_or_a_second_with_an_offset_contract_21() {
    assert_eq!(NOW.to_rfc3339(), "2026-11-28T12:00:00Z");
    for (sent, instant) in [
        ("2026-10-01", "2026-10-01T23:59:59Z"),
        ("2024-02-29", "2024-02-29T23:59:59Z"),
        ("0001-01-01", "0001-01-01T23:59:59Z"),
        ("2026-11-28", "2026-11-28T23:59:59Z"),
        ("2026-10-01T09:30:00Z", "2026-10-01T09:30:00Z"),
        ("2026-10-01t09:30:00z", "2026-10-01T09:30:00Z"),
        ("2026-10-01+09:30:00Z", "2026-10-01T09:30:00Z"),
        ("2026-10-01T09:30:00%2B13:00", "2026-09-30T20:30:00Z"),
        ("2026-10-01T09:30:00-13:00", "2026-10-01T22:30:00Z"),
        ("2026-10-01T09:30:00-00:00", "2026-10-01T09:30:00Z"),
        ("2026-10-01T09:30:00%2B05:45", "2026-10-01T03:45:00Z"),
        ("2026-10-01T09:30:00.4Z", "2026-10-01T09:30:00Z"),
        ("2026-10-01T09:30:00.999999999999999Z", "2026-10-01T09:30:00Z"),
        ("2026-10-01T09:30:00.5%2B13:00", "2026-09-30T20:30:00Z"),
        ("1969-12-31T23:59:59Z", "1969-12-31T23:59:59Z"),
        ("2026-11-28T23:59:59.999Z", "2026-11-28T23:59:59Z"),
        ("2026-11-29T12:59:59%2B13:00", "2026-11-28T23:59:59Z"),
    ] {
        assert_eq!(read(&format!("as_of={sent}")).0, instant, "{sent}");
    }
    assert_eq!(read("as_of=2026-10-01").1, "2026-10-01", "the text is that which was sent");
    assert_eq!(read("as_of=x&as_of=2026-10-01").1, "2026-10-01", "the last one counts");
}

#[test]
fn a_blank_where_a_plus_stood_is_read_as_the_plus_contract_21() {
    for sent in ["2026-10-01T09:30:00+13:00", "2026-10-01T09:30:00.25%2013:00"] {
        let (instant, raw) = read(&format!("as_of={sent}"));
        assert_eq!(instant, "2026-09-30T20:30:00Z", "{sent}");
        assert!(raw.contains(' '), "{raw}");
    }
    // Not in the place of any other sign.
    for sent in ["2026-10-01T09:30: 0Z", "2026+10-01", "2026-10-01T09:30:00++13:00", "+13:00"] {
        assert_eq!(problems(&format!("as_of={sent}")).len(), 1, "{sent}");
    }
}

#[test]
fn what_is_no_time_is_told_as_dates_are_contract_21() {
    let form = || {
        "as_of is a date, as 2026-10-01, or a time with its offset, as 2026-10-01T09:30:00+13:00"
            .to_owned()
    };
    let no_offset = || {
        "as_of has a time of day without its offset; send Z, or one as +13:00, behind it".to_owned()
    };
    let of_date = |error: &str| {
        ("date_from_datetime_parsing", format!("Input should be a valid date or datetime, {error}"))
    };
    let year_0 =
        "Input should be a valid date in the format YYYY-MM-DD, year 0 is out of range".to_owned();
    for (sent, (kind, sentence)) in [
        ("", of_date("input is too short")),
        ("now", of_date("input is too short")),
        ("2026-13-01", of_date("month value is outside expected range of 1-12")),
        ("2026-02-29", of_date("day value is outside expected range")),
        ("2026-02-29T00:00:00Z", of_date("day value is outside expected range")),
        ("2026/10/01", of_date("invalid date separator, expected `-`")),
        ("2026-10-01T24:00:00Z", of_date("hour value is outside expected range of 0-23")),
        ("2026-10-01T09:60:00Z", of_date("minute value is outside expected range of 0-59")),
        // No clock of ours has such a second, nor has Pydantic's.
        ("2016-12-31T23:59:60Z", of_date("second value is outside expected range of 0-59")),
        ("0000-01-01", ("date_parsing", year_0.clone())),
        ("0000-01-01T00:00:00Z", ("date_parsing", year_0)),
        ("2026-10-01T09:30:00", ("value_error", no_offset())),
        ("2026-10-01T09:30:00.5", ("value_error", no_offset())),
        ("2026", ("value_error", form())),
        ("20261001", ("value_error", form())),
        ("1795867200", ("value_error", form())),
        ("2026-10-01.5", ("value_error", form())),
        ("2026-10-01T09:30Z", ("value_error", form())),
        ("2026-10-01_09:30:00Z", ("value_error", form())),
        ("2026-10-01T09:30:00%2B1300", ("value_error", form())),
        ("2026-10-01T09:30:00%E2%88%9213:00", ("value_error", form())),
    ] {
        let expected = ("as_of".to_owned(), kind, sentence);
        assert_eq!(problems(&format!("as_of={sent}")), [expected], "{sent}");
    }
    for sent in [
        "2026-10-01T09:30:00.Z",
        "2026-10-01T09:30:00Z ",
        " 2026-10-01",
        "2026-10-01T09:30:00%2B24:00",
        "é",
        "2026-10-01Té",
    ] {
        assert_eq!(problems(&format!("as_of={sent}")).len(), 1, "{sent}");
    }
    let told = parse_data(&parse_pairs("as_of=2026-10-01T09:30:61.5+13:00"), &[]).unwrap_err();
    assert_eq!(told[0].input.as_deref(), Some("2026-10-01T09:30:61.5 13:00"), "as it was sent");
}

#[test]
fn nobody_asks_for_a_time_after_the_end_of_today_contract_21() {
    for sent in [
        "2026-11-29",
        "2026-11-29T00:00:00Z",
        "2026-11-28T23:59:59-00:01",
        "2026-11-29T00:00:00.000Z",
        "9999-12-31",
        "9999-12-31T23:59:59-23:59",
    ] {
        let found = problems(&format!("as_of={sent}"));
        let sentence =
            "as_of must not be after today (2026-11-28 UTC), whose end means the newest version";
        assert_eq!(found, [("as_of".to_owned(), "value_error", sentence.to_owned())], "{sent}");
    }
    for now in [0, 1, DAY_MS - 1] {
        let parse =
            |raw: &str| parse_data_at(&parse_pairs(&format!("as_of={raw}")), &[], Millis(now));
        assert!(parse("1970-01-01").is_ok() && parse("1970-01-02").is_err(), "{now}");
    }
    assert!(parse_data(&parse_pairs("as_of=9999-12-31"), &[]).is_ok(), "without a clock");
}

#[test]
fn a_time_stands_beside_no_snapshot_and_its_problem_behind_the_box_contract_21() {
    let found = problems("as_of=2026-10-01&snapshot=");
    assert!(found[0].2.starts_with("as_of cannot stand beside snapshot"), "{found:?}");
    let found = problems("apply=x&as_of=soon&bbox=1&columns=&snapshot=a");
    let names: Vec<&str> = found.iter().map(|(name, ..)| name.as_str()).collect();
    assert_eq!(names, ["columns", "bbox", "as_of", "apply"]);
    assert!(is_parameter("as_of"), "no plugin may be called so");
}

proptest::proptest! {
    #[test]
    fn no_text_makes_the_parser_of_times_panic(raw in "[0-9TtZz:. +_é-]{0,40}") {
        let pairs = [("as_of".to_owned(), raw)];
        let _ = parse_data_at(&pairs, &[], NOW);
    }
}
