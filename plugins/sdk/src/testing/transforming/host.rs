//! The host's half of a response: what it reads for a transform, how it numbers groups, what it
//! makes of results, and what it refuses.

mod rules;

use std::collections::HashMap;

use self::rules::{check_needs, check_output};
use super::TransformedTable;
use super::cell::{self, Cell};
use crate::calendar::{CalendarSpan, CalendarUnit, parse_date};
use crate::generator::Role;
use crate::testing::{Table, batches, data};
use crate::transform::driver::TransformDriver;
use crate::transform::{
    Code, Codes, Form, MadeType, Needs, Priming, Relation, Source, Transform, TransformError,
    TransformOutput,
};
use crate::wire::{RawInputRows, RawMadeRows};
use crate::{Error, Field, Options, Schema};

/// A response.
#[derive(Clone)]
pub(super) struct Call<'a> {
    pub(super) table: &'a Table,
    pub(super) options: Options,
    /// The client's `start`.
    pub(super) start: Option<i32>,
    /// Rows of the batches, again and again.
    pub(super) batch_rows: Vec<usize>,
    /// Instances that take turns.
    pub(super) instances: usize,
    /// Distinct values of columns, where more are known than the table has.
    pub(super) known: &'a [Option<Vec<String>>],
}

/// Facts that are known when rows are read.
struct Response<'a> {
    schema: &'a Schema,
    needs: Needs,
    output: TransformOutput,
    /// Column by column.
    cells: Vec<Vec<Cell>>,
    /// Column by column, where it is coded.
    codes: Vec<HashMap<String, i32>>,
    /// Number of each group of values, and the row in which they appeared.
    numbers: HashMap<String, u32>,
    first_rows: Vec<usize>,
}

/// A row of the output.
struct ResultRow {
    /// Row of the input that it belongs to, where it belongs to one.
    input: Option<usize>,
    cells: Vec<Cell>,
}

impl<'a> Call<'a> {
    pub(super) fn new(table: &'a Table, options: &Options) -> Self {
        let batch_rows = table.batches().next().map_or(1, |rows| rows.len());
        let options = options.clone();
        Self { table, options, start: None, batch_rows: vec![batch_rows], instances: 1, known: &[] }
    }

    /// The response.
    ///
    /// # Errors
    /// The error with which the transform declines.
    ///
    /// # Panics
    /// Panics when the transform breaks a rule of the interface.
    pub(super) fn run<T: Transform>(&self) -> Result<TransformedTable, TransformError> {
        let (schema, cells) = self.read()?;
        let needs = T::plan(&schema, &self.options)?;
        assert_eq!(T::plan(&schema, &self.options).as_ref(), Ok(&needs), "it plans otherwise");
        check_needs(&schema, &needs);
        let codes = codes(&schema, &cells, &needs, self.known)?;
        let open = |_| TransformDriver::<T>::open(&schema, &codes, &self.options);
        let mut instances = (0..self.instances).map(open).collect::<Result<Vec<_>, _>>()?;
        let output = instances[0].output().clone();
        check_output(&schema, &needs, &output);
        assert!(
            instances.iter().all(|instance| *instance.output() == output),
            "another instance has another output"
        );
        let dates = dates(&schema, &cells);
        let (pushed, primed) = self.select(&needs, &dates, self.table.rows());
        let mut response = Response::new(&schema, needs, output, cells, &codes);
        for rows in cut(&primed, &self.batch_rows) {
            let rows = response.input(rows);
            for instance in &mut instances {
                instance.prime(rows.clone())?;
            }
        }
        let mut made = Vec::new();
        for (at, rows) in cut(&pushed, &self.batch_rows).into_iter().enumerate() {
            let input = response.input(rows);
            if let Some(rows_made) = instances[at % self.instances].push(input)? {
                let kept = |row: usize| self.start.is_none_or(|start| dates[row] >= start);
                let results = response.results(rows_made, rows)?;
                made.extend(results.into_iter().filter(|result| result.input.is_none_or(kept)));
            }
        }
        for instance in &mut instances {
            while let Some(rows_made) = instance.finish()? {
                assert!(response.output.rows == Relation::New, "rows come after the last batch");
                made.extend(response.results(rows_made, &[])?);
            }
            assert_eq!(*instance.output(), response.output, "the output has changed");
        }
        let mut rows: Vec<Vec<Cell>> = made.into_iter().map(|result| result.cells).collect();
        response.sort(&mut rows);
        let print = |row: Vec<Cell>| row.iter().map(Cell::print).collect();
        let rows = rows.into_iter().map(print).collect();
        Ok(TransformedTable { output: response.output, rows })
    }

