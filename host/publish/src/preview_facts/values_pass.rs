//! Values of columns that have few, counted (contract-15-values-stored).

use arrow::array::RecordBatch;
use arrow::error::ArrowError;
use yearbook_domain::values::{MAX_TEXT_BYTES, MAX_VALUES, StoredValues, ValuesPage};
use yearbook_domain::{Column, ColumnRole};
use yearbook_scan::ValueCounter;

/// Bytes of text that the values of all columns together take at most, an equal part for each.
pub(super) const MAX_VALUE_BYTES: usize = 16 << 20;

/// Values of the rows of a table, being counted.
pub(crate) struct ValuesPass {
    counter: ValueCounter,
    /// Bytes of text that the values of a column take at most.
    column_bytes: usize,
}

impl ValuesPass {
    /// Nothing yet of a table with `columns`.
    pub(crate) fn new(columns: &[Column]) -> Self {
        let has_room = |at: &usize| columns.get(*at).is_some_and(StoredValues::has_room_for);
        let counted: Vec<usize> = (0..columns.len()).filter(has_room).collect();
        let date = columns.iter().position(|column| column.role == ColumnRole::Date);
        let page = ValuesPage { limit: MAX_VALUES, after: None };
        Self {
            column_bytes: MAX_TEXT_BYTES.min(MAX_VALUE_BYTES / counted.len().max(1)),
            counter: ValueCounter::new(counted.into_iter().map(|at| (at, at)), date, &page),
        }
    }

    /// Takes in the next rows, all columns of them.
    pub(crate) fn update(&mut self, batch: &RecordBatch) -> Result<(), ArrowError> {
        self.counter.update(batch)?;
        self.counter.drop_large_columns(self.column_bytes);
        Ok(())
    }

    /// The values of the columns that have few.
    pub(crate) fn finish(self) -> StoredValues {
        StoredValues::new(self.counter.finish().1)
    }
}
