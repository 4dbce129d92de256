//! A cube: dimensions with their categories in order, and a row for each cell that has a value. The
//! values that a category gives its rows are read once, not once a row.

mod checks;
mod columns;
mod px_time;

use std::collections::BTreeMap;

use yearbook_sdk::reader::{
    ColumnRequest, FilePlace, ReadColumn, ReadRefusal, RequestedType, RowBuilder, match_columns,
};

use self::checks::{check_class, check_dimensions, check_values, count_cells};
use self::columns::{CategoryValue, Content, CubeColumn, cube_column, file_columns, unit_of_value};
use crate::document::{Document, Values};

/// A cube and the place of the next row.
#[derive(Debug)]
pub(crate) struct Cube {
    columns: Vec<CubeColumn>,
    sizes: Vec<u64>,
    values: Values,
    texts: BTreeMap<u64, String>,
    statuses: BTreeMap<u64, String>,
    common_status: Option<String>,
    keep_missing: bool,
    /// The next cell; among the sparse ones the next of them.
    next: u64,
}

impl Cube {
    /// Checks what the file says and finds what is asked for.
    pub(crate) fn new(
        mut document: Document,
        requests: &[ColumnRequest],
        last_day: bool,
        keep_missing: bool,
    ) -> Result<Self, ReadRefusal> {
        check_class(&document)?;
        let cells = count_cells(&document)?;
        let unit = unit_of_value(&document);
        let dimensions = check_dimensions(&mut document)?;
        check_values(&mut document, cells, keep_missing)?;
        let has_status = document.common_status.is_some() || !document.statuses.is_empty();
        let (names, mut file) = file_columns(&dimensions, has_status);
        let mut found = match_columns(&names, requests)?;
        if requests.is_empty() {
            let value = names.iter().position(|name| name == "value");
            for column in found.iter_mut().filter(|column| Some(column.position) == value) {
                column.requested_type = RequestedType::Number;
            }
        }
        let mut columns = Vec::with_capacity(found.len());
        for column in found {
            let place = &mut file[column.position];
            columns.push(cube_column(column, place, &dimensions, &unit, last_day)?);
        }
        Ok(Self {
            columns,
            sizes: document.sizes,
            values: document.values,
            texts: document.texts,
            statuses: document.statuses,
            common_status: document.common_status,
            keep_missing,
            next: 0,
        })
    }

    /// The columns that the reader gives.
    pub(crate) fn columns(&self) -> Vec<ReadColumn> {
        self.columns.iter().map(|column| column.about.clone()).collect()
    }

    /// Adds rows until the batch is full or the cube ends.
    pub(crate) fn add_rows(&mut self, rows: &mut RowBuilder) -> Result<(), ReadRefusal> {
        while !rows.is_full() {
            let Some((cell, number)) = self.next_cell() else { break };
            self.add_row(cell, number, rows)?;
        }
        Ok(())
    }

    /// Position and number of the next cell that becomes a row.
    fn next_cell(&mut self) -> Option<(u64, Option<f64>)> {
        loop {
            let at = self.next;
            let index = usize::try_from(at).ok()?;
            let (cell, number) = match &self.values {
                Values::Sparse(cells) => {
                    let (cell, number) = *cells.get(index)?;
                    (cell, (!number.is_nan()).then_some(number))
                }
                Values::Dense { numbers, valid } => {
                    let number = *numbers.get(index)?;
                    (at, valid.get(index).copied().unwrap_or_default().then_some(number))
                }
                Values::Missing => return None,
            };
            self.next += 1;
            if number.is_some() || self.keep_missing || self.texts.contains_key(&cell) {
                return Some((cell, number));
            }
        }
    }

    fn add_row(
        &self,
        cell: u64,
        number: Option<f64>,
        rows: &mut RowBuilder,
    ) -> Result<(), ReadRefusal> {
        for (at, column) in self.columns.iter().enumerate() {
            match &column.content {
                Content::Dimension(dimension, values) => {
                    // The last dimension changes fastest.
                    let inner: u64 = self.sizes[dimension + 1..].iter().product();
                    let category = cell / inner.max(1) % self.sizes[*dimension].max(1);
                    let value = usize::try_from(category).ok().and_then(|at| values.get(at));
                    match value.and_then(Option::as_ref) {
                        Some(CategoryValue::Text(text)) => rows.text(at, text),
                        Some(CategoryValue::Integer(value)) => rows.integer(at, *value),
                        Some(CategoryValue::Number(value)) => rows.number(at, *value),
                        Some(CategoryValue::Boolean(value)) => rows.boolean(at, *value),
                        None => rows.null(at),
                    }
                }
                Content::Value => self.add_value(at, column.requested_type, cell, number, rows)?,
                Content::Status => match self.statuses.get(&cell).or(self.common_status.as_ref()) {
                    Some(status) => rows.text(at, status),
                    None => rows.null(at),
                },
            }
        }
        rows.end_row();
        Ok(())
    }

    fn add_value(
        &self,
        at: usize,
        requested: RequestedType,
        cell: u64,
        number: Option<f64>,
        rows: &mut RowBuilder,
    ) -> Result<(), ReadRefusal> {
        let refused = |why: &str| {
            ReadRefusal::unsupported(FilePlace::path(format!("$.value, cell {cell}")), why)
        };
        match (requested, number, self.texts.get(&cell)) {
            (_, None, None) => rows.null(at),
            (RequestedType::Number, Some(number), _) => rows.number(at, number),
            (RequestedType::Integer, Some(number), _) => {
                let integer = as_integer(number);
                let why = "is no whole number; declare the column as number";
                rows.integer(at, integer.ok_or_else(|| refused(why))?);
            }
            (RequestedType::Text, Some(number), _) => rows.text(at, &number.to_string()),
            (requested, None, Some(text)) => rows
                .parse(at, requested, text, false)
                .map_err(|why| refused(&format!("{text:?} {why}")))?,
            _ => {
                return Err(refused(
                    "is a number; declare the column as number, integer or string",
                ));
            }
        }
        Ok(())
    }
}

fn as_integer(number: f64) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    #[expect(clippy::cast_possible_truncation, reason = "a whole number below 2^53")]
    (number.fract() == 0.0 && number.abs() <= EXACT).then_some(number as i64)
}
