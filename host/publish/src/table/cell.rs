//! One cell of text to one value, as Table Schema writes values. Exact: nothing is trimmed, guessed
//! or rounded beyond what a 64-bit float does.

/// An integer: an optional sign and digits (Table Schema, integer).
pub(crate) fn parse_integer(text: &[u8]) -> Result<i64, &'static str> {
    let digits = text.strip_prefix(b"-").or_else(|| text.strip_prefix(b"+")).unwrap_or(text);
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err("is not an integer");
    }
    as_utf8(text)
        .parse()
        .map_err(|_| "does not fit a 64-bit integer; declare the column as string or number")
}

/// A number: decimal or exponent notation, `NaN`, `INF`, `-INF` (Table Schema, number). The nearest
/// float, so that printing it in shortest form gives back what round-trips.
pub(crate) fn number(text: &[u8]) -> Result<f64, &'static str> {
    match text {
        b"NaN" => return Ok(f64::NAN),
        b"INF" => return Ok(f64::INFINITY),
        b"-INF" => return Ok(f64::NEG_INFINITY),
        _ => {}
    }
    // Rust also takes `inf`, `infinity` and `nan` in any case; Table Schema does not.
    if !text.iter().all(|b| matches!(b, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E')) {
        return Err(if text.ends_with(b"%") {
            "is not a number; turn percentages into proportions"
        } else {
            "is not a number"
        });
    }
    match as_utf8(text).parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        Ok(_) => Err("is too large for a 64-bit float"),
        Err(_) => Err("is not a number"),
    }
}

/// A boolean, in the default words of Table Schema.
pub(crate) fn boolean(text: &[u8]) -> Result<bool, &'static str> {
    match text {
        b"true" | b"True" | b"TRUE" | b"1" => Ok(true),
        b"false" | b"False" | b"FALSE" | b"0" => Ok(false),
        _ => Err("is not a boolean; write true or false"),
    }
}

/// Fault of a date or period of a year that no filter, client or date range can hold.
const YEARS: &str = "is outside the years 0001 to 9999";

/// Returns whether `text` is a day of the proleptic Gregorian calendar as `YYYY-MM-DD`, of the
/// years that [`yearbook_domain::Date`] has (spec-2.2-dates).
pub(crate) fn check_date(text: &[u8]) -> Result<(), &'static str> {
    const FORM: &str = "is not a date of the form YYYY-MM-DD";
    let [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = text else { return Err(FORM) };
    let (Some(year), Some(month), Some(day)) =
        (parse_digits(&[*y1, *y2, *y3, *y4]), parse_digits(&[*m1, *m2]), parse_digits(&[*d1, *d2]))
    else {
        return Err(FORM);
    };
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => return Err("is not a date: there is no such month"),
    };
    match (1..=days).contains(&day) {
        true if year == 0 => Err(YEARS),
        true => Ok(()),
        false => Err("is not a date: the month has no such day"),
    }
}

/// Returns whether `text` is a period code: `YYYY-Qn`, `YYYY-MM`, `YYYY` or `YYYY/YY`, of the same
/// years as dates (spec-2.2-period).
pub(crate) fn check_period(text: &[u8]) -> Result<(), &'static str> {
    let known = match text.split_at_checked(4) {
        Some((year, rest)) if parse_digits(year).is_some() => match rest {
            [] | [b'-', b'Q', b'1'..=b'4'] | [b'/', b'0'..=b'9', b'0'..=b'9'] => true,
            [b'-', month @ ..] => {
                month.len() == 2
                    && parse_digits(month).is_some_and(|month| (1..=12).contains(&month))
            }
            _ => false,
        },
        _ => false,
    };
    match known {
        true if text.starts_with(b"0000") => Err(YEARS),
        true => Ok(()),
        false => Err("is not a period code: write YYYY-Qn, YYYY-MM, YYYY or YYYY/YY"),
    }
}

fn parse_digits(text: &[u8]) -> Option<u32> {
    text.iter().try_fold(0, |value, byte| {
        byte.is_ascii_digit().then(|| value * 10 + u32::from(byte - b'0'))
    })
}

/// Only called on text found to be ASCII; anything else gives the empty text, which no parser
/// takes.
fn as_utf8(text: &[u8]) -> &str {
    std::str::from_utf8(text).unwrap_or_default()
}

#[cfg(test)]
mod tests;
