//! A request for resampling: the options, and the columns of a table that they mean.

use yearbook_sdk::calendar::{CalendarUnit, PeriodCodeForm};
use yearbook_sdk::transform::{Need, Needs, TransformError};
use yearbook_sdk::{Options, Schema};
use yearbook_series::{SummaryKind, TimeAxis, value_columns};

/// A request for resampling.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) axis: TimeAxis,
    /// The date column.
    pub(crate) date: usize,
    /// Value columns.
    pub(crate) values: Vec<usize>,
    /// The unit of the periods that come out.
    pub(crate) to: CalendarUnit,
    /// The form of their codes.
    pub(crate) form: PeriodCodeForm,
    pub(crate) with: SummaryKind,
    /// Set where periods need not be whole.
    pub(crate) partial: bool,
}

impl Settings {
    pub(crate) fn new(schema: &Schema, options: &Options) -> Result<Self, TransformError> {
        let axis = TimeAxis::from_version(schema)?;
        let Some(date) = axis.date else {
            let sentence = "there is no date column, so no rows are of one period".to_owned();
            return Err(TransformError::UnsupportedSchema(sentence));
        };
        let values = value_columns(schema)?;
        let (to, form) = match options.text("to")? {
            "month" => (CalendarUnit::Month, PeriodCodeForm::Month),
            "quarter" => (CalendarUnit::Quarter, PeriodCodeForm::Quarter),
            "year" => (CalendarUnit::Year, PeriodCodeForm::Year),
            _ => {
                let sentence = "is required: month, quarter or year";
                return Err(TransformError::invalid_option("to", sentence));
            }
        };
        if let Some(unit) = axis.unit.filter(|unit| *unit > to) {
            let (unit, to) = (unit.as_str(), to.as_str());
            let sentence = format!("the times of this table are a {unit} apart, more than a {to}");
            return Err(TransformError::invalid_option("to", sentence));
        }
        let partial = options.boolean("partial")?;
        if axis.period.or(axis.unit.map(|_| date)).is_none() && !partial {
            let sentence = "these dates have no common distance, so no period is known to be \
                            whole; ask for `resample.partial=true`";
            return Err(TransformError::invalid_option("partial", sentence));
        }
        let with = SummaryKind::parse(options.text("with")?).unwrap_or(SummaryKind::Mean);
        Ok(Self { axis, date, values, to, form, with, partial })
    }

    /// Returns a name for periods that are made, which no other column of the answer has: it need
    /// not be that of periods there.
    pub(crate) fn period_name(&self, schema: &Schema) -> String {
        let others = || self.values.iter().chain(&self.axis.series).chain([&self.date]);
        let is_taken = |name: &String| others().any(|at| schema.fields[*at].name == *name);
        let numbered = (2..).map(|number| format!("period_{number}"));
        let mut names = std::iter::once("period".to_owned()).chain(numbered);
        names.find(|name| !is_taken(name)).unwrap_or_default()
    }

    pub(crate) fn needs(&self) -> Needs {
        let time = self.axis.period.map_or(Need::days(self.date), Need::plain);
        let values = self.values.iter().copied().map(Need::plain);
        Needs {
            columns: std::iter::once(time).chain(values).collect(),
            groups: Some(self.axis.series.clone()),
            ..Needs::default()
        }
    }
}
