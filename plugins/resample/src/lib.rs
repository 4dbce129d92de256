//! The transform `resample`: one row a series and month, quarter or year (contract-16-resample).
//! Holds the series of one period alone: rows ascend in time.

mod bucket;
mod settings;

use yearbook_sdk::calendar::{CalendarUnit, PeriodCode, PeriodCodeForm};
use yearbook_sdk::generator::Role;
use yearbook_sdk::transform::{
    Codes, InputRows, MadeRows, MadeType, Needs, OutputColumn, Relation, TransformDescription,
    TransformError, TransformOutput,
};
use yearbook_sdk::{Column, Kind, Options, Parameter, Schema, Transform};
use yearbook_series::{SeriesMap, TimeAxis, make_number, read_number};

use bucket::{Bucket, Time, parts_of};
use settings::Settings;

yearbook_sdk::export_transform!(Resample);

/// One response.
#[derive(Debug)]
pub struct Resample {
    settings: Settings,
    /// Number of the period that the rows have come to.
    period: Option<i32>,
    series: SeriesMap<Bucket>,
    /// Places of the series of rows of one time; reused.
    places: Vec<usize>,
    made: Vec<MadeColumn>,
    output: TransformOutput,
}

/// A column that is made.
#[derive(Debug, Clone, Copy)]
enum MadeColumn {
    Date,
    Period,
    /// A summary of the next value column, an integer or a number.
    Summary(MadeType),
}

/// The place of a row in time.
#[derive(Debug, Clone, Copy)]
struct Moment {
    /// Number of the period that it belongs to.
    period: i32,
    form: PeriodCodeForm,
    time: Time,
}

impl Transform for Resample {
    fn describe() -> TransformDescription {
        TransformDescription {
            name: "resample",
            version: env!("CARGO_PKG_VERSION"),
            title: "Resample",
            independent: false,
            parameters: vec![
                Parameter {
                    name: "to",
                    kind: Kind::Text,
                    default: "",
                    allowed: &["", "month", "quarter", "year"],
                    docs: "The period that a row of the answer is of. Required.",
                },
                Parameter {
                    name: "with",
                    kind: Kind::Text,
                    default: "mean",
                    allowed: &["mean", "sum", "first", "last", "min", "max", "count"],
                    docs: "What a row has of the values in its period. Nulls are left out, but the first and the last row count with or without a value.",
                },
                Parameter {
                    name: "partial",
                    kind: Kind::Boolean,
                    default: "false",
                    allowed: &[],
                    docs: "Compute what there is, also of a period that lacks a part, or has no value for one; else it is null.",
                },
            ],
            docs: "Makes one row of each series and month, quarter or year, with the period's first day and code. \
                   A value is null where the period is not whole: where a day, a week, a month or a quarter of it is missing, or has no value, as the table's own distance has it. \
                   Sums and means are exact and rounded once. Of several rows of one series and time the last one counts.",
        }
    }

    fn plan(schema: &Schema, options: &Options) -> Result<Needs, TransformError> {
        Ok(Settings::new(schema, options)?.needs())
    }

    fn open(schema: &Schema, _: &Codes, options: &Options) -> Result<Self, TransformError> {
        let settings = Settings::new(schema, options)?;
        let mut columns = Vec::new();
        let mut made = Vec::new();
        let period = |name: &str| OutputColumn {
            role: Some(Role::Period),
            ..OutputColumn::made(name, MadeType::Text)
        };
        for (at, field) in schema.fields.iter().enumerate() {
            if at == settings.date {
                let date = OutputColumn::made(&field.name, MadeType::Date);
                columns.push(OutputColumn { role: Some(Role::Date), ..date });
                made.push(MadeColumn::Date);
                if settings.axis.period.is_none() {
                    columns.push(period(&settings.period_name(schema)));
                    made.push(MadeColumn::Period);
                }
            } else if settings.axis.period == Some(at) {
                columns.push(period(&field.name));
                made.push(MadeColumn::Period);
            } else if settings.axis.series.contains(&at) {
                columns.push(OutputColumn::group(&field.name, at));
            } else if settings.values.contains(&at) {
                let (column, made_type) = settings.with.output_column(field);
                columns.push(column);
                made.push(MadeColumn::Summary(made_type));
            }
        }
        let position = |wanted: &str| columns.iter().position(|column| column.name == wanted);
        let names = settings.axis.series.iter().map(|at| schema.fields[*at].name.as_str());
        let names = std::iter::once(schema.fields[settings.date].name.as_str()).chain(names);
        let order = names.filter_map(position).collect();
        let output = TransformOutput { columns, rows: Relation::New, order };
        let series = SeriesMap::default();
        Ok(Self { settings, period: None, series, places: Vec::new(), made, output })
    }

