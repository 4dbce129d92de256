//! Codes of periods: `YYYY`, `YYYY-Qn`, `YYYY-MM` and `YYYY/YY`.

use std::fmt;

use super::{CalendarUnit, digits};

/// The form of a code.
///
/// ```
/// use yearbook_sdk::calendar::{CalendarUnit, PeriodCodeForm};
///
/// assert_eq!(PeriodCodeForm::FinancialYear.unit(), CalendarUnit::Year);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PeriodCodeForm {
    /// `YYYY`.
    Year,
    /// `YYYY-Qn`.
    Quarter,
    /// `YYYY-MM`.
    Month,
    /// `YYYY/YY`: a year that begins within one year and ends in the next.
    FinancialYear,
}

impl PeriodCodeForm {
    /// Distance of two codes of this form that follow each other.
    ///
    /// ```
    /// use yearbook_sdk::calendar::{CalendarUnit, PeriodCodeForm};
    ///
    /// assert_eq!(PeriodCodeForm::Month.unit(), CalendarUnit::Month);
    /// ```
    #[must_use]
    pub fn unit(self) -> CalendarUnit {
        match self {
            Self::Year | Self::FinancialYear => CalendarUnit::Year,
            Self::Quarter => CalendarUnit::Quarter,
            Self::Month => CalendarUnit::Month,
        }
    }
}

/// A code of a period. [`fmt::Display`] writes it as it is read.
///
/// ```
/// use yearbook_sdk::calendar::PeriodCode;
///
/// let quarter = PeriodCode::parse("2026-Q1").unwrap();
/// let before = PeriodCode { ordinal: quarter.ordinal - 1, ..quarter };
/// assert_eq!(before.to_string(), "2025-Q4");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PeriodCode {
    /// Its form.
    pub form: PeriodCodeForm,
    /// Its number, as [`CalendarUnit::ordinal`] counts; of a financial year the year in which it
    /// begins.
    pub ordinal: i32,
}

impl PeriodCode {
    /// Reads a code; `None` for any other text.
    ///
    /// ```
    /// use yearbook_sdk::calendar::PeriodCode;
    ///
    /// assert_eq!(PeriodCode::parse("2026/27").map(|code| code.ordinal), Some(2026));
    /// assert_eq!(PeriodCode::parse("2026/28"), None);
    /// ```
    #[must_use]
    pub fn parse(code: &str) -> Option<Self> {
        let (year, rest) = code.as_bytes().split_at_checked(4)?;
        let year = i32::try_from(digits(year)?).ok()?;
        let number = |text: &[u8]| digits(text).and_then(|number| i32::try_from(number).ok());
        let (form, ordinal) = match rest {
            [] => (PeriodCodeForm::Year, year),
            [b'-', b'Q', quarter @ b'1'..=b'4'] => {
                (PeriodCodeForm::Quarter, 4 * year + i32::from(quarter - b'1'))
            }
            [b'-', month @ ..] if month.len() == 2 => {
                let month = number(month).filter(|month| (1..=12).contains(month))?;
                (PeriodCodeForm::Month, 12 * year + month - 1)
            }
            [b'/', next @ ..] if next.len() == 2 => {
                (number(next)? == (year + 1) % 100).then_some(())?;
                (PeriodCodeForm::FinancialYear, year)
            }
            _ => return None,
        };
        Some(Self { form, ordinal })
    }

    /// The code of the year, quarter or month that a date is in; `None` for other units, which
    /// have no codes.
    ///
    /// ```
    /// use yearbook_sdk::calendar::{CalendarUnit, PeriodCode};
    ///
    /// let month = PeriodCode::containing(CalendarUnit::Month, 31).unwrap();
    /// assert_eq!(month.to_string(), "1970-02");
    /// assert_eq!(PeriodCode::containing(CalendarUnit::Week, 31), None);
    /// ```
    #[must_use]
    pub fn containing(unit: CalendarUnit, days: i32) -> Option<Self> {
        let form = match unit {
            CalendarUnit::Year => PeriodCodeForm::Year,
            CalendarUnit::Quarter => PeriodCodeForm::Quarter,
            CalendarUnit::Month => PeriodCodeForm::Month,
            CalendarUnit::Day | CalendarUnit::Week | CalendarUnit::Half => return None,
        };
        Some(Self { form, ordinal: unit.ordinal(days) })
    }
}

impl fmt::Display for PeriodCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let within = |count| (self.ordinal.div_euclid(count), self.ordinal.rem_euclid(count) + 1);
        match self.form {
            PeriodCodeForm::Year => write!(f, "{:04}", self.ordinal),
            PeriodCodeForm::Quarter => {
                let (year, quarter) = within(4);
                write!(f, "{year:04}-Q{quarter}")
            }
            PeriodCodeForm::Month => {
                let (year, month) = within(12);
                write!(f, "{year:04}-{month:02}")
            }
            PeriodCodeForm::FinancialYear => {
                let next = self.ordinal.wrapping_add(1).rem_euclid(100);
                write!(f, "{:04}/{next:02}", self.ordinal)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_written_as_they_are_read_and_the_next_follows() {
        for (code, next) in [
            ("2024", "2025"),
            ("2024-Q4", "2025-Q1"),
            ("2024-Q1", "2024-Q2"),
            ("2024-12", "2025-01"),
            ("2024/25", "2025/26"),
            ("1998/99", "1999/00"),
            ("0999-01", "0999-02"),
        ] {
            let read = PeriodCode::parse(code);
            assert_eq!(read.map(|read| read.to_string()).as_deref(), Some(code));
            let after = read.map(|read| PeriodCode { ordinal: read.ordinal + 1, ..read });
            assert_eq!(after, PeriodCode::parse(next), "{code}");
        }
    }

    #[test]
    fn other_text_is_no_code() {
        for text in [
            "",
            "24",
            "2024-",
            "2024-Q",
            "2024-Q5",
            "2024-Q0",
            "2024-00",
            "2024-13",
            "2024-1",
            "2024/",
            "2024/24",
            "2024/26",
            "2024-01-01",
            "20 4",
            "+024",
            "2024-S1",
            "２０２４",
        ] {
            assert_eq!(PeriodCode::parse(text), None, "{text}");
        }
    }
}
