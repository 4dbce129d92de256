//! Rows under construction: a column's values in the buffers of the Arrow C data interface.

use super::{ReadColumn, ReadType};
use crate::value_buffer::{BATCH_BYTES, BATCH_ROWS, Layout, ValueBuffer, take_rows};
use crate::wire::RawRows;

/// Rows that a reader adds, value by value. Each row has one value or null for every column, in any
/// order, and ends with [`RowBuilder::end_row`].
///
/// ```
/// use yearbook_sdk::reader::{ReadColumn, ReadType, RowBuilder};
///
/// let column = ReadColumn {
///     name: "value".to_owned(),
///     read_type: ReadType::Number,
///     role: None,
///     unit: None,
///     description: None,
/// };
/// let mut rows = RowBuilder::new(&[column]);
/// rows.number(0, 1.5);
/// rows.end_row();
/// assert_eq!(rows.rows(), 1);
/// ```
#[derive(Debug)]
pub struct RowBuilder {
    columns: Vec<ValueBuffer<ReadType>>,
    rows: usize,
    bytes: usize,
}

impl RowBuilder {
    /// No rows yet, of these columns.
    ///
    /// ```
    /// use yearbook_sdk::reader::{ReadColumn, ReadType, RowBuilder};
    ///
    /// let column = ReadColumn {
    ///     name: "value".to_owned(),
    ///     read_type: ReadType::Text,
    ///     role: None,
    ///     unit: None,
    ///     description: None,
    /// };
    /// let mut rows = RowBuilder::new(&[column]);
    /// rows.null(0);
    /// rows.end_row();
    /// assert_eq!(rows.rows(), 1);
    /// ```
    #[must_use]
    pub fn new(columns: &[ReadColumn]) -> Self {
        let columns = columns.iter().map(|column| ValueBuffer::new(column.read_type)).collect();
        Self { columns, rows: 0, bytes: 0 }
    }

    /// Adds text. A text of 2 GiB and more does not fit into a batch, nor into a plugin's memory.
    ///
    /// ```
    /// use yearbook_sdk::reader::{ReadColumn, ReadType, RowBuilder};
    ///
    /// let column = ReadColumn {
    ///     name: "value".to_owned(),
    ///     read_type: ReadType::Text,
    ///     role: None,
    ///     unit: None,
    ///     description: None,
    /// };
    /// let mut rows = RowBuilder::new(&[column]);
    /// rows.text(0, "north");
    /// rows.end_row();
    /// assert_eq!(rows.rows(), 1);
    /// ```
    ///
    /// # Panics
    /// Panics where the column is of another type; a plugin's tests find that out.
    pub fn text(&mut self, column: usize, value: &str) {
        self.columns[column].expect_type(ReadType::Text).push_text(value);
        self.bytes += value.len() + size_of::<i32>();
    }

    /// Adds an integer.
    ///
    /// ```
    /// use yearbook_sdk::reader::{ReadColumn, ReadType, RowBuilder};
    ///
    /// let column = ReadColumn {
    ///     name: "value".to_owned(),
    ///     read_type: ReadType::Integer,
    ///     role: None,
    ///     unit: None,
    ///     description: None,
    /// };
    /// let mut rows = RowBuilder::new(&[column]);
    /// rows.integer(0, 7);
    /// rows.end_row();
    /// assert_eq!(rows.rows(), 1);
    /// ```
    ///
    /// # Panics
    /// As [`RowBuilder::text`].
    pub fn integer(&mut self, column: usize, value: i64) {
        self.columns[column].expect_type(ReadType::Integer).push_fixed(value.to_le_bytes());
        self.bytes += size_of::<i64>();
    }

    /// Adds a number.
    ///
    /// ```
    /// use yearbook_sdk::reader::{ReadColumn, ReadType, RowBuilder};
    ///
    /// let column = ReadColumn {
    ///     name: "value".to_owned(),
    ///     read_type: ReadType::Number,
    ///     role: None,
    ///     unit: None,
    ///     description: None,
    /// };
    /// let mut rows = RowBuilder::new(&[column]);
    /// rows.number(0, 0.1);
    /// rows.end_row();
    /// assert_eq!(rows.rows(), 1);
    /// ```
    ///
    /// # Panics
    /// As [`RowBuilder::text`].
    pub fn number(&mut self, column: usize, value: f64) {
        self.columns[column].expect_type(ReadType::Number).push_fixed(value.to_le_bytes());
        self.bytes += size_of::<f64>();
    }

    /// Adds a boolean.
    ///
    /// ```
    /// use yearbook_sdk::reader::{ReadColumn, ReadType, RowBuilder};
    ///
    /// let column = ReadColumn {
    ///     name: "value".to_owned(),
    ///     read_type: ReadType::Boolean,
    ///     role: None,
    ///     unit: None,
    ///     description: None,
    /// };
    /// let mut rows = RowBuilder::new(&[column]);
    /// rows.boolean(0, true);
    /// rows.end_row();
    /// assert_eq!(rows.rows(), 1);
    /// ```
    ///
    /// # Panics
    /// As [`RowBuilder::text`].
    pub fn boolean(&mut self, column: usize, value: bool) {
        self.columns[column].expect_type(ReadType::Boolean).push_boolean(value);
        self.bytes += 1;
    }

