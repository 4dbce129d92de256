//! The calendar of statistics: units, distances, steps from date to date, and codes of periods.
//! Dates are days since 1970-01-01 of the years 1 to 9999; no other date comes out.

use crate::text::CivilDate;

pub use period_code::{PeriodCode, PeriodCodeForm};

mod period_code;

/// A unit of the calendar. A week begins on Monday and has seven days, a quarter has three months,
/// a half six.
///
/// ```
/// use yearbook_sdk::calendar::CalendarUnit;
///
/// assert!(CalendarUnit::Month < CalendarUnit::Quarter);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names say it")]
pub enum CalendarUnit {
    Day,
    Week,
    Month,
    Quarter,
    Half,
    Year,
}

impl CalendarUnit {
    /// All of them, ascending.
    ///
    /// ```
    /// use yearbook_sdk::calendar::CalendarUnit;
    ///
    /// assert_eq!(CalendarUnit::ALL[0], CalendarUnit::Day);
    /// ```
    pub const ALL: [Self; 6] =
        [Self::Day, Self::Week, Self::Month, Self::Quarter, Self::Half, Self::Year];

    /// The unit of a name, as options and `yearbook.axis` write it.
    ///
    /// ```
    /// use yearbook_sdk::calendar::CalendarUnit;
    ///
    /// assert_eq!(CalendarUnit::parse("quarter"), Some(CalendarUnit::Quarter));
    /// assert_eq!(CalendarUnit::parse("decade"), None);
    /// ```
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|unit| unit.as_str() == name)
    }

    /// Its name.
    ///
    /// ```
    /// use yearbook_sdk::calendar::CalendarUnit;
    ///
    /// assert_eq!(CalendarUnit::Half.as_str(), "half");
    /// ```
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Week => "week",
            Self::Month => "month",
            Self::Quarter => "quarter",
            Self::Half => "half",
            Self::Year => "year",
        }
    }

    /// Number of its months; `None` for days and weeks.
    ///
    /// ```
    /// use yearbook_sdk::calendar::CalendarUnit;
    ///
    /// assert_eq!(CalendarUnit::Half.months(), Some(6));
    /// ```
    #[must_use]
    pub fn months(self) -> Option<i32> {
        match self {
            Self::Day | Self::Week => None,
            Self::Month => Some(1),
            Self::Quarter => Some(3),
            Self::Half => Some(6),
            Self::Year => Some(12),
        }
    }

    /// Number of the day, week, month, … that a date is in: that of the next one is one more. Days
    /// count from 1970, weeks from the one with 1970-01-01, longer units from the year 0.
    ///
    /// ```
    /// use yearbook_sdk::calendar::CalendarUnit;
    ///
    /// assert_eq!(CalendarUnit::Year.ordinal(0), 1970);
    /// assert_eq!(CalendarUnit::Quarter.ordinal(31 + 28 + 31), 4 * 1970 + 1);
    /// ```
    #[must_use]
    pub fn ordinal(self, days: i32) -> i32 {
        match self.months() {
            Some(months) => month_of(CivilDate::from_days(days.into())).div_euclid(months),
            // 1970-01-01 was a Thursday.
            None if self == Self::Week => days.div_euclid(7) + (days.rem_euclid(7) + 3) / 7,
            None => days,
        }
    }

    /// First day of the day, week, month, … of this number; `None` beyond the years 1 to 9999.
    ///
    /// ```
    /// use yearbook_sdk::calendar::CalendarUnit;
    ///
    /// assert_eq!(CalendarUnit::Month.first_day(12 * 1970 + 1), Some(31));
    /// assert_eq!(CalendarUnit::Year.first_day(10_000), None);
    /// ```
    #[must_use]
    pub fn first_day(self, ordinal: i32) -> Option<i32> {
        let ordinal = i64::from(ordinal);
        in_range(match self.months() {
            Some(months) => first_of_month(ordinal * i64::from(months)).days(),
            None if self == Self::Week => ordinal * 7 - 3,
            None => ordinal,
        })
    }

    /// The date so many units later, or earlier where `count` is negative. Months and longer units
    /// lead to the same day of the month, and from the last day of a month to the last. `None`
    /// where there is no such day: of February the 30th, and beyond the years 1 to 9999.
    ///
    /// ```
    /// use yearbook_sdk::calendar::{CalendarUnit, parse_date};
    ///
    /// let leap_day = parse_date("2024-02-29").unwrap();
    /// assert_eq!(CalendarUnit::Year.step(leap_day, -1), parse_date("2023-02-28"));
    /// assert_eq!(CalendarUnit::Month.step(leap_day, 1), parse_date("2024-03-31"));
    /// assert_eq!(CalendarUnit::Month.step(parse_date("2024-01-30").unwrap(), 1), None);
    /// ```
    #[must_use]
    pub fn step(self, days: i32, count: i32) -> Option<i32> {
        let (days, count) = (i64::from(days), i64::from(count));
        let Some(months) = self.months() else {
            return in_range(days + if self == Self::Week { 7 * count } else { count });
        };
        let date = CivilDate::from_days(days);
        let month = i64::from(month_of(date));
        let target = month + i64::from(months) * count;
        let last = days_of_month(target);
        let day = if date.day == days_of_month(month) { last } else { date.day };
        (day <= last).then(|| first_of_month(target).days() + day - 1).and_then(in_range)
    }
}

