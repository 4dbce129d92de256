//! Periods of time as statistical formats write them: years, halves, thirds, quarters, months,
//! weeks, days and ranges (SDMX 3.0, "Observational Time Period"), with and without the hyphen that
//! some agencies leave out, and with the letters of Nordic PX tables.

mod notation;

use std::fmt;

use self::notation::{civil, parse};
use crate::calendar::PeriodCode;

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
    /// Days since 1970-01-01, the last one included; `None` for a financial year, which begins
    /// another day in each country.
    days: Option<(i64, i64)>,
    code: Option<PeriodCode>,
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
            Self::Unknown => "is no period of time; periods are 2024, 2024-S1, 2024-T1, 2024-Q1, 2024K1, 2024-M01, 2024-01, 2024-W01, 2024U01, 2024-D001, 2024-01-31, 2024-01-01/P1Y, 2024-01-01/2024-12-31 and 2024/25",
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
        self.code.map(|code| code.to_string()).ok_or(PeriodError::NoCode)
    }
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
            ("2024K1", "2024-01-01", "2024-03-31", Some("2024-Q1")),
            ("2024K4", "2024-10-01", "2024-12-31", Some("2024-Q4")),
            ("2024U05", "2024-01-29", "2024-02-04", None),
            ("2020U53", "2020-12-28", "2021-01-03", None),
            ("2024M02D29", "2024-02-29", "2024-02-29", None),
            ("2024-D060", "2024-02-29", "2024-02-29", None),
            ("2024-01-31", "2024-01-31", "2024-01-31", None),
            ("2024-01-31T12:30:00", "2024-01-31", "2024-01-31", None),
            ("2024-01-31T23:59:59.123Z", "2024-01-31", "2024-01-31", None),
            ("2024-01-31T12:30+13:00", "2024-01-31", "2024-01-31", None),
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
            "2024-01-31T",
            "2024-01-31T25:00:00",
            "2024-01-31T1:00",
            "2024-01-31T12:60",
            "2024-01-31T12:30:00:00",
            "2024-01-31T12:30:00.",
            "2024-01-31T12:30Z+",
            "2024-01-31T12:30+25:00",
            "2024-M13",
            "2024K5",
            "2024K",
            "2024U00",
            "2023U53",
            "2023M02D29",
            "2024M02D",
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
}