    /// Adds a null.
    ///
    /// ```
    /// use yearbook_sdk::reader::{ReadColumn, ReadType, RowBuilder};
    ///
    /// let column = ReadColumn {
    ///     name: "value".to_owned(),
    ///     read_type: ReadType::Number,
    ///     role: None,
    ///     unit: None,
    ///     description: None,
    /// };
    /// let mut rows = RowBuilder::new(&[column]);
    /// rows.null(0);
    /// rows.end_row();
    /// assert_eq!(rows.rows(), 1);
    /// ```
    pub fn null(&mut self, column: usize) {
        self.columns[column].push_null();
        self.bytes += size_of::<i64>();
    }

    /// Ends a row.
    ///
    /// ```
    /// use yearbook_sdk::reader::{ReadColumn, ReadType, RowBuilder};
    ///
    /// let column = ReadColumn {
    ///     name: "value".to_owned(),
    ///     read_type: ReadType::Text,
    ///     role: None,
    ///     unit: None,
    ///     description: None,
    /// };
    /// let mut rows = RowBuilder::new(&[column]);
    /// rows.text(0, "a");
    /// rows.end_row();
    /// assert_eq!(rows.rows(), 1);
    /// ```
    pub fn end_row(&mut self) {
        self.rows += 1;
        debug_assert!(
            self.columns.iter().all(|column| column.length() == self.rows),
            "every column has one value a row"
        );
    }

    /// Number of whole rows.
    ///
    /// ```
    /// use yearbook_sdk::reader::{ReadColumn, ReadType, RowBuilder};
    ///
    /// let column = ReadColumn {
    ///     name: "value".to_owned(),
    ///     read_type: ReadType::Text,
    ///     role: None,
    ///     unit: None,
    ///     description: None,
    /// };
    /// let mut rows = RowBuilder::new(&[column]);
    /// rows.text(0, "a");
    /// rows.end_row();
    /// assert_eq!(rows.rows(), 1);
    /// ```
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns whether it has as many rows or bytes as a batch should have.
    ///
    /// ```
    /// use yearbook_sdk::reader::{ReadColumn, ReadType, RowBuilder};
    ///
    /// let column = ReadColumn {
    ///     name: "value".to_owned(),
    ///     read_type: ReadType::Text,
    ///     role: None,
    ///     unit: None,
    ///     description: None,
    /// };
    /// let mut rows = RowBuilder::new(&[column]);
    /// assert!(!rows.is_full(), "nothing is in it yet");
    /// rows.text(0, "a");
    /// rows.end_row();
    /// assert_eq!(rows.rows(), 1);
    /// ```
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.rows >= BATCH_ROWS || self.bytes >= BATCH_BYTES
    }

    /// The batch; `None` without rows. The builder starts again.
    pub(crate) fn finish(&mut self) -> Option<RawRows> {
        if self.rows == 0 {
            return None;
        }
        let batch = take_rows(&mut self.columns, self.rows);
        (self.rows, self.bytes) = (0, 0);
        Some(batch)
    }
}

impl From<ReadType> for Layout {
    fn from(read_type: ReadType) -> Self {
        match read_type {
            ReadType::Text => Self::Text,
            ReadType::Integer | ReadType::Number => Self::Fixed(8),
            ReadType::Boolean => Self::Bits,
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn column(read_type: ReadType) -> ReadColumn {
        ReadColumn { name: "c".to_owned(), read_type, role: None, unit: None, description: None }
    }

    #[test]
    fn nulls_and_values_of_every_type_lie_where_arrow_wants_them() {
        let types = [ReadType::Text, ReadType::Integer, ReadType::Number, ReadType::Boolean];
        let mut rows = RowBuilder::new(&types.map(column));
        assert!(rows.finish().is_none());
        for row in 0..11_i64 {
            if row == 9 {
                (0..4).for_each(|at| rows.null(at));
            } else {
                rows.text(0, "ab");
                rows.integer(1, row);
                rows.number(2, 0.5);
                rows.boolean(3, true);
            }
            rows.end_row();
        }
        let batch = rows.finish().unwrap();
        assert_eq!(batch.rows, 11);
        assert!(batch.arrays.iter().all(|array| array.null_count == 1));
        assert_eq!(
            batch.arrays.iter().map(|array| array.buffers).collect::<Vec<_>>(),
            [3, 2, 2, 2]
        );
        assert_eq!(batch.buffers[0], [0xff, 0b101]);
        assert_eq!(batch.buffers[1].len(), 12 * 4);
        assert_eq!(batch.buffers[2].len(), 20);
        assert_eq!(batch.buffers[8], [0xff, 0b101]);
        assert!(rows.finish().is_none(), "it starts anew");
    }

    #[test]
    fn a_batch_is_full_by_rows_or_by_bytes() {
        let mut rows = RowBuilder::new(&[column(ReadType::Text)]);
        rows.text(0, &"x".repeat(BATCH_BYTES));
        rows.end_row();
        assert!(rows.is_full());
        rows.finish();
        for _ in 0..BATCH_ROWS {
            assert!(!rows.is_full());
            rows.text(0, "");
            rows.end_row();
        }
        assert!(rows.is_full());
    }
}
