//! Distances in the calendar: units, spans, and steps from date to date. Dates are days since
//! 1970-01-01.

/// A unit of the calendar. A week has seven days, a quarter three months, a half six.
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
