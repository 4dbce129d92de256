//! A request for rolling windows: the options, and the columns of a table that they mean.

use yearbook_sdk::calendar::{CalendarSpan, CalendarUnit, PeriodCode, PeriodCodeForm};
use yearbook_sdk::transform::{Need, Needs, TransformError};
use yearbook_sdk::{Column, Options, Schema};
use yearbook_series::{SummaryKind, TimeAxis, numeric_columns};

/// Times of a window at most: a year of days, and the span of years that growth has.
const MOST_TIMES: i32 = 400;

/// A request for rolling windows.
#[derive(Debug)]
pub(crate) struct Settings {
    axis: TimeAxis,
    /// Distance of two times; that of years where codes of periods say it.
    unit: CalendarUnit,
    /// Columns whose values are replaced.
    pub(crate) columns: Vec<usize>,
    pub(crate) window: i32,
    pub(crate) with: SummaryKind,
    /// Set where a window need not be whole.
    pub(crate) partial: bool,
}

impl Settings {
    pub(crate) fn new(schema: &Schema, options: &Options) -> Result<Self, TransformError> {
        let axis = TimeAxis::from_version(schema)?;
        let unit = match axis {
            TimeAxis { period: Some(_), .. } => Some(CalendarUnit::Year),
            TimeAxis { date: Some(_), unit, .. } => unit,
            _ => None,
        };
        let unit = unit.ok_or_else(|| {
            let sentence = "there are neither periods nor dates with a common distance, so \
                            nothing says which times a window has";
            TransformError::UnsupportedSchema(sentence.to_owned())
        })?;
        let mut columns = numeric_columns(schema, "columns", options.text("columns")?)?;
        // Results have the order of the table.
        columns.sort_unstable();
        let window = i32::try_from(options.integer("window")?).ok();
        let window = window.filter(|window| (1..=MOST_TIMES).contains(window));
        let window = window.ok_or_else(|| {
            TransformError::invalid_option("window", format!("must be from 1 to {MOST_TIMES}"))
        })?;
        let with = SummaryKind::parse(options.text("with")?).unwrap_or(SummaryKind::Mean);
        Ok(Self { axis, unit, columns, window, with, partial: options.boolean("partial")? })
    }

    pub(crate) fn needs(&self) -> Needs {
        let time = match self.axis {
            TimeAxis { period: Some(period), .. } => Some(Need::plain(period)),
            TimeAxis { date, .. } => date.map(Need::days),
        };
        let values = self.columns.iter().copied().map(Need::plain);
        // One more than the window reaches back: it counts whole units, and dates are anywhere in
        // theirs.
        let count = u32::try_from(self.window).ok().filter(|count| *count > 1);
        Needs {
            columns: time.into_iter().chain(values).collect(),
            groups: Some(self.axis.series.clone()),
            before: self.axis.date.and(count).map(|count| CalendarSpan { count, unit: self.unit }),
            ..Needs::default()
        }
    }

    /// Returns whether two rows have the same time.
    pub(crate) fn is_same_time(&self, time: &Column<'_>, one: usize, other: usize) -> bool {
        match self.axis.period {
            Some(_) => time.text(one) == time.text(other),
            None => time.days(one) == time.days(other),
        }
    }

    /// Returns the time of a row, with the form of its code; `None` where it has none.
    pub(crate) fn time(&self, time: &Column<'_>, row: usize) -> Option<(PeriodCodeForm, i32)> {
        match self.axis.period {
            Some(_) => {
                let code = PeriodCode::parse(time.text(row)?)?;
                Some((code.form, code.ordinal))
            }
            None => Some((PeriodCodeForm::Year, self.unit.ordinal(time.days(row)?))),
        }
    }
}