/// A distance in the calendar.
///
/// ```
/// use yearbook_sdk::calendar::{CalendarSpan, CalendarUnit};
///
/// let year = CalendarSpan { count: 12, unit: CalendarUnit::Month };
/// assert_eq!(year.count, 12);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CalendarSpan {
    /// Number of units: at most 400 years of them.
    pub count: u32,
    /// The unit.
    pub unit: CalendarUnit,
}

/// The date `YYYY-MM-DD`; `None` for any other text, and for a day that no calendar has.
///
/// ```
/// use yearbook_sdk::calendar::parse_date;
///
/// assert_eq!(parse_date("1970-02-01"), Some(31));
/// assert_eq!(parse_date("2023-02-29"), None);
/// ```
#[must_use]
pub fn parse_date(text: &str) -> Option<i32> {
    day_number(text.as_bytes()).and_then(in_range)
}

/// The same of the years 0 to 9999.
pub(crate) fn day_number(text: &[u8]) -> Option<i64> {
    let [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = *text else { return None };
    let date = CivilDate {
        year: digits(&[y1, y2, y3, y4])?,
        month: digits(&[m1, m2])?,
        day: digits(&[d1, d2])?,
    };
    let days = date.days();
    (CivilDate::from_days(days) == date).then_some(days)
}

/// A number of at most nine digits.
pub(crate) fn digits(text: &[u8]) -> Option<i64> {
    let good = !text.is_empty() && text.len() <= 9 && text.iter().all(u8::is_ascii_digit);
    good.then(|| text.iter().fold(0, |value, digit| value * 10 + i64::from(digit - b'0')))
}

fn in_range(days: i64) -> Option<i32> {
    const FIRST: i64 = CivilDate { year: 1, month: 1, day: 1 }.days();
    const LAST: i64 = CivilDate { year: 9999, month: 12, day: 31 }.days();
    (FIRST..=LAST).contains(&days).then(|| i32::try_from(days).ok()).flatten()
}

/// Months since the year 0.
fn month_of(date: CivilDate) -> i32 {
    // A date of 32 bits of days is within 5,900,000 years.
    i32::try_from(date.year * 12 + date.month - 1).unwrap_or_default()
}

fn first_of_month(month: i64) -> CivilDate {
    CivilDate { year: month.div_euclid(12), month: month.rem_euclid(12) + 1, day: 1 }
}

fn days_of_month(month: i64) -> i64 {
    first_of_month(month + 1).days() - first_of_month(month).days()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn iso(days: i32) -> String {
        CivilDate::from_days(days.into()).iso()
    }

    #[test]
    fn a_step_of_months_leads_to_the_same_day_and_from_the_last_day_to_the_last() {
        use CalendarUnit::{Day, Half, Month, Quarter, Week, Year};
        for (from, unit, count, to) in [
            ("2024-01-31", Month, 1, Some("2024-02-29")),
            ("2024-02-29", Month, -1, Some("2024-01-31")),
            ("2023-02-28", Year, 1, Some("2024-02-29")),
            ("2024-02-28", Year, -1, Some("2023-02-28")),
            ("2024-02-29", Year, -1, Some("2023-02-28")),
            ("2024-03-30", Month, -1, None),
            ("2024-04-30", Month, 1, Some("2024-05-31")),
            ("2024-05-30", Month, 1, Some("2024-06-30")),
            ("2024-06-30", Quarter, -2, Some("2023-12-31")),
            ("2024-01-15", Half, 3, Some("2025-07-15")),
            ("2024-03-01", Day, -1, Some("2024-02-29")),
            ("2024-03-01", Week, -1, Some("2024-02-23")),
            ("2024-03-01", Month, 0, Some("2024-03-01")),
            ("0001-01-01", Month, -1, None),
            ("9999-12-31", Day, 1, None),
            ("9999-12-31", Year, i32::MAX, None),
            ("0001-01-01", Week, i32::MIN, None),
        ] {
            let reached = unit.step(parse_date(from).unwrap(), count);
            assert_eq!(reached.map(iso).as_deref(), to, "{from} {unit:?} {count}");
        }
    }

    #[test]
    fn a_date_is_within_its_unit_and_the_day_before_the_first_is_in_the_one_before() {
        for unit in CalendarUnit::ALL {
            assert_eq!(CalendarUnit::parse(unit.as_str()), Some(unit));
            for days in (-700_000..2_900_000).step_by(359) {
                let ordinal = unit.ordinal(days);
                let first = unit.first_day(ordinal).unwrap();
                let next = unit.first_day(ordinal + 1).unwrap();
                assert!(first <= days && days < next, "{unit:?} {days}");
                assert_eq!(unit.ordinal(first - 1), ordinal - 1);
                assert_eq!(unit.ordinal(first), ordinal);
            }
        }
        assert_eq!(CalendarUnit::Day.ordinal(i32::MIN), i32::MIN);
        assert_eq!(CalendarUnit::Year.first_day(i32::MAX), None);
        assert_eq!(iso(CalendarUnit::Week.first_day(0).unwrap()), "1969-12-29", "a Monday");
    }

    #[test]
    fn only_dates_of_the_calendar_are_read() {
        for text in ["2024-02-30", "2024-13-01", "2024-00-01", "0000-01-01", "2024-1-01", "x", ""] {
            assert_eq!(parse_date(text), None, "{text}");
        }
        for text in ["+024-01-01", "2024/01/01", "2024-01-01 ", "２０２４"] {
            assert_eq!(parse_date(text), None, "{text}");
        }
        for text in ["0001-01-01", "9999-12-31", "2024-02-29"] {
            assert_eq!(parse_date(text).map(iso).as_deref(), Some(text));
        }
    }
}
