//! The periods that statistics are dated by, as days since 1970-01-01, and the names of months.

use yearbook_sdk::text::CivilDate;

/// Names of the months as axes have them.
pub const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Days from 1970-01-01 to the first day of a period: `YYYY-MM-DD`, `YYYY`, `YYYY-MM`, `YYYY-Qn`
/// or `YYYYQn`. None for any other text.
#[must_use]
pub fn period_start(text: &str) -> Option<i64> {
    let year = number(text.get(..4)?)?;
    let first = |month| Some(CivilDate { year, month, day: 1 });
    let rest = text.get(4..)?;
    let rest = rest.strip_prefix('-').unwrap_or(rest);
    let date = match rest.as_bytes() {
        [] if text.len() == 4 => first(1),
        [b'Q' | b'q', quarter @ b'1'..=b'4'] => first(i64::from(quarter - b'1') * 3 + 1),
        [_, _] if text.len() == 7 => first(number(rest)?),
        [_, _, b'-', _, _] if text.len() == 10 => {
            Some(CivilDate { year, month: number(rest.get(..2)?)?, day: number(rest.get(3..)?)? })
        }
        _ => None,
    }?;
    // What no calendar has (month 13, 30 February) comes back as another date.
    let days = date.days();
    (date.month >= 1 && date.month <= 12 && CivilDate::from_days(days) == date).then_some(days)
}

/// The length of a period, which its code shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Length {
    /// `YYYY`.
    Year,
    /// `YYYY/YY`.
    FinancialYear,
    /// `YYYY-Qn` or `YYYYQn`.
    Quarter,
    /// `YYYY-MM`.
    Month,
    /// `YYYY-MM-DD`.
    Day,
    /// Not known: there is no code, or another one.
    Unknown,
}

impl Length {
    /// The length of the period that a code names.
    #[must_use]
    pub fn from_code(code: Option<&str>) -> Self {
        let rest = code.and_then(|code| code.as_bytes().get(4..));
        match rest {
            Some([]) => Self::Year,
            Some([b'/', _, _]) => Self::FinancialYear,
            Some([b'-', b'Q' | b'q', _] | [b'Q' | b'q', _]) => Self::Quarter,
            Some([b'-', _, _]) => Self::Month,
            Some([b'-', _, _, b'-', _, _]) => Self::Day,
            _ => Self::Unknown,
        }
    }

    /// Word for periods of this length.
    #[must_use]
    pub fn plural(self) -> &'static str {
        match self {
            Self::Year => "years",
            Self::FinancialYear => "financial years",
            Self::Quarter => "quarters",
            Self::Month => "months",
            Self::Day => "days",
            Self::Unknown => "unknown periods",
        }
    }
}

fn number(digits: &str) -> Option<i64> {
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_begin_on_their_first_day() {
        for (text, expected) in [
            ("1970-01-02", Some(1)),
            ("1970", Some(0)),
            ("1970-02", Some(31)),
            ("1970-Q2", Some(90)),
            ("1970Q2", Some(90)),
            ("1970-13", None),
            ("1970-02-30", None),
            ("1970-00-10", None),
            ("1970/71", None),
            ("197", None),
            ("", None),
            ("19é0", None),
            ("1970-Q5", None),
            ("1970-1-02", None),
        ] {
            assert_eq!(period_start(text), expected, "{text}");
        }
    }

    #[test]
    fn codes_show_the_length_of_their_periods() {
        for (codes, length) in [
            (vec!["1970"], Length::Year),
            (vec!["1970/71"], Length::FinancialYear),
            (vec!["1970-Q1", "1970Q4"], Length::Quarter),
            (vec!["1970-12"], Length::Month),
            (vec!["1970-12-31"], Length::Day),
            (vec!["", "197", "1970-1", "1970-S1-A", "é970"], Length::Unknown),
        ] {
            for code in codes {
                assert_eq!(Length::from_code(Some(code)), length, "{code}");
            }
        }
        assert_eq!(Length::from_code(None), Length::Unknown);
    }
}
