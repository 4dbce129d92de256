//! The transform `pivot`: the values of a column become columns (contract-16-pivot). Which columns
//! come out is known before a row is read, from the values that the snapshot stores. Holds the
//! cells of one date, since rows ascend by date, and those without one, which come last.

mod cells;
mod names;
mod settings;

use std::collections::VecDeque;

use yearbook_sdk::generator::Role;
use yearbook_sdk::text::CivilDate;
use yearbook_sdk::transform::{
    Codes, InputRows, MadeRows, MadeType, Needs, OutputColumn, Relation, TransformDescription,
    TransformError, TransformOutput,
};
use yearbook_sdk::{Kind, Options, Parameter, Schema, Transform};

use cells::{Cells, PivotRow, Value};
use settings::Settings;

/// Values that become columns at most.
const MOST_VALUES: usize = 4_000;

/// Columns of an answer at most.
const MOST_COLUMNS: usize = 4_096;

yearbook_sdk::export_transform!(Pivot);

/// One response.
#[derive(Debug)]
pub struct Pivot {
    settings: Settings,
    /// The date of the dated rows that have come last.
    date: Option<i32>,
    /// Cells of this date.
    cells: Cells,
    /// Cells without a date: rows with them may stand anywhere.
    undated: Cells,
    /// Rows of dates that are over.
    ready: VecDeque<PivotRow>,
    output: TransformOutput,
    made: Vec<MadeColumn>,
}

/// A column that is made.
#[derive(Debug, Clone, Copy)]
enum MadeColumn {
    Date,
    Period,
    /// Of the values with this number.
    Cell(usize),
}

impl Transform for Pivot {
    fn describe() -> TransformDescription {
        let text =
            |name, docs| Parameter { name, kind: Kind::Text, default: "", allowed: &[], docs };
        TransformDescription {
            name: "pivot",
            version: env!("CARGO_PKG_VERSION"),
            title: "Pivot",
            independent: false,
            parameters: vec![
                text("column", "The column whose values become columns. Required."),
                text(
                    "value",
                    "The column of the values in them; needed where there are several value columns.",
                ),
            ],
            docs: "Makes a column of each value that a column has and that conditions on it let through, at most 4,000, in ascending order and named in snake_case; equal names get `_2`, `_3`. \
                   The other columns, but not other value columns, tell the rows apart, which come by date and then by these columns. \
                   Two rows for one cell are refused: `aggregate` makes one of them first. Where dates or periods become columns, rows have neither.",
        }
    }

    fn plan(schema: &Schema, options: &Options) -> Result<Needs, TransformError> {
        Ok(Settings::new(schema, options)?.needs())
    }

    fn open(schema: &Schema, codes: &Codes, options: &Options) -> Result<Self, TransformError> {
        let settings = Settings::new(schema, options)?;
        let mut columns = Vec::new();
        let mut made = Vec::new();
        for (at, field) in schema.fields.iter().enumerate() {
            let name = &field.name;
            if settings.date == Some(at) {
                let date = OutputColumn::made(name, MadeType::Date);
                columns.push(OutputColumn { role: Some(Role::Date), ..date });
                made.push(MadeColumn::Date);
            } else if settings.period == Some(at) {
                columns.push(OutputColumn {
                    role: Some(Role::Period),
                    values_of: Some(at),
                    ..OutputColumn::made(name, MadeType::Text)
                });
                made.push(MadeColumn::Period);
            } else if settings.others.contains(&at) {
                columns.push(OutputColumn::group(name, at));
            }
        }
        let names = columns.iter().map(|column| column.name.as_str());
        let position = |at: usize| names.clone().position(|name| name == schema.fields[at].name);
        let times = settings.date.into_iter().chain(settings.period);
        let order = times.chain(settings.others.iter().copied()).filter_map(position).collect();
        let values = codes.for_column(settings.column);
        if values.len() > MOST_VALUES || columns.len() + values.len() > MOST_COLUMNS {
            let sentence = format!(
                "`{}` has {} values, more than the {MOST_VALUES} that can become columns; leave some out by a condition on it",
                schema.fields[settings.column].name,
                values.len(),
            );
            return Err(TransformError::invalid_option("column", sentence));
        }
        let values = values.iter().map(|code| code.value.as_str());
        let unit = schema.fields[settings.value].unit();
        let cells = names::column_names(values, names).into_iter().map(|name| OutputColumn {
            role: Some(Role::Value),
            unit: unit.map(str::to_owned),
            ..OutputColumn::made(name, settings.value_type)
        });
        let cells: Vec<OutputColumn> = cells.collect();
        made.extend((0..cells.len()).map(MadeColumn::Cell));
        columns.extend(cells);
        if columns.is_empty() {
            let sentence = "no column is left: no value of the column is let through".to_owned();
            return Err(TransformError::UnsupportedSchema(sentence));
        }
        let output = TransformOutput { columns, rows: Relation::New, order };
        let (cells, undated, ready) = (Cells::default(), Cells::default(), VecDeque::new());
        Ok(Self { settings, date: None, cells, undated, ready, output, made })
    }