    fn output(&self) -> &TransformOutput {
        &self.output
    }

    fn push(&mut self, rows: &InputRows, made: &mut MadeRows) -> Result<(), TransformError> {
        let time = rows.column(0);
        let values: Vec<Column<'_>> =
            (1..=self.settings.values.len()).map(|need| rows.column(need)).collect();
        let mut row = 0;
        while row < rows.rows() {
            let Moment { period, form, time: moment } = self.settings.moment(&time, row)?;
            if self.period.is_some_and(|newest| newest > period) {
                return Err(descending());
            }
            if self.period != Some(period) {
                self.flush(made);
                self.period = Some(period);
            }
            // Most rows have the time of the one before. Of those that do, the series come first,
            // then column by column their values.
            let end = self.settings.end_of_moment(&time, row, rows.rows());
            let (with, width) = (self.settings.with, values.len());
            self.places.clear();
            for row in row..end {
                let new = || Bucket::new(with, width);
                let place = self.series.place(rows.group(row), form, new);
                self.series.at(place).begin(moment).map_err(|_| descending())?;
                self.places.push(place);
            }
            for (at, column) in values.iter().enumerate() {
                for (place, row) in self.places.iter().zip(row..end) {
                    self.series.at(*place).set(at, read_number(column, row));
                }
            }
            row = end;
        }
        Ok(())
    }

    fn finish(&mut self, made: &mut MadeRows) -> Result<(), TransformError> {
        self.flush(made);
        Ok(())
    }
}

impl Resample {
    /// Makes the rows of the period that has ended, those of shorter periods first: the host orders
    /// them by series.
    fn flush(&mut self, made: &mut MadeRows) {
        let Some(ordinal) = self.period.take() else { return };
        let Settings { to, form, partial, .. } = self.settings;
        let date = to.first_day(ordinal);
        let period = PeriodCode { form, ordinal }.to_string();
        let mut all = self.series.drain();
        all.sort_by_key(|series| series.form.unit());
        for series in &mut all {
            let part = match self.settings.axis {
                _ if partial => None,
                TimeAxis { period: Some(_), .. } => Some(series.form.unit()),
                TimeAxis { unit, .. } => unit,
            };
            let parts = |day| part.map_or(0, |part| parts_of(to, ordinal, part, day));
            let mut results = series.value.results(parts);
            if !self.settings.axis.series.is_empty() {
                made.group(series.group);
            }
            for (at, column) in self.made.iter().enumerate() {
                match column {
                    MadeColumn::Date => made.date(at, date),
                    MadeColumn::Period => made.text(at, Some(&period)),
                    MadeColumn::Summary(made_type) => {
                        make_number(made, at, *made_type, results.next().flatten());
                    }
                }
            }
        }
    }
}

impl Settings {
    /// Returns the first of `rows` behind `row` that has another time.
    fn end_of_moment(&self, time: &Column<'_>, row: usize, rows: usize) -> usize {
        let mut behind = row + 1..rows;
        let other = if self.axis.period.is_some() {
            let text = time.text(row);
            behind.find(|row| time.text(*row) != text)
        } else {
            let day = time.days(row);
            behind.find(|row| time.days(*row) != day)
        };
        other.unwrap_or(rows)
    }

    /// Returns the place of a row in time.
    fn moment(&self, time: &Column<'_>, row: usize) -> Result<Moment, TransformError> {
        let refuse = |sentence: String| Err(TransformError::UnsupportedRows(sentence));
        if self.axis.period.is_none() {
            let Some(day) = time.days(row) else {
                return refuse("a row has no date".to_owned());
            };
            // A week ends on any day: its rows are told apart by their days.
            let unit = self.axis.unit.filter(|unit| *unit != CalendarUnit::Week);
            let part = unit.map_or(day, |unit| unit.ordinal(day));
            let time = Time { ordinal: day, part };
            return Ok(Moment { period: self.to.ordinal(day), form: self.form, time });
        }
        let Some(text) = time.text(row) else {
            return refuse("a row has no period; leave such rows out by a condition".to_owned());
        };
        match PeriodCode::parse(text) {
            Some(PeriodCode { form, ordinal }) if form == self.form || form.unit() < self.to => {
                let months = |unit: CalendarUnit| unit.months().unwrap_or(1);
                let period = ordinal * months(form.unit()) / months(self.to);
                Ok(Moment { period, form, time: Time { ordinal, part: ordinal } })
            }
            _ => {
                let to = self.to.as_str();
                refuse(format!("`{text}` is no part of a {to}; leave such rows out by a condition"))
            }
        }
    }
}

fn descending() -> TransformError {
    TransformError::UnsupportedRows(
        "the rows do not ascend in time, so no period is known to be over; where another \
         transform comes first, let its rows ascend by date"
            .to_owned(),
    )
}
