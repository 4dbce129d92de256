//! Answers of Pydantic 2.14 to each of these texts; the few places where contract-2-dates is
//! narrower stand apart.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;

const COUNTS: &[(&str, Result<u64, &str>)] = &[
    ("5", Ok(5)),
    ("+5", Ok(5)),
    (" 1", Ok(1)),
    ("1 ", Ok(1)),
    ("1_000", Ok(1000)),
    ("1.0", Ok(1)),
    ("1.", Err("int_parsing")),
    ("1.00", Ok(1)),
    (".0", Err("int_parsing")),
    ("1.5", Err("int_parsing")),
    ("-0", Ok(0)),
    ("-1", Err("greater_than_equal")),
    ("-1.0", Err("greater_than_equal")),
    ("+", Err("int_parsing")),
    ("-", Err("int_parsing")),
    ("", Err("int_parsing")),
    ("_1", Err("int_parsing")),
    ("1_", Err("int_parsing")),
    ("1__0", Err("int_parsing")),
    ("1_0.0", Ok(10)),
    ("1.0_0", Err("int_parsing")),
    ("+ 5", Err("int_parsing")),
    ("++5", Err("int_parsing")),
    ("-+5", Err("int_parsing")),
    ("0x10", Err("int_parsing")),
    ("1e3", Err("int_parsing")),
    ("\u{663}", Err("int_parsing")),
    ("\u{ff19}", Err("int_parsing")),
    ("00", Ok(0)),
    ("007", Ok(7)),
    ("0_0", Ok(0)),
    ("\u{9}5\u{a}", Ok(5)),
    ("\u{b}5", Ok(5)),
    ("\u{a0}5", Ok(5)),
    ("\u{2003}5", Ok(5)),
    ("5\u{0}", Err("int_parsing")),
    ("NaN", Err("int_parsing")),
    ("inf", Err("int_parsing")),
    ("1.0.0", Err("int_parsing")),
    ("0.0", Ok(0)),
    ("-0.0", Ok(0)),
    ("1 0", Err("int_parsing")),
    ("\u{1c}5", Err("int_parsing")),
    ("\u{200b}5", Err("int_parsing")),
    ("true", Err("int_parsing")),
    ("1.0 ", Ok(1)),
    (" +5 ", Ok(5)),
    ("+0", Ok(0)),
    ("-_1", Err("int_parsing")),
    ("+_1", Err("int_parsing")),
    ("_", Err("int_parsing")),
    ("1._0", Err("int_parsing")),
    ("00_1", Ok(1)),
    ("-00", Ok(0)),
    ("1.0e0", Err("int_parsing")),
    ("-.0", Err("int_parsing")),
    ("1 .0", Err("int_parsing")),
    ("1. 0", Err("int_parsing")),
    (" ", Err("int_parsing")),
    ("+1_0", Ok(10)),
    ("9223372036854775807", Ok(9223372036854775807)),
    ("-99999999999999999999", Err("greater_than_equal")),
];
const DATES: &[(&str, &str)] = &[
    ("2020-01-01", ""),
    ("2020-02-29", ""),
    ("9999-12-31", ""),
    ("0001-01-01", ""),
    ("2020-02-30", "day value is outside expected range"),
    ("2021-02-29", "day value is outside expected range"),
    ("1900-02-29", "day value is outside expected range"),
    ("2020-04-31", "day value is outside expected range"),
    ("2020-13-01", "month value is outside expected range of 1-12"),
    ("2020-00-01", "month value is outside expected range of 1-12"),
    ("2020-01-00", "day value is outside expected range"),
    ("2020/01/01", "invalid date separator, expected `-`"),
    ("2020-01/01", "invalid date separator, expected `-`"),
    ("abc", "input is too short"),
    ("", "input is too short"),
    ("2020-1-1", "input is too short"),
    ("2020-01", "input is too short"),
    ("2020-Q1", "input is too short"),
    ("2020-01-0", "input is too short"),
    ("1e5", "input is too short"),
    ("1_000", "input is too short"),
    ("NaN", "input is too short"),
    ("today", "input is too short"),
    ("\u{e9}", "input is too short"),
    ("2020-01-01T25:00", "hour value is outside expected range of 0-23"),
    ("2020-01-01x", "invalid datetime separator, expected `T`, `t`, `_` or space"),
    ("2020-01-011", "invalid datetime separator, expected `T`, `t`, `_` or space"),
    ("2020-01-01 ", "input is too short"),
    ("2020-01-01T", "input is too short"),
    ("2020-01-01T10", "input is too short"),
    (" 2020-01-01", "invalid character in year"),
    ("abcd-01-01", "invalid character in year"),
    ("2020-ab-01", "invalid character in month"),
    ("2020-01-ab", "invalid character in day"),
    ("99999999999999999999", "invalid date separator, expected `-`"),
    ("-99999999999999", "dates before 0000 are not supported as unix timestamps"),
    ("2020-01-01T10:00:00+25:00", "timezone offset must be less than 24 hours"),
    ("\u{ff12}\u{ff10}\u{ff12}\u{ff10}-01-01", "invalid character in year"),
    ("12345-01-01", "invalid date separator, expected `-`"),
    ("2020-01-01T00:00:00+00", "invalid timezone minute"),
    ("2020-01-01T00:00:00 Z", "invalid timezone sign"),
    ("2020\u{2212}01\u{2212}01", "invalid date separator, expected `-`"),
    ("0000-13-01", "month value is outside expected range of 1-12"),
];

#[test]
fn counts_are_read_as_pydantic_reads_integers_contract_2() {
    for (raw, expected) in COUNTS {
        assert_eq!(parse_count("limit", raw).map_err(|problem| problem.kind), *expected, "{raw:?}");
    }
}

