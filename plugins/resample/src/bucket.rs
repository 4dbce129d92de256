//! Summaries of a series in one period.

use yearbook_sdk::calendar::CalendarUnit;
use yearbook_series::{Number, Summary, SummaryKind};

/// The day after the last one that dates have, 9999-12-31.
const AFTER_LAST_DAY: i32 = 2_932_897;

/// Summaries of a series so far.
#[derive(Debug)]
pub(crate) struct Bucket {
    /// The time of its newest row; `None` before the first one.
    newest: Option<Time>,
    columns: Vec<BucketColumn>,
}

/// The time of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Time {
    /// Number of the period code, or the day.
    pub(crate) ordinal: i32,
    /// Number of the part of the period in which it is.
    pub(crate) part: i32,
}

/// Summary of a value column.
#[derive(Debug)]
struct BucketColumn {
    /// The value of the newest time: a further row of this time replaces it.
    newest: Option<Number>,
    summary: Summary,
    /// Parts of the period that have a value.
    parts: i32,
    last_part: Option<i32>,
}

/// A time before the newest one.
#[derive(Debug)]
pub(crate) struct Descending;

impl Bucket {
    /// Nothing yet, of so many value columns.
    pub(crate) fn new(with: SummaryKind, columns: usize) -> Self {
        let column = || BucketColumn {
            newest: None,
            summary: Summary::new(with),
            parts: 0,
            last_part: None,
        };
        Self { newest: None, columns: std::iter::repeat_with(column).take(columns).collect() }
    }

    /// Begins a row.
    ///
    /// # Errors
    /// [`Descending`].
    #[inline]
    pub(crate) fn begin(&mut self, time: Time) -> Result<(), Descending> {
        match self.newest {
            Some(newest) if newest.ordinal > time.ordinal => return Err(Descending),
            Some(newest) if newest != time => self.settle(),
            _ => {}
        }
        self.newest = Some(time);
        self.columns.iter_mut().for_each(|column| column.newest = None);
        Ok(())
    }

    /// Takes the value of a column in the row that has begun.
    #[inline]
    pub(crate) fn set(&mut self, column: usize, value: Option<Number>) {
        self.columns[column].newest = value;
    }

    /// Hands the values of the newest time to the summaries.
    fn settle(&mut self) {
        let part = self.newest.map(|newest| newest.part);
        for column in &mut self.columns {
            let value = column.newest.take();
            column.summary.add(value);
            if value.is_some() && column.last_part != part {
                (column.parts, column.last_part) = (column.parts + 1, part);
            }
        }
    }

    /// Results of the value columns; null for one that has fewer parts than the period: how many
    /// that are follows from the newest time.
    pub(crate) fn results(
        &mut self,
        parts: impl Fn(i32) -> i32,
    ) -> impl Iterator<Item = Option<Number>> {
        self.settle();
        let parts = self.newest.map_or(0, |newest| parts(newest.ordinal));
        let is_whole = move |column: &&BucketColumn| column.parts >= parts;
        let result = |column: &BucketColumn| column.summary.result();
        self.columns.iter().map(move |column| Some(column).filter(is_whole).and_then(result))
    }
}

/// Returns the parts that a period has, each of a unit of the calendar; of weeks those that begin
/// on the same day of the week as `day`.
pub(crate) fn parts_of(period: CalendarUnit, ordinal: i32, part: CalendarUnit, day: i32) -> i32 {
    if let (Some(months), Some(part)) = (period.months(), part.months()) {
        return months / part;
    }
    let first = period.first_day(ordinal).unwrap_or(day);
    let next = period.first_day(ordinal + 1).unwrap_or(AFTER_LAST_DAY);
    match part {
        CalendarUnit::Week => (next - first - (day - first).rem_euclid(7) + 6) / 7,
        _ => next - first,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_have_parts() {
        let day = |text: &str| yearbook_sdk::calendar::parse_date(text).unwrap_or_default();
        let month = |text: &str| CalendarUnit::Month.ordinal(day(text));
        for (ordinal, day, weeks, days) in [
            (month("2024-02-01"), day("2024-02-01"), 5, 29),
            (month("2024-02-01"), day("2024-02-02"), 4, 29),
            (month("2023-02-01"), day("2023-02-27"), 4, 28),
            (month("2024-01-01"), day("2024-01-31"), 5, 31),
            (month("2024-01-01"), day("2024-01-25"), 4, 31),
        ] {
            assert_eq!(parts_of(CalendarUnit::Month, ordinal, CalendarUnit::Week, day), weeks);
            assert_eq!(parts_of(CalendarUnit::Month, ordinal, CalendarUnit::Day, day), days);
        }
        assert_eq!(parts_of(CalendarUnit::Year, 2024, CalendarUnit::Day, 0), 366);
        assert_eq!(parts_of(CalendarUnit::Year, 2024, CalendarUnit::Half, 0), 2);
        assert_eq!(parts_of(CalendarUnit::Quarter, 0, CalendarUnit::Month, 0), 3);
    }
}
