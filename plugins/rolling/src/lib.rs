//! The transform `rolling`: a summary of the newest values of a series, for each row. Sums and
//! means are exact and rounded once, so a window has the same bits wherever reading began.

mod settings;

use yearbook_sdk::transform::{
    Codes, InputRows, MadeRows, MadeType, Needs, OutputColumn, Relation, TransformDescription,
    TransformError, TransformOutput,
};
use yearbook_sdk::{Column, Field, Kind, Options, Parameter, Schema, Transform};
use yearbook_series::{
    Number, RecentValues, SeriesMap, Summary, is_status, make_number, read_number,
};

use settings::Settings;

yearbook_sdk::export_transform!(Rolling);

/// One response.
#[derive(Debug)]
pub struct Rolling {
    settings: Settings,
    series: SeriesMap<RecentValues<Number>>,
    /// Types of the columns that are made.
    made: Vec<MadeType>,
    output: TransformOutput,
}

impl Transform for Rolling {
    fn describe() -> TransformDescription {
        TransformDescription {
            name: "rolling",
            version: env!("CARGO_PKG_VERSION"),
            title: "Rolling windows",
            independent: false,
            parameters: vec![
                Parameter {
                    name: "window",
                    kind: Kind::Integer,
                    default: "3",
                    allowed: &[],
                    docs: "How many times a window has: that of the row, and those before it.",
                },
                Parameter {
                    name: "with",
                    kind: Kind::Text,
                    default: "mean",
                    allowed: &["mean", "sum", "min", "max", "count"],
                    docs: "What becomes of the values in a window. Nulls are left out.",
                },
                Parameter {
                    name: "partial",
                    kind: Kind::Boolean,
                    default: "false",
                    allowed: &[],
                    docs: "Compute what there is, also where a time or its value is missing; else that is null.",
                },
                Parameter {
                    name: "columns",
                    kind: Kind::Text,
                    default: "",
                    allowed: &[],
                    docs: "The columns, with commas between them; without a name all value columns.",
                },
            ],
            docs: "Summarises the values of a series at so many times up to that of the row, also where they lie before `start`. \
                   Times are as far apart as the codes of the periods say, or the dates of the table, so a gap never lets an older value in. \
                   Of several rows of one series and time the last one counts.",
        }
    }

    fn plan(schema: &Schema, options: &Options) -> Result<Needs, TransformError> {
        Ok(Settings::new(schema, options)?.needs())
    }

    fn open(schema: &Schema, _: &Codes, options: &Options) -> Result<Self, TransformError> {
        let settings = Settings::new(schema, options)?;
        let mut made = Vec::new();
        let column = |(at, field): (usize, &Field)| {
            if !settings.columns.contains(&at) {
                return OutputColumn::passed(&field.name, at);
            }
            let (column, made_type) = settings.with.output_column(field);
            made.push(made_type);
            OutputColumn { role: field.role().or(column.role), ..column }
        };
        // A status is that of the value of a row, and not of a window.
        let stays =
            |(at, field): &(usize, &Field)| settings.columns.contains(at) || !is_status(field);
        let columns = schema.fields.iter().enumerate().filter(stays).map(column).collect();
        let output = TransformOutput { columns, rows: Relation::Same, order: Vec::new() };
        Ok(Self { settings, series: SeriesMap::default(), made, output })
    }

    fn output(&self) -> &TransformOutput {
        &self.output
    }

    fn push(&mut self, rows: &InputRows, made: &mut MadeRows) -> Result<(), TransformError> {
        let time = rows.column(0);
        let values: Vec<Column<'_>> = (1..=self.made.len()).map(|need| rows.column(need)).collect();
        let mut known = None;
        for row in 0..rows.rows() {
            // Tables ascend in time, so most rows have that of the one before.
            if row == 0 || !self.settings.is_same_time(&time, row - 1, row) {
                known = self.settings.time(&time, row);
            }
            let Some((form, ordinal)) = known else {
                self.made.iter().enumerate().for_each(|(at, made_type)| {
                    make_number(made, at, *made_type, None);
                });
                continue;
            };
            let window = self.series.entry(rows.group(row), form, RecentValues::default);
            window.add(ordinal, values.iter().map(|column| read_number(column, row)))?;
            window.forget_before(ordinal.saturating_sub(self.settings.window - 1), values.len());
            for (at, made_type) in self.made.iter().enumerate() {
                let values = window.column(at, values.len()).flatten();
                make_number(made, at, *made_type, self.settings.result(values));
            }
        }
        Ok(())
    }
}

impl Settings {
    /// Returns the summary of the values in a window.
    fn result(&self, values: impl Iterator<Item = Number>) -> Option<Number> {
        let mut summary = Summary::new(self.with);
        let count = values.inspect(|value| summary.add(Some(*value))).count();
        let is_whole = i32::try_from(count).is_ok_and(|count| count == self.window);
        summary.result().filter(|_| is_whole || self.partial)
    }
}
