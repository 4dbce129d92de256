//! Periods of time as statistical formats write them: years, halves, thirds, quarters, months,
//! weeks, days and ranges (SDMX 3.0, "Observational Time Period"), with and without the hyphen that
//! some agencies leave out.

use std::fmt;

use crate::text::CivilDate;

/// A period of time: its first and last day, and what it is called here.
///
/// ```
/// use yearbook_sdk::reader::TimePeriod;
///
/// let quarter = TimePeriod::parse("2026-Q2")?;
/// assert_eq!(quarter.day(false)?.as_str(), "2026-04-01");
/// # Ok::<(), yearbook_sdk::reader::PeriodError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimePeriod {
    /// Days since 1970-01-01, the last one included; none for a financial year, which begins
    /// another day in each country.
    days: Option<(i64, i64)>,
    form: PeriodForm,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PeriodForm {
    Year(i64),
    Quarter(i64, i64),
    Month(i64, i64),
    /// A financial year by the year that it begins in.
    FinancialYear(i64),
    Other,
}

/// Text that is no period, or a period that has no such form.
///
/// ```
/// use yearbook_sdk::reader::TimePeriod;
///
/// assert!(TimePeriod::parse("soon").is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PeriodError {
    /// Not a period of time.
    Unknown,
    /// A period without a code of the four forms.
    NoCode,
    /// A financial year, whose first day is unknown.
    NoDay,
}

impl fmt::Display for PeriodError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unknown => "is no period of time; periods are 2024, 2024-S1, 2024-T1, 2024-Q1, 2024-M01, 2024-01, 2024-W01, 2024-D001, 2024-01-31, 2024-01-01/P1Y, 2024-01-01/2024-12-31 and 2024/25",
            Self::NoCode => "has no code of the forms YYYY, YYYY-Qn, YYYY-MM and YYYY/YY; declare the column as date, or name it otherwise than period",
            Self::NoDay => "is a financial year, whose first day the file does not tell; declare the column as string and call it period",
        })
    }
}

impl std::error::Error for PeriodError {}

/// A day as `YYYY-MM-DD`.
///
/// ```
/// use yearbook_sdk::reader::TimePeriod;
///
/// assert_eq!(TimePeriod::parse("2026")?.day(true)?.as_str(), "2026-12-31");
/// # Ok::<(), yearbook_sdk::reader::PeriodError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DayText([u8; 10]);

impl DayText {
    /// The text.
    ///
    /// ```
    /// use yearbook_sdk::reader::TimePeriod;
    ///
    /// assert_eq!(TimePeriod::parse("2026-02")?.day(true)?.as_str(), "2026-02-28");
    /// # Ok::<(), yearbook_sdk::reader::PeriodError>(())
    /// ```
    #[must_use]
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }

    fn new(days: i64) -> Self {
        let (year, month, day) = civil(days);
        let mut text = *b"0000-00-00";
        for (at, mut value, width) in [(0, year, 4), (5, month, 2), (8, day, 2)] {
            for place in (at..at + width).rev() {
                text[place] = b'0' + u8::try_from(value % 10).unwrap_or_default();
                value /= 10;
            }
        }
        Self(text)
    }
}

impl TimePeriod {
    /// Reads a period.
    ///
    /// ```
    /// use yearbook_sdk::reader::TimePeriod;
    ///
    /// assert!(TimePeriod::parse("2026-Q2").is_ok() && TimePeriod::parse("2026-Q9").is_err());
    /// ```
    ///
    /// # Errors
    /// [`PeriodError::Unknown`].
    pub fn parse(text: &str) -> Result<Self, PeriodError> {
        parse(text.as_bytes()).ok_or(PeriodError::Unknown)
    }

    /// Its first or last day.
    ///
    /// ```
    /// use yearbook_sdk::reader::TimePeriod;
    ///
    /// assert_eq!(TimePeriod::parse("2026-02")?.day(false)?.as_str(), "2026-02-01");
    /// # Ok::<(), yearbook_sdk::reader::PeriodError>(())
    /// ```
    ///
    /// # Errors
    /// [`PeriodError::NoDay`].
    pub fn day(&self, last: bool) -> Result<DayText, PeriodError> {
        let (first_day, last_day) = self.days.ok_or(PeriodError::NoDay)?;
        Ok(DayText::new(if last { last_day } else { first_day }))
    }