    /// The table's schema and cells, column by column.
    ///
    /// # Errors
    /// As the plugin would see them.
    pub(super) fn read(&self) -> Result<(Schema, Vec<Vec<Cell>>), Error> {
        let table = self.table.clone().batches_of(self.table.rows());
        let schema = Schema::from_wire(table.wire_schema(false))?;
        let cells = batches(&table, false)?.first().map(cell::cells);
        let cells = cells.unwrap_or_else(|| vec![Vec::new(); schema.fields.len()]);
        Ok((schema, cells))
    }

    /// Rows that are pushed, and rows that come before them.
    fn select(&self, needs: &Needs, dates: &[i32], rows: usize) -> (Vec<usize>, Vec<usize>) {
        let axis = || assert!(!dates.is_empty() || rows == 0, "the table has no dates");
        let all = 0..rows;
        let pushed: Vec<usize> = match self.start {
            None => all.clone().collect(),
            Some(start) => {
                axis();
                let first = needs.before.map_or(start, |span| earlier(start, span));
                all.clone().filter(|row| dates[*row] >= first).collect()
            }
        };
        let primed = match &needs.prime {
            Priming::None => Vec::new(),
            Priming::All => pushed.clone(),
            Priming::Dates { first, last } => {
                axis();
                let date = |text: &str| {
                    parse_date(text).unwrap_or_else(|| panic!("it asks for the date {text}"))
                };
                let (first, last) = (date(first), date(last));
                all.filter(|row| (first..=last).contains(&dates[*row])).collect()
            }
        };
        (pushed, primed)
    }
}

impl<'a> Response<'a> {
    fn new(
        schema: &'a Schema,
        needs: Needs,
        output: TransformOutput,
        cells: Vec<Vec<Cell>>,
        codes: &Codes,
    ) -> Self {
        let positions = |column| {
            let values = codes.for_column(column).iter().map(|code| code.value.clone());
            values.zip(0..).collect()
        };
        let codes = (0..cells.len()).map(positions).collect();
        let (numbers, first_rows) = (HashMap::new(), Vec::new());
        Self { schema, needs, output, cells, codes, numbers, first_rows }
    }

    /// Buffers of these rows, as they cross.
    fn input(&mut self, rows: &[usize]) -> RawInputRows {
        let groups = match self.needs.groups.clone() {
            None => Vec::new(),
            Some(columns) => rows.iter().map(|row| self.group(&columns, *row)).collect(),
        };
        let crossing: Vec<(MadeType, Vec<Cell>)> = self
            .needs
            .columns
            .iter()
            .map(|need| {
                let cell = |row: &usize| {
                    let cell = &self.cells[need.column][*row];
                    match (need.form, cell) {
                        (Form::Plain, _) | (_, Cell::Null) => cell.clone(),
                        (Form::Coded, _) => {
                            Cell::Days(self.codes[need.column][&cell.print().unwrap_or_default()])
                        }
                        (Form::Days, _) => cell
                            .print()
                            .and_then(|text| parse_date(&text))
                            .map_or_else(|| panic!("{cell:?} is no date"), Cell::Days),
                    }
                };
                (
                    made_type(&self.schema.fields[need.column], need.form),
                    rows.iter().map(cell).collect(),
                )
            })
            .collect();
        let columns =
            crossing.iter().map(|(made_type, cells)| (*made_type, cells.iter().collect()));
        RawInputRows { batch: cell::raw_batch(columns, rows.len()), groups }
    }

    fn group(&mut self, columns: &[usize], row: usize) -> u32 {
        let values: Vec<_> = columns.iter().map(|column| &self.cells[*column][row]).collect();
        let next = data::count(self.first_rows.len());
        let first_rows = &mut self.first_rows;
        *self.numbers.entry(format!("{values:?}")).or_insert_with(|| {
            first_rows.push(row);
            next
        })
    }

    /// Rows of the output, each with the row of the input that it belongs to.
    fn results(
        &self,
        made: RawMadeRows,
        input: &[usize],
    ) -> Result<Vec<ResultRow>, TransformError> {
        let types: Vec<MadeType> = self
            .output
            .columns
            .iter()
            .filter_map(|column| match column.source {
                Source::Made(made_type) => Some(made_type),
                _ => None,
            })
            .collect();
        let count = made.rows.rows as usize;
        let cells = cell::made_cells(&types, made.rows)?;
        let taken: Option<Vec<usize>> = match self.output.rows {
            Relation::Same => Some(input.to_vec()),
            Relation::Chosen => {
                assert!(made.take.is_sorted_by(|a, b| a < b), "rows are not taken in their order");
                Some(made.take.iter().map(|row| input[*row as usize]).collect())
            }
            Relation::New => None,
        };
        let result = |at: usize| {
            let row = taken.as_ref().map(|taken| taken[at]);
            let mut made_columns = cells.iter();
            let columns = self.output.columns.iter().map(|column| match column.source {
                Source::Passed(column) => {
                    row.map_or(Cell::Null, |row| self.cells[column][row].clone())
                }
                Source::Group(column) => {
                    let group = match row {
                        None => made.groups[at] as usize,
                        Some(row) => {
                            let columns = self.needs.groups.iter().flatten();
                            let values: Vec<_> =
                                columns.map(|column| &self.cells[*column][row]).collect();
                            self.numbers[&format!("{values:?}")] as usize
                        }
                    };
                    self.cells[column][self.first_rows[group]].clone()
                }
                Source::Made(_) => {
                    let cell = made_columns.next().map_or(Cell::Null, |cells| cells[at].clone());
                    self.check_value(column.values_of, &cell);
                    cell
                }
            });
            ResultRow { input: row, cells: columns.collect() }
        };
        Ok((0..count).map(result).collect())
    }

