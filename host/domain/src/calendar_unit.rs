//! Units of the calendar in which dates of a series are apart.

use serde::{Deserialize, Serialize};

use crate::words;

/// A unit of the calendar. A week has seven days, a quarter three months, a half six.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CalendarUnit {
    /// A day.
    Day,
    /// Seven days.
    Week,
    /// To the same day of the next month, or to its last.
    Month,
    /// Three months.
    Quarter,
    /// Six months.
    Half,
    /// Twelve months.
    Year,
}

words! {
    CalendarUnit {
        Day = "day", Week = "week", Month = "month", Quarter = "quarter", Half = "half",
        Year = "year",
    }
}

impl CalendarUnit {
    /// Returns the unit of which dates that are so many days apart are one apart. `None` where
    /// there is no such unit.
    #[must_use]
    pub fn of_days(days: u32) -> Option<Self> {
        Some(match days {
            1..=6 => Self::Day,
            7 => Self::Week,
            28..=31 => Self::Month,
            89..=92 => Self::Quarter,
            181..=184 => Self::Half,
            365 | 366 => Self::Year,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_distance_in_days_has_the_unit_that_every_such_step_of_the_calendar_has_contract_16() {
        let day = |year, month, day| jiff::civil::date(year, month, day);
        for year in 1999..2006 {
            for month in 1..=12 {
                let first = day(year, month, 1);
                for (months, unit) in [
                    (1, CalendarUnit::Month),
                    (3, CalendarUnit::Quarter),
                    (6, CalendarUnit::Half),
                    (12, CalendarUnit::Year),
                ] {
                    let next = first.saturating_add(jiff::Span::new().months(months));
                    let days = first.until(next).map(|span| span.get_days().unsigned_abs());
                    assert_eq!(days.ok().and_then(CalendarUnit::of_days), Some(unit), "{first}");
                }
            }
        }
        for (days, unit) in [
            (1, Some(CalendarUnit::Day)),
            (7, Some(CalendarUnit::Week)),
            (0, None),
            (10, None),
            (61, None),
            (730, None),
        ] {
            assert_eq!(CalendarUnit::of_days(days), unit, "{days}");
        }
    }
}
