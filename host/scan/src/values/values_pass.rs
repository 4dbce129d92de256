//! Values of columns that have few, counted (contract-15-values-stored).

use arrow::array::RecordBatch;
use arrow::error::ArrowError;
use yearbook_domain::values::{MAX_TEXT_BYTES, MAX_VALUES, StoredValues, ValuesPage};
use yearbook_domain::{Column, ColumnRole};

use super::ValueCounter;

/// Bytes of text that the values of all columns together take at most, an equal part for each.
const MAX_VALUE_BYTES: usize = 16 << 20;

/// Values of the rows of a table, being counted.
pub struct ValuesPass {
    counter: ValueCounter,
    /// Bytes of text that the values of a column take at most.
    column_bytes: usize,
}

impl ValuesPass {
    /// Nothing yet of a table with `columns`, of whose rows those in the positions `read` will
    /// come; all that [`Self::needed`] returns are among them.
    #[must_use]
    pub fn new(columns: &[Column], read: &[usize]) -> Self {
        let has_room = |at: usize| columns.get(at).is_some_and(StoredValues::has_room_for);
        let counted = read.iter().copied().enumerate().filter(|(_, column)| has_room(*column));
        let counted: Vec<(usize, usize)> = counted.collect();
        let date = read.iter().position(|column| is_date(columns.get(*column)));
        let page = ValuesPage { limit: MAX_VALUES, after: None };
        Self {
            column_bytes: MAX_TEXT_BYTES.min(MAX_VALUE_BYTES / counted.len().max(1)),
            counter: ValueCounter::new(counted, date, &page),
        }
    }

    /// Returns the positions of those of `columns` whose values are counted, and of their dates.
    #[must_use]
    pub fn needed(columns: &[Column]) -> Vec<usize> {
        let is_needed =
            |column: &Column| StoredValues::has_room_for(column) || is_date(Some(column));
        (0..columns.len()).filter(|at| columns.get(*at).is_some_and(is_needed)).collect()
    }

    /// Takes in the next rows.
    ///
    /// # Errors
    /// [`ArrowError`] for rows of other columns.
    pub fn update(&mut self, batch: &RecordBatch) -> Result<(), ArrowError> {
        self.counter.update(batch)?;
        self.counter.drop_large_columns(self.column_bytes);
        Ok(())
    }

    /// Returns the values of the columns that have few.
    #[must_use]
    pub fn finish(self) -> StoredValues {
        StoredValues::new(self.counter.finish().1)
    }
}

fn is_date(column: Option<&Column>) -> bool {
    column.is_some_and(|column| column.role == ColumnRole::Date)
}
