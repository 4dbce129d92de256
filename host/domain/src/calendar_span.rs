//! Distances in the calendar.

use jiff::Span;

use crate::{CalendarUnit, Date};

/// Longest distance, years.
const YEARS: u32 = 400;

/// The same in days: 400 years have one length wherever they begin.
const DAYS: u32 = 146_097;

/// A distance in the calendar, of at most 400 years.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CalendarSpan {
    count: u32,
    unit: CalendarUnit,
}

impl CalendarSpan {
    /// `None` where it is longer than 400 years.
    #[must_use]
    pub fn new(count: u32, unit: CalendarUnit) -> Option<Self> {
        let most = match unit {
            CalendarUnit::Day => DAYS,
            CalendarUnit::Week => DAYS / 7,
            CalendarUnit::Month => YEARS * 12,
            CalendarUnit::Quarter => YEARS * 4,
            CalendarUnit::Half => YEARS * 2,
            CalendarUnit::Year => YEARS,
        };
        (count <= most).then_some(Self { count, unit })
    }

    /// The day that is this much earlier: the same day of its month, or the last one of a shorter
    /// month. The first day of the year 1 where there is none.
    #[must_use]
    pub fn before(&self, day: Date) -> Date {
        let count = i64::from(self.count);
        let span = match self.unit {
            CalendarUnit::Day => Span::new().days(count),
            CalendarUnit::Week => Span::new().weeks(count),
            CalendarUnit::Month => Span::new().months(count),
            CalendarUnit::Quarter => Span::new().months(3 * count),
            CalendarUnit::Half => Span::new().months(6 * count),
            CalendarUnit::Year => Span::new().years(count),
        };
        let earlier = |day: jiff::civil::Date| day.checked_sub(span).ok();
        let day = day.as_str().parse().ok().and_then(earlier).map(|day| day.to_string());
        day.and_then(|day| Date::parse(&day)).unwrap_or(Date::MIN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_ends_at_the_same_day_of_the_month_and_at_400_years_contract_16() {
        let before = |count, unit, day| {
            let span = CalendarSpan::new(count, unit);
            span.zip(Date::parse(day)).map(|(span, day)| span.before(day).to_string())
        };
        for (count, unit, day, expected) in [
            (12, CalendarUnit::Month, "2010-02-28", "2009-02-28"),
            (1, CalendarUnit::Month, "2010-03-31", "2010-02-28"),
            (1, CalendarUnit::Quarter, "2010-05-31", "2010-02-28"),
            (1, CalendarUnit::Half, "2010-08-31", "2010-02-28"),
            (1, CalendarUnit::Year, "2012-02-29", "2011-02-28"),
            (2, CalendarUnit::Week, "2010-01-01", "2009-12-18"),
            (1, CalendarUnit::Day, "2010-03-01", "2010-02-28"),
            (400, CalendarUnit::Year, "0399-01-01", "0001-01-01"),
            (400, CalendarUnit::Year, "0401-06-07", "0001-06-07"),
        ] {
            assert_eq!(
                before(count, unit, day).as_deref(),
                Some(expected),
                "{count} {unit:?} {day}"
            );
        }
        for (unit, most) in [
            (CalendarUnit::Day, 146_097),
            (CalendarUnit::Week, 20_871),
            (CalendarUnit::Month, 4_800),
            (CalendarUnit::Quarter, 1_600),
            (CalendarUnit::Half, 800),
            (CalendarUnit::Year, 400),
        ] {
            assert!(CalendarSpan::new(most, unit).is_some(), "{unit:?}");
            for count in [most + 1, u32::MAX] {
                assert_eq!(CalendarSpan::new(count, unit), None, "{unit:?}");
            }
        }
    }
}
