//! A request for growth: the options, and the columns of a table that they mean.

use yearbook_sdk::calendar::{CalendarSpan, CalendarUnit, PeriodCode, PeriodCodeForm, parse_date};
use yearbook_sdk::transform::{Need, Needs, Priming, TransformError};
use yearbook_sdk::{Options, Schema};
use yearbook_series::{TimeAxis, numeric_columns};

/// Years that a span has at most.
const MOST_YEARS: i32 = 400;

/// Days of as many years.
const MOST_DAYS: i32 = 146_097;

/// A request for growth.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) axis: TimeAxis,
    /// Columns whose values are replaced.
    pub(crate) columns: Vec<usize>,
    pub(crate) measure: Measure,
    pub(crate) reference: Reference,
}

/// The result that replaces a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Measure {
    Ratio,
    Difference,
    Log,
    Index,
}

/// The value that another one is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reference {
    /// Value of so many units earlier; a unit that is not given is that of the row's period code.
    Earlier { periods: i32, unit: Option<CalendarUnit> },
    /// Value of this date.
    Date(i32),
    /// Value of this period.
    Period(PeriodCode),
}

impl Settings {
    pub(crate) fn new(schema: &Schema, options: &Options) -> Result<Self, TransformError> {
        let axis = TimeAxis::from_version(schema)?;
        if axis.date.or(axis.period).is_none() {
            let sentence =
                "there is neither a date column nor one of periods, so nothing is earlier";
            return Err(TransformError::UnsupportedSchema(sentence.to_owned()));
        }
        let mut columns = numeric_columns(schema, "columns", options.text("columns")?)?;
        // Results have the order of the table.
        columns.sort_unstable();
        let measure = match options.text("as")? {
            "difference" => Measure::Difference,
            "log" => Measure::Log,
            "index" => Measure::Index,
            _ => Measure::Ratio,
        };
        let reference = match (measure, options.text("base")?) {
            (Measure::Index, base) => read_base(&axis, base)?,
            (_, "") => read_distance(&axis, options)?,
            _ => {
                let sentence = "only `growth.as=index` has a base; leave it out";
                return Err(TransformError::invalid_option("base", sentence));
            }
        };
        Ok(Self { axis, columns, measure, reference })
    }

    /// Returns whether dates cross: before the values, and behind the periods where these do.
    pub(crate) fn has_dates(&self) -> bool {
        self.axis.period.is_none() || matches!(self.reference, Reference::Date(_))
    }

    pub(crate) fn needs(&self) -> Needs {
        let dates = self.axis.date.filter(|_| self.has_dates());
        let times = self.axis.period.map(Need::plain).into_iter().chain(dates.map(Need::days));
        let values = self.columns.iter().copied().map(Need::plain);
        Needs {
            columns: times.chain(values).collect(),
            groups: Some(self.axis.series.clone()),
            before: self.axis.date.and_then(|_| self.before()),
            prime: self.base_rows(),
        }
    }

    /// The distance of the earlier rows: without a unit that of years, which some codes may be of.
    /// Dates are anywhere in the periods whose codes are counted, so these are a period farther at
    /// most.
    fn before(&self) -> Option<CalendarSpan> {
        let Reference::Earlier { periods, unit } = self.reference else { return None };
        let unit = unit.unwrap_or(CalendarUnit::Year);
        let more = self.axis.period.map_or(0, |_| longest_period(periods, unit));
        Some(CalendarSpan { count: u32::try_from((periods + more).min(most(unit))).ok()?, unit })
    }

    /// Makes sure that the rows that codes of this form are compared with are among the earlier
    /// ones: which codes there are is known by the rows alone.
    ///
    /// # Errors
    /// [`TransformError::InvalidOption`] where they lie before these.
    pub(crate) fn check_form(&self, form: PeriodCodeForm) -> Result<(), TransformError> {
        let steps = most(form.unit());
        match self.reference {
            Reference::Earlier { periods, unit: None } if periods > steps => {
                let sentence = format!(
                    "must be at most {steps} where codes are of {}s, which are {MOST_YEARS} years; \
                     name a unit, or leave these rows out by a condition",
                    form.unit().as_str()
                );
                Err(TransformError::invalid_option("periods", sentence))
            }
            _ => Ok(()),
        }
    }

