//! Values of one parameter, checked as Pydantic v2 checks them (contract-2-integers,
//! contract-2-booleans, contract-2-dates): dates, integers, booleans, numbers and members of a set.
//! The sentences about dates are those of speedate, the library that Pydantic itself parses dates
//! with.

use serde_json::json;
use speedate::DateTime;
use strum::EnumMessage;

use crate::validation::ParameterLocation;
use crate::{Date, ValidationError};

/// Kind of the problem of a moment where a date is wanted.
pub(super) const INEXACT_DATE: &str = "date_from_datetime_inexact";

/// Digits that Pydantic reads at most (Python's own bound).
const MAX_DIGITS: usize = 4300;

/// A date `YYYY-MM-DD` and nothing else.
///
/// # Errors
/// Pydantic's sentence for anything else. What Pydantic would read as a moment (a date with a time,
/// a Unix time) is refused as inexact, whatever the time is.
pub fn parse_date(name: &str, raw: &str) -> Result<Date, ValidationError> {
    if let Some(date) = Date::parse(raw) {
        return Ok(date);
    }
    Err(match DateTime::parse_bytes(raw.as_bytes()) {
        _ if speedate::Date::parse_bytes_rfc3339(raw.as_bytes()).is_ok() => {
            year_zero_error(name, raw)
        }
        Ok(moment) if moment.date.year == 0 => year_zero_error(name, raw),
        Ok(_) => ValidationError::invalid_query_parameter(
            name,
            INEXACT_DATE,
            "Datetimes provided to dates should have zero time - e.g. be exact dates",
            raw,
        ),
        Err(error) => {
            let error = error.get_documentation().unwrap_or("input is invalid");
            ValidationError::invalid_query_parameter(
                name,
                "date_from_datetime_parsing",
                format!("Input should be a valid date or datetime, {error}"),
                raw,
            )
            .with_context(json!({"error": error}))
        }
    })
}

fn year_zero_error(name: &str, raw: &str) -> ValidationError {
    let error = "year 0 is out of range";
    ValidationError::invalid_query_parameter(
        name,
        "date_parsing",
        format!("Input should be a valid date in the format YYYY-MM-DD, {error}"),
        raw,
    )
    .with_context(json!({"error": error}))
}

/// An integer that is not negative. One beyond `i64::MAX` is that number: no table has as many
/// rows, and sums of two still fit.
///
/// # Errors
/// `int_parsing`, `int_parsing_size` or `greater_than_equal`.
pub fn parse_count(name: &str, raw: &str) -> Result<u64, ValidationError> {
    let (negative, digits) = parse_integer_digits(name, raw)?;
    if negative && digits != "0" {
        let msg = "Input should be greater than or equal to 0";
        return Err(ValidationError::invalid_query_parameter(name, "greater_than_equal", msg, raw)
            .with_context(json!({"ge": 0})));
    }
    Ok(digits.parse().unwrap_or(u64::MAX).min(i64::MAX.unsigned_abs()))
}

/// A count of 1 to `max`.
///
/// # Errors
/// Those of [`parse_count`]; `greater_than_equal` or `less_than_equal` for what is out of range.
pub fn parse_positive(name: &str, raw: &str, max: u64) -> Result<u64, ValidationError> {
    let too_few = || {
        let msg = "Input should be greater than or equal to 1";
        ValidationError::invalid_query_parameter(name, "greater_than_equal", msg, raw)
            .with_context(json!({"ge": 1}))
    };
    match parse_count(name, raw) {
        Ok(0) => Err(too_few()),
        Err(problem) if problem.kind == "greater_than_equal" => Err(too_few()),
        Ok(count) if count > max => {
            let msg = format!("Input should be less than or equal to {max}");
            Err(ValidationError::invalid_query_parameter(name, "less_than_equal", &msg, raw)
                .with_context(json!({"le": max})))
        }
        parsed => parsed,
    }
}

