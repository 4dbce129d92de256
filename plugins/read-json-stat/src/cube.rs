//! A cube: dimensions with their categories in order, and a row for each cell that has a value. The
//! values that a category gives its rows are read once, not once a row.

mod checks;
mod columns;
mod px_time;

use std::collections::BTreeMap;

use yearbook_sdk::reader::{
    ColumnRequest, FilePlace, ReadColumn, ReadRefusal, RequestedType, RowBuilder,
    match_qualified_columns,
};

use self::checks::{check_class, check_dimensions, check_values, count_cells};
use self::columns::{
    CategoryValue, Content, CubeColumn, FileColumn, cube_column, file_columns, unit_of_value,
};
use crate::cells::{CellValue, Cells, PackedValue};
use crate::document::Document;
use crate::number::whole_number;

/// A cube and the place of the next row.
#[derive(Debug)]
pub(crate) struct Cube {
    columns: Vec<CubeColumn>,
    sizes: Vec<u64>,
    cells: Cells,
    statuses: BTreeMap<u64, String>,
    common_status: Option<String>,
    keep_missing: bool,
    /// Cells of the cube.
    count: u64,
    /// The next cell.
    next: u64,
    /// The next of the file's values.
    entry: usize,
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
        let count = count_cells(&document)?;
        let dimensions = check_dimensions(&mut document)?;
        let unit = unit_of_value(&document.metric, &dimensions);
        check_values(&mut document, count, keep_missing)?;
        let file = file_columns(&dimensions, document.has_status());
        let names: Vec<String> = file.iter().map(|column| column.name(&dimensions)).collect();
        let path = |at: usize| file[at].path(&dimensions);
        let mut found = match_qualified_columns(&names, path, requests)?;
        if requests.is_empty() {
            let value = |position: usize| file[position] == FileColumn::Value;
            for column in found.iter_mut().filter(|column| value(column.position)) {
                column.requested_type = RequestedType::Number;
            }
        }
        let mut columns = Vec::with_capacity(found.len());
        for column in found {
            let place = file[column.position];
            columns.push(cube_column(column, place, &dimensions, &unit, last_day)?);
        }
        Ok(Self {
            columns,
            sizes: document.sizes,
            cells: document.cells,
            statuses: document.statuses,
            common_status: document.common_status,
            keep_missing,
            count,
            next: 0,
            entry: 0,
        })
    }

    /// The columns that the reader gives.
    pub(crate) fn columns(&self) -> Vec<ReadColumn> {
        self.columns.iter().map(|column| column.about.clone()).collect()
    }

    /// Adds rows until the batch is full or the cube ends.
    pub(crate) fn add_rows(&mut self, rows: &mut RowBuilder) -> Result<(), ReadRefusal> {
        let mut scratch = String::new();
        while !rows.is_full() {
            let Some((cell, value)) = self.next_cell() else { break };
            self.add_row(cell, self.cells.unpack(value, &mut scratch), rows)?;
        }
        Ok(())
    }

    /// Position and value of the next cell that becomes a row.
    fn next_cell(&mut self) -> Option<(u64, PackedValue)> {
        loop {
            let found = self.cells.entry(self.entry);
            let left_out = found.is_none_or(|(cell, _)| cell > self.next);
            let (cell, value) = match found {
                _ if self.keep_missing && left_out && self.next < self.count => {
                    (self.next, PackedValue::MISSING)
                }
                found => {
                    self.entry += 1;
                    found?
                }
            };
            self.next = cell + 1;
            if self.keep_missing || value != PackedValue::MISSING {
                return Some((cell, value));
            }
        }
    }

    fn add_row(
        &self,
        cell: u64,
        value: CellValue<'_>,
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
                Content::Value => {
                    add_value(at, column.requested_type, value, rows).map_err(|why| {
                        let place = FilePlace::path(format!("$.value, cell {cell}"));
                        ReadRefusal::unsupported(place, why)
                    })?;
                }
                Content::Status => match self.statuses.get(&cell).or(self.common_status.as_ref()) {
                    Some(status) => rows.text(at, status),
                    None => rows.null(at),
                },
            }
        }
        rows.end_row();
        Ok(())
    }
}

fn add_value(
    at: usize,
    requested: RequestedType,
    value: CellValue<'_>,
    rows: &mut RowBuilder,
) -> Result<(), String> {
    match (requested, value) {
        (_, CellValue::Missing) => rows.null(at),
        (RequestedType::Integer, CellValue::Number(text)) => {
            let integer = whole_number(text).ok_or_else(|| {
                format!("{text} is no whole number of 64 bits; declare the column as number")
            })?;
            rows.integer(at, integer);
        }
        (
            RequestedType::Date | RequestedType::Period | RequestedType::Boolean,
            CellValue::Number(text),
        ) => {
            return Err(format!(
                "{text} is a number; declare the column as number, integer or string"
            ));
        }
        (_, CellValue::Number(text) | CellValue::Text(text)) => {
            rows.parse(at, requested, text, false).map_err(|why| format!("{text:?} {why}"))?
        }
    }
    Ok(())
}
