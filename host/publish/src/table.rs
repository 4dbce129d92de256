//! A package's table: read from any input format into the same typed columns, checked, and sorted.
//!
//! Bound: rows are held column by column without compression (text as it is plus 4 bytes, 8 bytes
//! a number and the number of the row) up to the budget of the sort, and beyond it lie in temporary
//! files. Reading and checking add only chunks of [`MAX_BYTES`]; an Arrow file is read one of its
//! own batches at a time.

pub(crate) mod arrow_source;
pub(crate) mod cell;
pub(crate) mod check;
pub(crate) mod column_builder;
pub(crate) mod convert;
pub(crate) mod csv_source;
pub(crate) mod distinct_values;
mod meaning_check;
pub(crate) mod numbered_rows;
pub(crate) mod open;
pub(crate) mod percent_unit;
pub(crate) mod plugin_source;
pub(crate) mod reader_columns;
pub(crate) mod row_weight;
pub(crate) mod source;
pub(crate) mod text_facts;
pub(crate) mod unique;

use arrow::array::RecordBatch;

/// Rows of a chunk at most.
pub(crate) const MAX_ROWS: usize = 65_536;

/// Text bytes after which a chunk is closed; one row may exceed it.
pub(crate) const MAX_BYTES: usize = 16 << 20;

/// Consecutive rows of the input.
#[derive(Clone, Debug)]
pub(crate) struct TableChunk {
    /// Data row (from 1) of the first row.
    pub(crate) first_row: u64,
    /// Columns in the order of the package, types as [`yearbook_scan::schema::stored_type`] says.
    pub(crate) batch: RecordBatch,
}