    fn check_value(&self, values_of: Option<usize>, cell: &Cell) {
        if let Cell::Days(days) = cell {
            assert!(CalendarUnit::Day.first_day(*days).is_some(), "there is no day {days}");
        }
        if let Some(column) = values_of {
            assert!(
                *cell == Cell::Null || self.cells[column].contains(cell),
                "{cell:?} is no value of `{}`",
                self.schema.fields[column].name
            );
        }
    }

    /// Brings the rows into the order of the output.
    fn sort(&self, rows: &mut [Vec<Cell>]) {
        let is_made = |at: &&usize| matches!(self.output.columns[**at].source, Source::Made(_));
        let made: Vec<&usize> = self.output.order.iter().take_while(is_made).collect();
        let by_made = |a: &Vec<Cell>, b: &Vec<Cell>| {
            made.iter().map(|at| a[**at].compare(&b[**at])).find(|order| order.is_ne())
        };
        assert!(
            rows.is_sorted_by(|a, b| by_made(a, b).is_none_or(|order| order.is_lt())),
            "the rows do not have the order of the output"
        );
        rows.sort_by(|a, b| {
            let orders = self.output.order.iter().map(|at| a[*at].compare(&b[*at]));
            orders.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
        });
    }
}

/// Cuts rows into batches.
fn cut<'r>(mut rows: &'r [usize], sizes: &[usize]) -> Vec<&'r [usize]> {
    let mut batches = Vec::new();
    for size in sizes.iter().cycle() {
        if rows.is_empty() {
            break;
        }
        let (batch, rest) = rows.split_at((*size).clamp(1, rows.len()));
        batches.push(batch);
        rows = rest;
    }
    batches
}

/// Days of the date column, row by row; nothing where there is none.
pub(super) fn dates(schema: &Schema, cells: &[Vec<Cell>]) -> Vec<i32> {
    let column = schema.position(Role::Date).filter(|at| schema.fields[*at].is_date());
    let day = |cell: &Cell| cell.print().and_then(|text| parse_date(&text)).unwrap_or(i32::MIN);
    column.map_or_else(Vec::new, |at| cells[at].iter().map(day).collect())
}

/// The first date of the rows that are seen before `start`.
fn earlier(start: i32, span: CalendarSpan) -> i32 {
    let count = i32::try_from(span.count).unwrap_or(i32::MAX);
    span.unit.step(start, -count).unwrap_or_else(|| {
        // A month without that day: the whole month is early enough.
        let months = span.unit.months().unwrap_or(1).saturating_mul(count);
        let month = CalendarUnit::Month.ordinal(start).saturating_sub(months);
        CalendarUnit::Month.first_day(month).unwrap_or(i32::MIN)
    })
}

/// Type in which a column crosses.
fn made_type(field: &Field, form: Form) -> MadeType {
    if form != Form::Plain {
        return MadeType::Date;
    }
    match field.format.as_str() {
        "u" => MadeType::Text,
        "l" => MadeType::Integer,
        "g" => MadeType::Number,
        "b" => MadeType::Boolean,
        format => panic!("`{}` is of type {format}, which does not cross", field.name),
    }
}

/// Distinct values of the columns that are coded, ascending.
fn codes(
    schema: &Schema,
    cells: &[Vec<Cell>],
    needs: &Needs,
    known: &[Option<Vec<String>>],
) -> Result<Codes, TransformError> {
    let code = |value: String| Code { value, label: None };
    let mut codes = vec![None; cells.len()];
    for need in needs.columns.iter().filter(|need| need.form == Form::Coded) {
        let field = &schema.fields[need.column];
        if !matches!(field.format.as_str(), "u" | "l" | "b") {
            return Err(TransformError::UnsupportedSchema(format!(
                "the values of `{}` are not stored",
                field.name
            )));
        }
        if let Some(Some(known)) = known.get(need.column) {
            codes[need.column] = Some(known.iter().cloned().map(code).collect());
            continue;
        }
        let mut values: Vec<&Cell> =
            cells[need.column].iter().filter(|cell| **cell != Cell::Null).collect();
        values.sort_by(|a, b| a.compare(b));
        values.dedup();
        let values = values.into_iter().filter_map(Cell::print);
        codes[need.column] = Some(values.map(code).collect());
    }
    Ok(Codes(codes))
}
