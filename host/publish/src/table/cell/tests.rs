//! Every kind of cell: what is read, what is a fault (spec-2.2-dates, spec-2.2-period,
//! spec-2.2-booleans).

use super::*;

#[test]
fn integers_are_exact_over_the_whole_64_bits() {
    for (text, value) in [
        ("0", 0),
        ("-7", -7),
        ("+7", 7),
        ("007", 7),
        ("9223372036854775807", i64::MAX),
        ("-9223372036854775808", i64::MIN),
    ] {
        assert_eq!(parse_integer(text.as_bytes()), Ok(value), "{text}");
    }
    for text in
        ["", "-", "+", "1.0", "1e3", " 1", "1 ", "1_000", "1,000", "0x1", "NaN", "９", "--1"]
    {
        assert_eq!(parse_integer(text.as_bytes()), Err("is not an integer"), "{text}");
    }
    for text in ["9223372036854775808", "-9223372036854775809"] {
        assert!(
            parse_integer(text.as_bytes()).is_err_and(|why| why.contains("64-bit integer")),
            "{text}"
        );
    }
}

#[test]
fn numbers_are_the_nearest_float_and_have_the_words_of_table_schema() {
    for (text, value) in [
        ("0.1", 0.1),
        ("-0.0", -0.0),
        (".5", 0.5),
        ("5.", 5.0),
        ("1e-3", 0.001),
        ("1E+300", 1e300),
        ("+2", 2.0),
    ] {
        assert_eq!(number(text.as_bytes()).map(f64::to_bits), Ok(f64::to_bits(value)), "{text}");
    }
    // The last bit, where a sloppy parser fails: 2^53 + 1 rounds to even, the smallest denormal is
    // not zero.
    assert_eq!(
        number(b"9007199254740993").map(f64::to_bits),
        Ok(9_007_199_254_740_992_f64.to_bits())
    );
    assert_eq!(number(b"5e-324").map(f64::to_bits), Ok(1));
    assert_eq!(number(b"INF"), Ok(f64::INFINITY));
    assert_eq!(number(b"-INF"), Ok(f64::NEG_INFINITY));
    assert!(number(b"NaN").is_ok_and(f64::is_nan));
    for text in [
        "", ".", "-", "e5", "1e", "nan", "inf", "Infinity", "-inf", "+INF", "1,5", " 1", "1 ",
        "0x1p3", "1_0", "NA",
    ] {
        assert_eq!(number(text.as_bytes()), Err("is not a number"), "{text}");
    }
    assert_eq!(number(b"1e999"), Err("is too large for a 64-bit float"));
    assert!(number(b"12%").is_err_and(|why| why.contains("proportions")));
}

#[test]
fn booleans_are_the_default_words_of_table_schema() {
    for text in ["true", "True", "TRUE", "1"] {
        assert_eq!(boolean(text.as_bytes()), Ok(true), "{text}");
    }
    for text in ["false", "False", "FALSE", "0"] {
        assert_eq!(boolean(text.as_bytes()), Ok(false), "{text}");
    }
    for text in ["", "yes", "Y", "tRUE", " true", "2"] {
        assert!(boolean(text.as_bytes()).is_err(), "{text}");
    }
}

#[test]
fn dates_are_days_of_the_calendar_spec_2_2() {
    for text in ["2020-02-29", "2000-02-29", "1999-12-31", "0001-01-01", "9999-12-31", "2026-04-30"]
    {
        assert_eq!(check_date(text.as_bytes()), Ok(()), "{text}");
    }
    for text in [
        "",
        "2020-1-01",
        "2020-01-1",
        "20200101",
        "2020/01/01",
        "2020-01-01T00:00:00",
        " 2020-01-01",
        "-020-01-01",
        "2020-0a-01",
    ] {
        assert_eq!(
            check_date(text.as_bytes()),
            Err("is not a date of the form YYYY-MM-DD"),
            "{text}"
        );
    }
    for text in ["2021-02-29", "1900-02-29", "2020-04-31", "2020-01-32", "2020-01-00"] {
        assert_eq!(
            check_date(text.as_bytes()),
            Err("is not a date: the month has no such day"),
            "{text}"
        );
    }
    for text in ["0000-02-29", "0000-12-31"] {
        assert_eq!(check_date(text.as_bytes()), Err(YEARS), "{text}");
        assert!(yearbook_domain::Date::parse(text).is_none(), "{text}: as filters have it");
    }
    for text in ["2020-13-01", "2020-00-10"] {
        assert_eq!(
            check_date(text.as_bytes()),
            Err("is not a date: there is no such month"),
            "{text}"
        );
    }
}

#[test]
fn period_codes_have_four_forms_spec_2_2() {
    for text in ["2020-Q1", "2020-Q4", "2020-01", "2020-12", "2020", "2019/20", "1999/00"] {
        assert_eq!(check_period(text.as_bytes()), Ok(()), "{text}");
    }
    for text in [
        "",
        "2020-Q0",
        "2020-Q5",
        "2020Q1",
        "2020-q1",
        "2020-00",
        "2020-13",
        "2020-1",
        "20",
        "2019/2020",
        "2019-20x",
        "2020-",
        "é020",
        "2020 ",
    ] {
        assert!(check_period(text.as_bytes()).is_err(), "{text}");
    }
    for text in ["0000", "0000-Q1", "0000-01", "0000/01"] {
        assert_eq!(check_period(text.as_bytes()), Err(YEARS), "{text}");
    }
    assert_eq!(check_period(b"0001"), Ok(()));
}