/// An integer of 64 bits.
///
/// # Errors
/// `int_parsing`, or `int_parsing_size` beyond 64 bits.
pub fn parse_integer(name: &str, raw: &str) -> Result<i64, ValidationError> {
    let (negative, digits) = parse_integer_digits(name, raw)?;
    let signed = if negative { format!("-{digits}") } else { digits };
    signed.parse().map_err(|_| integer_too_large_error(name, raw))
}

/// An integer of 64 bits, also where it is written with an exponent: `1e+05`, as R and spreadsheets
/// write large ones. A plus that was not escaped is a blank in a query, and means the same.
///
/// # Errors
/// Those of [`parse_integer`].
pub fn parse_whole_number(name: &str, raw: &str) -> Result<i64, ValidationError> {
    match without_exponent(&with_plus(raw)) {
        Some(digits) => parse_integer(name, &digits)
            .map_err(|problem| ValidationError { input: Some(raw.to_owned()), ..problem }),
        None => parse_integer(name, raw),
    }
}

/// `raw` without white space around it, and with the plus of an exponent that decoding a query made
/// a blank.
fn with_plus(raw: &str) -> String {
    raw.trim().replace("e ", "e+").replace("E ", "E+")
}

/// `1.5e3` as `1500`. `None` without an exponent, for what is no whole number, and for more digits
/// than any integer of 64 bits has.
fn without_exponent(text: &str) -> Option<String> {
    const MAX_EXPONENT: usize = 32;
    let (mantissa, exponent) = text.split_once(['e', 'E'])?;
    let exponent: i32 = exponent.parse().ok()?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let (sign, whole) = match whole.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", whole.strip_prefix('+').unwrap_or(whole)),
    };
    let whole = without_underscores(whole)?;
    let mut digits = whole.bytes().chain(fraction.bytes());
    if !digits.clone().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    if digits.all(|digit| digit == b'0') {
        return Some("0".to_owned());
    }
    match usize::try_from(exponent) {
        Ok(exponent) if exponent <= MAX_EXPONENT => {
            let fraction = fraction.trim_end_matches('0');
            let zeros = exponent.checked_sub(fraction.len())?;
            Some(format!("{sign}{whole}{fraction}{}", "0".repeat(zeros)))
        }
        Ok(_) => None,
        Err(_) => {
            let shift = usize::try_from(exponent.unsigned_abs()).ok()?;
            let is_whole = fraction.bytes().all(|byte| byte == b'0');
            let kept = whole.len().checked_sub(shift).filter(|_| is_whole)?;
            let (kept, dropped) = whole.split_at_checked(kept)?;
            dropped.bytes().all(|byte| byte == b'0').then(|| format!("{sign}{kept}"))
        }
    }
}

