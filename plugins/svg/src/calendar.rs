//! Days since 1970-01-01 as dates of the proleptic Gregorian calendar, and the periods that
//! statistics are dated by.

/// A date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CivilDate {
    /// Year; 0 is 1 BC.
    pub year: i64,
    /// Month, from 1.
    pub month: i64,
    /// Day of the month, from 1.
    pub day: i64,
}

/// Names of the months as axes have them.
pub const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

impl CivilDate {
    /// The date so many days after 1970-01-01. (The year begins in March here, which puts the
    /// day that leap years add at its end.)
    #[must_use]
    pub fn from_days(days: i64) -> Self {
        let shifted = days + 719_468;
        let era = shifted.div_euclid(146_097);
        let day_of_era = shifted.rem_euclid(146_097);
        let year_of_era =
            (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let march_month = (5 * day_of_year + 2) / 153;
        let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
        Self {
            year: year_of_era + era * 400 + i64::from(month <= 2),
            month,
            day: day_of_year - (153 * march_month + 2) / 5 + 1,
        }
    }

    /// Days since 1970-01-01.
    #[must_use]
    pub fn days(self) -> i64 {
        let year = self.year - i64::from(self.month <= 2);
        let era = year.div_euclid(400);
        let year_of_era = year.rem_euclid(400);
        let march_month = (self.month + 9) % 12;
        let day_of_year = (153 * march_month + 2) / 5 + self.day - 1;
        let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
        era * 146_097 + day_of_era - 719_468
    }

    /// As ISO 8601 writes it.
    #[must_use]
    pub fn iso(self) -> String {
        format!("{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

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

fn number(digits: &str) -> Option<i64> {
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_dates_are_each_others_inverse() {
        for (days, iso) in [
            (0, "1970-01-01"),
            (-1, "1969-12-31"),
            (11_016, "2000-02-29"),
            (19_782, "2024-02-29"),
            (-719_468, "0000-03-01"),
        ] {
            assert_eq!(CivilDate::from_days(days).iso(), iso);
        }
        for days in (-800_000..800_000).step_by(97) {
            assert_eq!(CivilDate::from_days(days).days(), days);
        }
    }

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
}