    /// Its code: `YYYY`, `YYYY-Qn`, `YYYY-MM` or `YYYY/YY`.
    ///
    /// ```
    /// use yearbook_sdk::reader::TimePeriod;
    ///
    /// assert_eq!(TimePeriod::parse("2026-Q2")?.code()?, "2026-Q2");
    /// # Ok::<(), yearbook_sdk::reader::PeriodError>(())
    /// ```
    ///
    /// # Errors
    /// [`PeriodError::NoCode`].
    pub fn code(&self) -> Result<String, PeriodError> {
        match self.form {
            PeriodForm::Year(year) => Ok(format!("{year:04}")),
            PeriodForm::Quarter(year, quarter) => Ok(format!("{year:04}-Q{quarter}")),
            PeriodForm::Month(year, month) => Ok(format!("{year:04}-{month:02}")),
            PeriodForm::FinancialYear(year) => Ok(format!("{year:04}/{:02}", (year + 1) % 100)),
            PeriodForm::Other => Err(PeriodError::NoCode),
        }
    }
}

fn parse(text: &[u8]) -> Option<TimePeriod> {
    let (year, rest) = (digits(text.get(..4)?)?, text.get(4..)?);
    match rest {
        [] => months(year, 1, 12, PeriodForm::Year(year)),
        [b'/', tail @ ..] if tail.len() == 2 || tail.len() == 4 => {
            let next = digits(tail)?;
            let follows = if tail.len() == 2 { (year + 1) % 100 == next } else { year + 1 == next };
            follows.then_some(TimePeriod { days: None, form: PeriodForm::FinancialYear(year) })
        }
        [b'-', b'0'..=b'9', ..] => parse_calendar(year, text),
        [b'-', kind, number @ ..] | [kind, number @ ..] => parse_coded(year, *kind, number),
    }
}

/// `2024-01`, `2024-01-31`, a time of that day, and ranges.
fn parse_calendar(year: i64, text: &[u8]) -> Option<TimePeriod> {
    let month = digits(text.get(5..7)?)?;
    let Some(rest) = text.get(7..).filter(|rest| !rest.is_empty()) else {
        return months(year, month, 1, PeriodForm::Month(year, month));
    };
    let day = day_number(text.get(..10)?)?;
    let range = match rest.get(3..)? {
        [] => (day, day),
        // A point in time: its day.
        [b'T', time @ ..] if !time.contains(&b'/') => is_time(time).then_some((day, day))?,
        [b'T', time @ ..] => {
            let at = time.iter().position(|byte| *byte == b'/')?;
            is_time(&time[..at]).then_some(())?;
            (day, range_end(day, &time[at + 1..])?)
        }
        [b'/', end @ ..] => (day, range_end(day, end)?),
        _ => return None,
    };
    Some(TimePeriod { days: Some(range), form: form_of(range) })
}

/// The last day of a range that begins at `first`: a duration, or the day itself.
fn range_end(first: i64, end: &[u8]) -> Option<i64> {
    let last = match end {
        [b'P', number @ .., unit] => {
            let count = digits(number).filter(|count| (1..=10_000).contains(count))?;
            match unit {
                b'D' => first + count - 1,
                b'W' => first + 7 * count - 1,
                b'M' => add_months(first, count)? - 1,
                b'Y' => add_months(first, 12 * count)? - 1,
                _ => return None,
            }
        }
        _ => {
            let rest = end.get(10..)?;
            let whole = rest.is_empty() || rest.strip_prefix(b"T").is_some_and(is_time);
            day_number(end.get(..10)?).filter(|_| whole)?
        }
    };
    // Years have four digits.
    (first <= last && civil(last).0 <= 9999).then_some(last)
}