/// Sign and digits without leading zeros, of what Pydantic reads as an integer: surrounded by white
/// space, signed, with single underscores between digits, followed by a fraction of zeros.
fn parse_integer_digits(name: &str, raw: &str) -> Result<(bool, String), ValidationError> {
    let parse = || {
        let text = raw.trim();
        let (negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let whole = match text.split_once('.') {
            Some((whole, zeros)) if !zeros.is_empty() && zeros.bytes().all(|byte| byte == b'0') => {
                whole
            }
            Some(_) => return None,
            None => text,
        };
        let digits = without_underscores(whole)?;
        digits.bytes().all(|byte| byte.is_ascii_digit()).then_some((negative, digits))
    };
    let (negative, digits) = parse().ok_or_else(|| {
        ValidationError::invalid_query_parameter(
            name,
            "int_parsing",
            "Input should be a valid integer, unable to parse string as an integer",
            raw,
        )
    })?;
    let digits = digits.trim_start_matches('0');
    match digits.len() {
        0 => Ok((negative, "0".to_owned())),
        length if length > MAX_DIGITS => Err(integer_too_large_error(name, raw)),
        _ => Ok((negative, digits.to_owned())),
    }
}

fn integer_too_large_error(name: &str, raw: &str) -> ValidationError {
    ValidationError::invalid_query_parameter(
        name,
        "int_parsing_size",
        "Unable to parse input string as an integer, exceeded maximum size",
        raw,
    )
}

/// None where an underscore does not stand alone between two other characters, or nothing is left.
fn without_underscores(text: &str) -> Option<String> {
    (!text.is_empty() && text.split('_').all(|part| !part.is_empty()))
        .then(|| text.replace('_', ""))
}

/// A boolean: true/false/1/0/yes/no/on/off/t/f/y/n in any case.
///
/// # Errors
/// `bool_parsing`.
pub fn parse_boolean(name: &str, raw: &str) -> Result<bool, ValidationError> {
    match raw.to_ascii_lowercase().as_str() {
        "true" | "1" | "yes" | "on" | "t" | "y" => Ok(true),
        "false" | "0" | "no" | "off" | "f" | "n" => Ok(false),
        _ => Err(ValidationError::invalid_query_parameter(
            name,
            "bool_parsing",
            "Input should be a valid boolean, unable to interpret input",
            raw,
        )),
    }
}

/// A finite number.
///
/// # Errors
/// `float_parsing` or `finite_number`.
pub fn parse_number(name: &str, raw: &str) -> Result<f64, ValidationError> {
    let parsed: Option<f64> = without_underscores(raw.trim()).and_then(|text| text.parse().ok());
    match parsed {
        Some(number) if number.is_finite() => Ok(number),
        Some(_) => Err(not_finite(name, raw)),
        None => Err(not_a_number(name, raw)),
    }
}

/// A number, or one of the words `NaN`, `INF` and `-INF`.
///
/// # Errors
/// `float_parsing` for any other word; `finite_number` for more than a double holds.
pub fn parse_any_number(name: &str, raw: &str) -> Result<f64, ValidationError> {
    match raw {
        "NaN" => Ok(f64::NAN),
        "INF" => Ok(f64::INFINITY),
        "-INF" => Ok(f64::NEG_INFINITY),
        _ if raw.bytes().any(|byte| byte.is_ascii_alphabetic() && !matches!(byte, b'e' | b'E')) => {
            Err(not_a_number(name, raw))
        }
        _ => parse_number(name, &with_plus(raw))
            .map_err(|problem| ValidationError { input: Some(raw.to_owned()), ..problem }),
    }
}

/// The problem of a number that is not finite.
#[must_use]
pub fn not_finite(name: &str, raw: &str) -> ValidationError {
    ValidationError::invalid_query_parameter(
        name,
        "finite_number",
        "Input should be a finite number",
        raw,
    )
}

fn not_a_number(name: &str, raw: &str) -> ValidationError {
    ValidationError::invalid_query_parameter(
        name,
        "float_parsing",
        "Input should be a valid number, unable to parse string as a number",
        raw,
    )
}

/// One of `allowed`, as written there.
///
/// # Errors
/// `literal_error`, which lists them in their order; an empty one stands for no value, so nobody is
/// told to send it.
pub fn check_literal<'a>(
    name: &str,
    raw: &str,
    allowed: impl IntoIterator<Item = &'a str>,
) -> Result<(), ValidationError> {
    let allowed: Vec<&str> = allowed.into_iter().collect();
    if allowed.contains(&raw) {
        return Ok(());
    }
    let named: Vec<&str> = allowed.into_iter().filter(|text| !text.is_empty()).collect();
    let expected = format_alternatives(&named);
    Err(ValidationError::invalid_query_parameter(
        name,
        "literal_error",
        format!("Input should be {expected}"),
        raw,
    )
    .with_context(json!({"expected": expected})))
}

/// `'a', 'b' or 'c'`.
fn format_alternatives(values: &[&str]) -> String {
    let quoted: Vec<String> = values.iter().map(|value| format!("'{value}'")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
        None => String::new(),
    }
}

impl ValidationError {
    /// A problem of a query parameter that was sent.
    fn invalid_query_parameter(
        name: &str,
        kind: &'static str,
        msg: impl Into<String>,
        raw: &str,
    ) -> Self {
        Self::new(ParameterLocation::Query, name, kind, msg, Some(raw))
    }
}

#[cfg(test)]
mod tests;
