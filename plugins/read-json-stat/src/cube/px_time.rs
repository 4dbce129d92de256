//! Codes of time in cubes that were PX tables, as the offices of Ireland and Northern Ireland serve
//! them: the id of the dimension is the table's time scale, and a code has no separator (PX file
//! format, `TIMEVAL`). Owns how such a code is spelled for the calendar; knows no calendar.

use std::borrow::Cow;

/// The code of a period, spelled as periods are read: `197511` of `TLIST(M1)` as `1975-11`. Codes
/// of another dimension and of another length stay as they are, and so do weeks, which begin on
/// another day in each country.
pub(super) fn spell_period<'a>(dimension: &str, code: &'a str) -> Cow<'a, str> {
    let (between, length) = match dimension {
        "TLIST(H1)" => ("-S", 5),
        "TLIST(Q1)" => ("-Q", 5),
        "TLIST(M1)" => ("-", 6),
        _ => return Cow::Borrowed(code),
    };
    if code.len() != length || !code.bytes().all(|byte| byte.is_ascii_digit()) {
        return Cow::Borrowed(code);
    }
    let (year, number) = code.split_at(4);
    Cow::Owned(format!("{year}{between}{number}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_codes_of_a_px_time_scale_are_spelled_anew() {
        for (dimension, code, expected) in [
            ("TLIST(M1)", "197511", "1975-11"),
            ("TLIST(Q1)", "20184", "2018-Q4"),
            ("TLIST(H1)", "20182", "2018-S2"),
            ("TLIST(A1)", "2018", "2018"),
            ("TLIST(W1)", "201852", "201852"),
            ("TLIST(M1)", "1975-11", "1975-11"),
            ("TLIST(M1)", "1975M1", "1975M1"),
            ("TLIST(M1)", "２０", "２０"),
            ("TIME", "197511", "197511"),
        ] {
            assert_eq!(spell_period(dimension, code), expected, "{dimension}");
        }
    }
}