    fn output(&self) -> &TransformOutput {
        &self.output
    }

    fn push(&mut self, rows: &InputRows, made: &mut MadeRows) -> Result<(), TransformError> {
        let (codes, values) = (rows.column(0), rows.column(1));
        let dates = self.settings.date.map(|_| rows.column(2));
        let periods = self.settings.period.map(|_| rows.column(2 + usize::from(dates.is_some())));
        for row in 0..rows.rows() {
            let Some(code) = codes.code(row) else {
                let sentence = "a row has no value that could become a column; leave such rows out \
                                by a condition on the column of `pivot.column`";
                return Err(TransformError::UnsupportedRows(sentence.to_owned()));
            };
            let date = dates.as_ref().and_then(|dates| dates.days(row));
            if date.is_some() && date != self.date {
                if date < self.date {
                    let sentence = "the rows do not ascend by date, so no date is known to be \
                                    over; where another transform comes first, let its rows do so";
                    return Err(TransformError::UnsupportedRows(sentence.to_owned()));
                }
                self.end_date()?;
                self.date = date;
            }
            let period = periods.as_ref().and_then(|periods| periods.text(row));
            let key = (rows.group(row), date, period);
            let cells = if date.is_some() { &mut self.cells } else { &mut self.undated };
            cells.add(key, (code, Value::read(&values, row)));
        }
        self.make(made);
        Ok(())
    }

    fn finish(&mut self, made: &mut MadeRows) -> Result<(), TransformError> {
        self.end_date()?;
        let undated = std::mem::take(&mut self.undated);
        self.end(undated)?;
        self.make(made);
        Ok(())
    }
}

impl Pivot {
    /// Takes the rows of the date that is over.
    fn end_date(&mut self) -> Result<(), TransformError> {
        let cells = std::mem::take(&mut self.cells);
        self.end(cells)
    }

    /// Takes the rows of cells that are whole.
    fn end(&mut self, cells: Cells) -> Result<(), TransformError> {
        let rows = cells.into_rows().map_err(|(row, number)| {
            let is_it = |column: &MadeColumn| matches!(column, MadeColumn::Cell(at) if *at == number);
            let made = self.made.iter().position(is_it).unwrap_or_default();
            let skipped = self.output.columns.len() - self.made.len();
            let name = &self.output.columns[made + skipped].name;
            let date = row.date.map(|day| CivilDate::from_days(day.into()).iso());
            let at = date.map(|date| format!(" at {date}")).unwrap_or_default();
            TransformError::UnsupportedRows(format!(
                "two rows are for one cell{at}, in the column `{name}`; apply `aggregate` before `pivot`, by the columns that are to stay"
            ))
        })?;
        self.ready.extend(rows);
        Ok(())
    }

    /// Makes rows that are ready, as many as a batch takes.
    fn make(&mut self, made: &mut MadeRows) {
        while !made.is_full() {
            let Some(row) = self.ready.pop_front() else { return };
            if !self.settings.others.is_empty() {
                made.group(row.group);
            }
            let mut cells = row.cells.iter().peekable();
            for (at, column) in self.made.iter().enumerate() {
                match column {
                    MadeColumn::Date => made.date(at, row.date),
                    MadeColumn::Period => made.text(at, row.period.as_deref()),
                    MadeColumn::Cell(number) => {
                        let cell = cells.next_if(|(column, _)| column == number);
                        let value = cell.and_then(|(_, value)| value.as_ref());
                        Value::make(value, made, at, self.settings.value_type);
                    }
                }
            }
        }
    }
}