#[test]
fn digits_are_bounded_as_pydantic_bounds_them() {
    assert_eq!(parse_count("limit", &"9".repeat(4300)), Ok(i64::MAX.unsigned_abs()));
    assert_eq!(parse_count("limit", &"9".repeat(4301)).unwrap_err().kind, "int_parsing_size");
    assert_eq!(parse_count("limit", &"0".repeat(5000)), Ok(0));
    assert_eq!(parse_count("limit", "18446744073709551616"), Ok(i64::MAX.unsigned_abs()));
}

#[test]
fn dates_get_pydantics_sentences_contract_2() {
    for (raw, error) in DATES {
        match parse_date("start", raw) {
            Ok(date) => assert_eq!((date.as_str(), *error), (*raw, ""), "{raw:?}"),
            Err(problem) => {
                assert_eq!(problem.kind, "date_from_datetime_parsing", "{raw:?}");
                assert_eq!(
                    problem.msg,
                    format!("Input should be a valid date or datetime, {error}"),
                    "{raw:?}"
                );
                assert_eq!(problem.ctx.as_deref(), Some(&json!({"error": error})), "{raw:?}");
            }
        }
    }
}

#[test]
fn moments_are_inexact_even_at_midnight_contract_2() {
    for raw in [
        "2020",
        "20200101",
        "0",
        "1577836800",
        "-1",
        "+5",
        "1.5",
        "1234567890123",
        "2020-01-01T00:00",
        "2020-01-01 00:00:00",
        "2020-01-01T10:00:00Z",
    ] {
        let problem = parse_date("end", raw).unwrap_err();
        assert_eq!(
            (problem.kind, problem.ctx.clone()),
            ("date_from_datetime_inexact", None),
            "{raw:?}"
        );
        assert_eq!(
            problem.msg,
            "Datetimes provided to dates should have zero time - e.g. be exact dates"
        );
    }
}

#[test]
fn there_is_no_year_zero() {
    for raw in ["0000-01-01", "0000-01-01T00:00"] {
        let problem = parse_date("start", raw).unwrap_err();
        assert_eq!(problem.kind, "date_parsing", "{raw}");
        assert_eq!(
            problem.msg,
            "Input should be a valid date in the format YYYY-MM-DD, year 0 is out of range"
        );
    }
}

#[test]
fn booleans_are_words_in_any_case_contract_2() {
    for raw in ["true", "True", "TRUE", "t", "T", "1", "yes", "Y", "on", "ON", "tRuE"] {
        assert_eq!(parse_boolean("geometry", raw), Ok(true), "{raw}");
    }
    for raw in ["false", "0", "off", "n", "No", "f", "FALSE"] {
        assert_eq!(parse_boolean("geometry", raw), Ok(false), "{raw}");
    }
    for raw in ["", " true", "true ", "2", "1.0", "maybe", "ｔ"] {
        assert_eq!(parse_boolean("geometry", raw).unwrap_err().kind, "bool_parsing", "{raw:?}");
    }
}

#[test]
fn numbers_are_read_as_pydantic_reads_them() {
    for (raw, expected) in [
        ("1.5", 1.5),
        ("1_0.5", 10.5),
        (" 1 ", 1.0),
        ("1e5", 100_000.0),
        (".5", 0.5),
        ("5.", 5.0),
        ("-2", -2.0),
    ] {
        assert_eq!(parse_number("x.y", raw), Ok(expected), "{raw}");
    }
    for raw in ["abc", "", "0x1", "1__0", "1,5"] {
        assert_eq!(parse_number("x.y", raw).unwrap_err().kind, "float_parsing", "{raw}");
    }
    for raw in ["nan", "inf", "+inf", "infinity", "1e999"] {
        assert_eq!(parse_number("x.y", raw).unwrap_err().kind, "finite_number", "{raw}");
    }
}

#[test]
fn whole_numbers_have_exponents_contract_15() {
    for (raw, expected) in [
        ("1e+05", 100_000),
        ("1e 0", 1),
        (" 1E 2 ", 100),
        ("-1.5e3", -1_500),
        ("+12e1", 120),
        ("1_0e-1", 1),
        ("-1_000.00e-3", -1),
        ("0e-5", 0),
        ("-0.0e99", 0),
        ("9223372036854775807e0", i64::MAX),
    ] {
        assert_eq!(parse_whole_number("where.n", raw), Ok(expected), "{raw:?}");
    }
    for (raw, kind) in [
        ("1e-1", "int_parsing"),
        ("1.5e0", "int_parsing"),
        ("1__0e1", "int_parsing"),
        ("--1e1", "int_parsing"),
        ("e1", "int_parsing"),
        ("1e", "int_parsing"),
        ("1e 5 5", "int_parsing"),
        ("1e19", "int_parsing_size"),
    ] {
        let problem = parse_whole_number("where.n", raw).unwrap_err();
        assert_eq!((problem.kind, problem.input.as_deref()), (kind, Some(raw)), "{raw:?}");
    }
}

#[test]
fn a_plus_that_became_a_blank_is_a_plus_contract_15() {
    for (raw, expected) in [("1.5e 3", 1_500.0), ("1E 0", 1.0), (" 5 ", 5.0), ("-2e-1", -0.2)] {
        assert_eq!(parse_any_number("where.x", raw), Ok(expected), "{raw:?}");
    }
    for (raw, kind) in
        [("1 5", "float_parsing"), ("1e  5", "float_parsing"), ("1e 999", "finite_number")]
    {
        let problem = parse_any_number("where.x", raw).unwrap_err();
        assert_eq!((problem.kind, problem.input.as_deref()), (kind, Some(raw)), "{raw:?}");
    }
}