    /// The rows among which the base is: those of whole years, so that a transform before this one
    /// has whole periods, and all where rows have no dates.
    fn base_rows(&self) -> Priming {
        let (first, more) = match self.reference {
            Reference::Earlier { .. } => return Priming::None,
            _ if self.axis.date.is_none() => return Priming::All,
            Reference::Date(day) => (CalendarUnit::Year.ordinal(day), 0),
            Reference::Period(PeriodCode { form, ordinal }) => match form {
                PeriodCodeForm::Year => (ordinal, 0),
                PeriodCodeForm::Quarter => (ordinal / 4, 0),
                PeriodCodeForm::Month => (ordinal / 12, 0),
                PeriodCodeForm::FinancialYear => (ordinal, 1),
            },
        };
        let last = (first + more).min(9999);
        Priming::Dates { first: format!("{first:04}-01-01"), last: format!("{last:04}-12-31") }
    }
}

fn read_base(axis: &TimeAxis, base: &str) -> Result<Reference, TransformError> {
    let sentence = match (parse_date(base), PeriodCode::parse(base)) {
        _ if base.is_empty() => "an index needs a base: name a date or a period",
        (Some(day), _) if axis.date.is_some() => return Ok(Reference::Date(day)),
        (_, Some(code)) if axis.period.is_some() => return Ok(Reference::Period(code)),
        (None, Some(_)) => "this table has no period codes; name a date, `YYYY-MM-DD`",
        (Some(_), None) => "this table has no dates; name a period",
        _ => {
            "is neither a date `YYYY-MM-DD` nor a period such as 2020, 2020/21, 2020-Q1 or 2020-01"
        }
    };
    Err(TransformError::invalid_option("base", sentence))
}

fn read_distance(axis: &TimeAxis, options: &Options) -> Result<Reference, TransformError> {
    let unit = match options.text("unit")? {
        // Periods are counted by their codes.
        "" if axis.period.is_some() => None,
        "" => Some(axis.unit.ok_or_else(|| {
            let sentence = "these dates have no common distance; name a unit";
            TransformError::invalid_option("unit", sentence)
        })?),
        name => CalendarUnit::parse(name),
    };
    if axis.period.is_some() && unit.is_some_and(|unit| unit.months().is_none()) {
        let sentence = "this table has periods, which are counted in months, quarters and years";
        return Err(TransformError::invalid_option("unit", sentence));
    }
    // Without a unit each code has its own.
    let most = most(unit.unwrap_or(CalendarUnit::Month));
    match i32::try_from(options.integer("periods")?) {
        Ok(periods) if (1..=most).contains(&periods) => Ok(Reference::Earlier { periods, unit }),
        _ => {
            let sentence = format!("must be from 1 to {most}, which are {MOST_YEARS} years");
            Err(TransformError::invalid_option("periods", sentence))
        }
    }
}

/// Length of the longest period whose codes can be so many steps of a unit apart, in steps.
fn longest_period(steps: i32, unit: CalendarUnit) -> i32 {
    let length = unit.months().unwrap_or(1);
    let periods = [CalendarUnit::Year, CalendarUnit::Quarter, CalendarUnit::Month];
    let mut lengths = periods.into_iter().filter_map(CalendarUnit::months);
    lengths.find(|months| steps * length % months == 0).map_or(0, |months| months / length)
}

/// Steps of a unit that are as many years as a transform may look back.
fn most(unit: CalendarUnit) -> i32 {
    match unit.months() {
        Some(months) => MOST_YEARS * 12 / months,
        None if unit == CalendarUnit::Week => MOST_DAYS / 7,
        None => MOST_DAYS,
    }
}
