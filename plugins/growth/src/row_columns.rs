//! Columns of a batch of rows: their times and values.

use yearbook_sdk::calendar::{PeriodCode, PeriodCodeForm};
use yearbook_sdk::transform::InputRows;
use yearbook_sdk::{Column, Values};

use crate::settings::{Reference, Settings};

/// Columns that growth reads.
pub(crate) struct RowColumns<'a> {
    periods: Option<Column<'a>>,
    days: Option<Column<'a>>,
    pub(crate) values: Vec<Column<'a>>,
}

/// The time of a row.
#[derive(Clone, Copy)]
pub(crate) struct Moment {
    /// Form of its period code; without periods all rows have one.
    pub(crate) form: PeriodCodeForm,
    /// The time; `None` where later rows are not compared with this one.
    pub(crate) time: Option<i32>,
    /// The time that it is compared with; `None` for a day that no such month has.
    pub(crate) earlier: Option<i32>,
}

impl Settings {
    /// Returns the columns of rows, which cross in the order of the needs.
    pub(crate) fn read<'a>(&self, rows: &'a InputRows) -> RowColumns<'a> {
        let mut needs = 0..;
        let mut next = || rows.column(needs.next().unwrap_or_default());
        RowColumns {
            periods: self.axis.period.map(|_| next()),
            days: self.has_dates().then(&mut next),
            values: self.columns.iter().map(|_| next()).collect(),
        }
    }
}

impl RowColumns<'_> {
    /// Form of the period of a row at the base; `None` for other rows.
    pub(crate) fn base_form(&self, row: usize, base: Reference) -> Option<PeriodCodeForm> {
        let code = self.code(row)?;
        let is_base = match base {
            Reference::Earlier { .. } => false,
            Reference::Date(base) => self.day(row) == Some(base),
            Reference::Period(base) => code == base,
        };
        is_base.then_some(code.form)
    }

    /// Time of a row; `None` where it cannot be compared with any.
    pub(crate) fn moment(&self, row: usize, reference: Reference) -> Option<Moment> {
        let PeriodCode { form, ordinal } = self.code(row)?;
        let Reference::Earlier { periods, unit } = reference else {
            return Some(Moment { form, time: None, earlier: Some(0) });
        };
        let (time, earlier) = match (&self.periods, unit) {
            (Some(_), None) => (ordinal, Some(ordinal - periods)),
            (Some(_), Some(unit)) => {
                let (months, length) = (periods * unit.months()?, form.unit().months()?);
                let earlier = (months % length == 0).then(|| ordinal - months / length)?;
                (ordinal, Some(earlier))
            }
            (None, unit) => {
                let day = self.day(row)?;
                (day, unit?.step(day, -periods))
            }
        };
        Some(Moment { form, time: Some(time), earlier })
    }

    /// Returns whether a row has the time of the one before it.
    pub(crate) fn is_as_before(&self, row: usize) -> bool {
        let same_code = |periods: &Column<'_>| {
            let Values::Utf8(codes) = &periods.values else { return false };
            let same_null = periods.is_valid(row) == periods.is_valid(row - 1);
            same_null && codes.bytes(row) == codes.bytes(row - 1)
        };
        row > 0 && self.periods.as_ref().is_none_or(same_code) && self.day(row) == self.day(row - 1)
    }

    /// The period code of a row, or some code without periods.
    fn code(&self, row: usize) -> Option<PeriodCode> {
        match &self.periods {
            Some(periods) => PeriodCode::parse(periods.text(row)?),
            None => Some(PeriodCode { form: PeriodCodeForm::Year, ordinal: 0 }),
        }
    }

    fn day(&self, row: usize) -> Option<i32> {
        self.days.as_ref().and_then(|days| days.days(row))
    }
}