/// The name of a range that is just a year, a quarter or a month.
fn form_of((first, last): (i64, i64)) -> PeriodForm {
    let (year, month, day) = civil(first);
    let ends_after = |months| day == 1 && add_months(first, months) == Some(last + 1);
    match month {
        1 if ends_after(12) => PeriodForm::Year(year),
        1 | 4 | 7 | 10 if ends_after(3) => PeriodForm::Quarter(year, (month + 2) / 3),
        _ if ends_after(1) => PeriodForm::Month(year, month),
        _ => PeriodForm::Other,
    }
}

/// `Q1`, `M01` and the like.
fn parse_coded(year: i64, kind: u8, number: &[u8]) -> Option<TimePeriod> {
    let number = digits(number).filter(|_| number.len() <= 3)?;
    let within = |most: i64| (1..=most).contains(&number).then_some(());
    match kind {
        b'A' => (number <= 1).then(|| months(year, 1, 12, PeriodForm::Year(year)))?,
        b'S' | b'H' => {
            within(2)?;
            months(year, 6 * number - 5, 6, PeriodForm::Other)
        }
        b'T' => {
            within(3)?;
            months(year, 4 * number - 3, 4, PeriodForm::Other)
        }
        b'Q' => {
            within(4)?;
            months(year, 3 * number - 2, 3, PeriodForm::Quarter(year, number))
        }
        b'M' => {
            within(12)?;
            months(year, number, 1, PeriodForm::Month(year, number))
        }
        b'W' => {
            // ISO 8601: the first week of a year has its first Thursday.
            let monday = first_monday(year)? + 7 * (number - 1);
            let fits = number >= 1 && monday < first_monday(year + 1)?;
            fits.then_some(TimePeriod { days: Some((monday, monday + 6)), form: PeriodForm::Other })
        }
        b'D' => {
            let day = days(year, 1, 1) + number - 1;
            let fits = number >= 1 && day < days(year + 1, 1, 1);
            fits.then_some(TimePeriod { days: Some((day, day)), form: PeriodForm::Other })
        }
        _ => None,
    }
}

fn months(year: i64, month: i64, count: i64, form: PeriodForm) -> Option<TimePeriod> {
    if !(1..=12).contains(&month) {
        return None;
    }
    let first = days(year, month, 1);
    Some(TimePeriod { days: Some((first, add_months(first, count)? - 1)), form })
}

fn is_time(text: &[u8]) -> bool {
    !text.is_empty()
        && text.len() <= 24
        && text.iter().all(|byte| byte.is_ascii_digit() || b":.+-Z".contains(byte))
}

/// The day of `YYYY-MM-DD`.
fn day_number(text: &[u8]) -> Option<i64> {
    let [y @ .., b'-', m1, m2, b'-', d1, d2] = text else { return None };
    let (year, month, day) = (digits(y)?, digits(&[*m1, *m2])?, digits(&[*d1, *d2])?);
    let number = days(year, month, day);
    (y.len() == 4 && civil(number) == (year, month, day)).then_some(number)
}

/// The Monday on which the first week of a year begins.
fn first_monday(year: i64) -> Option<i64> {
    // 1970-01-01 was a Thursday: the fourth of January lies in week 1.
    let fourth = days(year, 1, 4);
    Some(fourth - (fourth + 3).rem_euclid(7))
}

/// The same day so many months later; the last of its month where there is none.
fn add_months(first: i64, count: i64) -> Option<i64> {
    let (year, month, day) = civil(first);
    let months = year * 12 + month - 1 + count;
    let (year, month) = (months.div_euclid(12), months.rem_euclid(12) + 1);
    let last = days(year + month / 12, month % 12 + 1, 1) - 1;
    (year <= 10_000).then(|| (days(year, month, 1) + day - 1).min(last))
}

/// Days since 1970-01-01.
fn days(year: i64, month: i64, day: i64) -> i64 {
    CivilDate { year, month, day }.days()
}

/// Year, month and day.
fn civil(days: i64) -> (i64, i64, i64) {
    let CivilDate { year, month, day } = CivilDate::from_days(days);
    (year, month, day)
}

