//! The latest rows of a table as cells (contract-9-latest-rows).

use std::ops::Range;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::datatypes::DataType;
use yearbook_domain::ColumnRole;
use yearbook_domain::preview_facts::{
    LATEST_ROWS, LatestRows, MAX_CELL_CHARACTERS, MAX_TABLE_COLUMNS, PreviewCell,
};

use super::figures::NumberColumn;
use super::table_shape::TableShape;

/// Rows to show, being found.
#[derive(Debug)]
pub(super) struct LatestRowsPass {
    /// Rows of the table that are shown.
    window: Range<u64>,
    /// Positions of the columns that are shown.
    shown: Vec<usize>,
    found: LatestRows,
}

impl LatestRowsPass {
    pub(super) fn new(shape: &TableShape) -> Self {
        let newest_first = shape.date.is_some();
        let count = shape.rows.min(LATEST_ROWS);
        let visible = |position: &usize| {
            shape.columns.get(*position).is_some_and(|column| column.role != ColumnRole::Geometry)
        };
        let mut shown: Vec<usize> = (0..shape.columns.len()).filter(visible).collect();
        let columns_left_out = shown.len().saturating_sub(MAX_TABLE_COLUMNS) as u64;
        shown.truncate(MAX_TABLE_COLUMNS);
        Self {
            window: if newest_first { shape.rows - count..shape.rows } else { 0..count },
            found: LatestRows {
                columns: shown.iter().map(|position| shape.name(*position).to_owned()).collect(),
                columns_left_out,
                newest_first,
                rows: Vec::new(),
            },
            shown,
        }
    }

    /// Takes in a batch whose first row is row `first` of the table.
    pub(super) fn update(&mut self, batch: &RecordBatch, first: u64) {
        for (row, position) in (0..batch.num_rows()).zip(first..) {
            if self.window.contains(&position) {
                let cells = self.shown.iter().map(|column| cell(batch, *column, row)).collect();
                self.found.rows.push(cells);
            }
        }
    }

    pub(super) fn finish(mut self) -> LatestRows {
        if self.found.newest_first {
            self.found.rows.reverse();
        }
        self.found
    }
}

fn cell(batch: &RecordBatch, column: usize, row: usize) -> PreviewCell {
    let Some(array) = batch.columns().get(column).filter(|array| array.is_valid(row)) else {
        return PreviewCell::Null;
    };
    if let Some(numbers) = NumberColumn::new(batch, column) {
        return numbers.cell(row).figure().map_or(PreviewCell::Null, PreviewCell::Number);
    }
    other_cell(array, row)
}

fn other_cell(array: &ArrayRef, row: usize) -> PreviewCell {
    match array.data_type() {
        DataType::Boolean => PreviewCell::Boolean(array.as_boolean().value(row)),
        DataType::Utf8 => {
            PreviewCell::of_text(array.as_string::<i32>().value(row), MAX_CELL_CHARACTERS)
        }
        // Stored columns have no other type.
        _ => PreviewCell::Null,
    }
}