fn digits(text: &[u8]) -> Option<i64> {
    let good = !text.is_empty() && text.len() <= 9 && text.iter().all(u8::is_ascii_digit);
    good.then(|| text.iter().fold(0, |value, digit| value * 10 + i64::from(digit - b'0')))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn every_form_has_its_days_and_its_code_contract_7() {
        for (text, first, last, code) in [
            ("2024", "2024-01-01", "2024-12-31", Some("2024")),
            ("2024-A1", "2024-01-01", "2024-12-31", Some("2024")),
            ("2024-S2", "2024-07-01", "2024-12-31", None),
            ("2024S1", "2024-01-01", "2024-06-30", None),
            ("2024-T3", "2024-09-01", "2024-12-31", None),
            ("2024-Q1", "2024-01-01", "2024-03-31", Some("2024-Q1")),
            ("2024Q4", "2024-10-01", "2024-12-31", Some("2024-Q4")),
            ("2024-M02", "2024-02-01", "2024-02-29", Some("2024-02")),
            ("2024M02", "2024-02-01", "2024-02-29", Some("2024-02")),
            ("2023-02", "2023-02-01", "2023-02-28", Some("2023-02")),
            ("2024-W05", "2024-01-29", "2024-02-04", None),
            ("2020-W53", "2020-12-28", "2021-01-03", None),
            ("2024-D060", "2024-02-29", "2024-02-29", None),
            ("2024-01-31", "2024-01-31", "2024-01-31", None),
            ("2024-01-31T12:30:00", "2024-01-31", "2024-01-31", None),
            ("2024-01-01/P1Y", "2024-01-01", "2024-12-31", Some("2024")),
            ("2024-04-01/P3M", "2024-04-01", "2024-06-30", Some("2024-Q2")),
            ("2024-04-01T00:00:00/P1M", "2024-04-01", "2024-04-30", Some("2024-04")),
            ("2024-07-01/P1Y", "2024-07-01", "2025-06-30", None),
            ("2024-01-01/P2W", "2024-01-01", "2024-01-14", None),
            ("2024-01-31/P1M", "2024-01-31", "2024-02-28", None),
            ("2024-01-01/2024-12-31", "2024-01-01", "2024-12-31", Some("2024")),
            ("0001", "0001-01-01", "0001-12-31", Some("0001")),
            ("9999", "9999-01-01", "9999-12-31", Some("9999")),
        ] {
            let period = TimePeriod::parse(text).unwrap_or_else(|_| panic!("{text}"));
            assert_eq!(period.day(false).unwrap().as_str(), first, "{text}");
            assert_eq!(period.day(true).unwrap().as_str(), last, "{text}");
            assert_eq!(period.code().ok().as_deref(), code, "{text}");
        }
    }

    #[test]
    fn a_financial_year_has_a_code_and_no_day_contract_7() {
        for text in ["2024/25", "2024/2025"] {
            let period = TimePeriod::parse(text).unwrap();
            assert_eq!(period.code().unwrap(), "2024/25");
            assert_eq!(period.day(false), Err(PeriodError::NoDay));
        }
        assert_eq!(TimePeriod::parse("1999/00").unwrap().code().unwrap(), "1999/00");
    }

    #[test]
    fn what_is_no_period_is_refused_contract_7() {
        for text in [
            "",
            "24",
            "2024-",
            "2024-Q5",
            "2024-Q",
            "2024-M13",
            "2024-00",
            "2024-W00",
            "2024-W54",
            "2023-W53",
            "2023-D366",
            "2023-02-29",
            "2024-1-1",
            "2024/26",
            "2024-01-01/",
            "2024-X1",
            "2024-01-01/P",
            "2024-01-01/PY",
            "2024-01-01/P0D",
            "2024-01-01/P99999Y",
            "2024-Q1x",
            "2024-01-01/2023-01-01",
            "2024-01-01T",
            "2024-01-01Tnoon",
            "９９９９",
            "2024-Q0001",
            "9999-01-01/P2Y",
            "20240101",
        ] {
            assert_eq!(TimePeriod::parse(text), Err(PeriodError::Unknown), "{text}");
        }
    }

    #[test]
    fn days_and_dates_are_inverse() {
        for number in (-719_528..2_932_896).step_by(97) {
            let (year, month, day) = civil(number);
            assert_eq!(days(year, month, day), number);
        }
    }
}
