//! Rows of the output under construction.

use super::{MadeType, Relation, Source, TransformError, TransformOutput};
use crate::value_buffer::{BATCH_BYTES, BATCH_ROWS, ValueBuffer, take_rows};
use crate::wire::RawMadeRows;

/// Rows that a transform adds, value by value: one value or null for every row in each column of
/// the source [`Source::Made`], which are numbered from 0 in the order of the output. With
/// [`Relation::Chosen`] each row is named by [`MadeRows::take`]; with [`Relation::New`] and a
/// column of the source [`Source::Group`] each has a [`MadeRows::group`].
///
/// ```
/// use yearbook_sdk::transform::{MadeRows, MadeType, OutputColumn, Relation, TransformOutput};
///
/// let columns = vec![OutputColumn::made("rate", MadeType::Number)];
/// let output = TransformOutput { columns, rows: Relation::New, order: Vec::new() };
/// let mut made = MadeRows::new(&output);
/// made.number(0, Some(0.5));
/// made.number(0, None);
/// assert_eq!(made.rows(), 2);
/// ```
#[derive(Debug)]
pub struct MadeRows {
    relation: Relation,
    has_groups: bool,
    columns: Vec<ValueBuffer<MadeType>>,
    bytes: usize,
    take: Vec<u32>,
    groups: Vec<u32>,
}

impl MadeRows {
    /// No rows yet, of this output.
    ///
    /// ```
    /// use yearbook_sdk::transform::{MadeRows, OutputColumn, Relation, TransformOutput};
    ///
    /// let columns = vec![OutputColumn::passed("date", 0)];
    /// let output = TransformOutput { columns, rows: Relation::Chosen, order: Vec::new() };
    /// let mut made = MadeRows::new(&output);
    /// made.take(3);
    /// assert_eq!(made.rows(), 1);
    /// ```
    #[must_use]
    pub fn new(output: &TransformOutput) -> Self {
        let made_types = output.columns.iter().filter_map(|column| match column.source {
            Source::Made(made_type) => Some(made_type),
            Source::Passed(_) | Source::Group(_) => None,
        });
        let is_group = |source| matches!(source, Source::Group(_));
        Self {
            relation: output.rows,
            has_groups: output.rows == Relation::New
                && output.columns.iter().any(|column| is_group(column.source)),
            columns: made_types.map(ValueBuffer::new).collect(),
            bytes: 0,
            take: Vec::new(),
            groups: Vec::new(),
        }
    }

    /// Adds text, or null.
    ///
    /// ```
    /// use yearbook_sdk::transform::{MadeRows, MadeType, OutputColumn, Relation, TransformOutput};
    ///
    /// let columns = vec![OutputColumn::made("period", MadeType::Text)];
    /// let output = TransformOutput { columns, rows: Relation::Same, order: Vec::new() };
    /// let mut made = MadeRows::new(&output);
    /// made.text(0, Some("2026-Q1"));
    /// assert_eq!(made.rows(), 1);
    /// ```
    ///
    /// # Panics
    /// Panics where the column is of another type; a plugin's tests find that out.
    #[inline]
    pub fn text(&mut self, made: usize, value: Option<&str>) {
        let buffer = self.columns[made].expect_type(MadeType::Text);
        match value {
            Some(value) => {
                buffer.push_text(value);
                self.bytes += value.len() + size_of::<i32>();
            }
            None => {
                buffer.push_null();
                self.bytes += size_of::<i32>();
            }
        }
    }

    /// Adds an integer, or null.
    ///
    /// ```
    /// use yearbook_sdk::transform::{MadeRows, MadeType, OutputColumn, Relation, TransformOutput};
    ///
    /// let columns = vec![OutputColumn::made("count", MadeType::Integer)];
    /// let output = TransformOutput { columns, rows: Relation::Same, order: Vec::new() };
    /// let mut made = MadeRows::new(&output);
    /// made.integer(0, Some(12));
    /// assert_eq!(made.rows(), 1);
    /// ```
    ///
    /// # Panics
    /// As [`MadeRows::text`].
    #[inline]
    pub fn integer(&mut self, made: usize, value: Option<i64>) {
        self.fixed(made, MadeType::Integer, value.map(i64::to_le_bytes));
    }

    /// Adds a number, or null.
    ///
    /// ```
    /// use yearbook_sdk::transform::{MadeRows, MadeType, OutputColumn, Relation, TransformOutput};
    ///
    /// let columns = vec![OutputColumn::made("rate", MadeType::Number)];
    /// let output = TransformOutput { columns, rows: Relation::Same, order: Vec::new() };
    /// let mut made = MadeRows::new(&output);
    /// made.number(0, Some(0.5));
    /// assert_eq!(made.rows(), 1);
    /// ```
    ///
    /// # Panics
    /// As [`MadeRows::text`].
    #[inline]
    pub fn number(&mut self, made: usize, value: Option<f64>) {
        self.fixed(made, MadeType::Number, value.map(f64::to_le_bytes));
    }

    /// Adds a number or null for each of some rows: takes less time than one by one.
    ///
    /// ```
    /// use yearbook_sdk::transform::{MadeRows, MadeType, OutputColumn, Relation, TransformOutput};
    ///
    /// let columns = vec![OutputColumn::made("rate", MadeType::Number)];
    /// let output = TransformOutput { columns, rows: Relation::Same, order: Vec::new() };
    /// let mut made = MadeRows::new(&output);
    /// made.numbers(0, [Some(0.5), None].into_iter());
    /// assert_eq!(made.rows(), 2);
    /// ```
    ///
    /// # Panics
    /// As [`MadeRows::text`].
    pub fn numbers(&mut self, made: usize, values: impl Iterator<Item = Option<f64>>) {
        let buffer = self.columns[made].expect_type(MadeType::Number);
        let before = buffer.length();
        for value in values {
            match value {
                Some(value) => buffer.push_fixed(value.to_le_bytes()),
                None => buffer.push_null(),
            }
        }
        self.bytes += (buffer.length() - before) * size_of::<f64>();
    }

    /// Adds a boolean, or null.
    ///
    /// ```
    /// use yearbook_sdk::transform::{MadeRows, MadeType, OutputColumn, Relation, TransformOutput};
    ///
    /// let columns = vec![OutputColumn::made("final", MadeType::Boolean)];
    /// let output = TransformOutput { columns, rows: Relation::Same, order: Vec::new() };
    /// let mut made = MadeRows::new(&output);
    /// made.boolean(0, Some(true));
    /// assert_eq!(made.rows(), 1);
    /// ```
    ///
    /// # Panics
    /// As [`MadeRows::text`].
    #[inline]
    pub fn boolean(&mut self, made: usize, value: Option<bool>) {
        let buffer = self.columns[made].expect_type(MadeType::Boolean);
        match value {
            Some(value) => buffer.push_boolean(value),
            None => buffer.push_null(),
        }
        self.bytes += 1;
    }

    /// Adds a date as days since 1970-01-01, or null.
    ///
    /// ```
    /// use yearbook_sdk::transform::{MadeRows, MadeType, OutputColumn, Relation, TransformOutput};
    ///
    /// let columns = vec![OutputColumn::made("date", MadeType::Date)];
    /// let output = TransformOutput { columns, rows: Relation::Same, order: Vec::new() };
    /// let mut made = MadeRows::new(&output);
    /// made.date(0, Some(20_454));
    /// assert_eq!(made.rows(), 1);
    /// ```
    ///
    /// # Panics
    /// As [`MadeRows::text`].
    #[inline]
    pub fn date(&mut self, made: usize, days: Option<i32>) {
        self.fixed(made, MadeType::Date, days.map(i32::to_le_bytes));
    }

    /// Names a row of the batch that comes out, with [`Relation::Chosen`]: strictly ascending.
    ///
    /// ```
    /// use yearbook_sdk::transform::{MadeRows, OutputColumn, Relation, TransformOutput};
    ///
    /// let columns = vec![OutputColumn::passed("date", 0)];
    /// let output = TransformOutput { columns, rows: Relation::Chosen, order: Vec::new() };
    /// let mut made = MadeRows::new(&output);
    /// made.take(3);
    /// assert_eq!(made.rows(), 1);
    /// ```
    #[inline]
    pub fn take(&mut self, row: usize) {
        self.take.push(count(row));
    }

    /// Gives a row the number of its group, with [`Relation::New`] and a column of the source
    /// [`Source::Group`].
    ///
    /// ```
    /// use yearbook_sdk::transform::{MadeRows, OutputColumn, Relation, TransformOutput};
    ///
    /// let columns = vec![OutputColumn::group("region", 0)];
    /// let output = TransformOutput { columns, rows: Relation::New, order: Vec::new() };
    /// let mut made = MadeRows::new(&output);
    /// made.group(0);
    /// assert_eq!(made.rows(), 1);
    /// ```
    #[inline]
    pub fn group(&mut self, group: usize) {
        self.groups.push(count(group));
    }

    /// Number of rows so far.
    ///
    /// ```
    /// use yearbook_sdk::transform::{MadeRows, MadeType, OutputColumn, Relation, TransformOutput};
    ///
    /// let columns = vec![OutputColumn::made("rate", MadeType::Number)];
    /// let output = TransformOutput { columns, rows: Relation::New, order: Vec::new() };
    /// assert_eq!(MadeRows::new(&output).rows(), 0);
    /// ```
    #[must_use]
    #[inline]
    pub fn rows(&self) -> usize {
        match self.relation {
            Relation::Chosen => self.take.len(),
            Relation::New if self.has_groups => self.groups.len(),
            Relation::Same | Relation::New => self.columns.first().map_or(0, ValueBuffer::length),
        }
    }

    /// Returns whether it has as many rows or bytes as a batch should have.
    ///
    /// ```
    /// use yearbook_sdk::transform::{MadeRows, MadeType, OutputColumn, Relation, TransformOutput};
    ///
    /// let columns = vec![OutputColumn::made("rate", MadeType::Number)];
    /// let output = TransformOutput { columns, rows: Relation::New, order: Vec::new() };
    /// assert!(!MadeRows::new(&output).is_full());
    /// ```
    #[must_use]
    #[inline]
    pub fn is_full(&self) -> bool {
        self.rows() >= BATCH_ROWS || self.bytes >= BATCH_BYTES
    }

    /// The rows that were made of a batch of so many rows, 0 after the last one; `None` without
    /// rows. The builder starts again.
    ///
    /// # Errors
    /// [`TransformError::Internal`] where columns do not have a value for each row.
    pub(crate) fn finish(&mut self, input: usize) -> Result<Option<RawMadeRows>, TransformError> {
        let rows = if self.relation == Relation::Same { input } else { self.rows() };
        let groups = if self.has_groups { rows } else { 0 };
        let take = if self.relation == Relation::Chosen { rows } else { 0 };
        let lengths = self.columns.iter().map(ValueBuffer::length);
        if let Some((made, length)) = lengths.enumerate().find(|(_, length)| *length != rows) {
            return Err(mismatch(&format!("made column {made} has {length} values"), rows));
        }
        if self.groups.len() != groups {
            return Err(mismatch(&format!("{} groups are given", self.groups.len()), groups));
        }
        if self.take.len() != take {
            return Err(mismatch(&format!("{} rows are taken", self.take.len()), take));
        }
        self.bytes = 0;
        if rows == 0 {
            return Ok(None);
        }
        Ok(Some(RawMadeRows {
            rows: take_rows(&mut self.columns, rows),
            take: std::mem::take(&mut self.take),
            groups: std::mem::take(&mut self.groups),
        }))
    }

    #[inline]
    fn fixed<const N: usize>(&mut self, made: usize, made_type: MadeType, value: Option<[u8; N]>) {
        let buffer = self.columns[made].expect_type(made_type);
        match value {
            Some(value) => buffer.push_fixed(value),
            None => buffer.push_null(),
        }
        self.bytes += N;
    }
}

fn mismatch(what: &str, wanted: usize) -> TransformError {
    TransformError::Internal(format!("{what} where there must be {wanted}"))
}

/// A number that crosses. Beyond its range the host refuses it.
#[inline]
fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::transform::OutputColumn;

    fn made(rows: Relation, columns: Vec<OutputColumn>) -> MadeRows {
        MadeRows::new(&TransformOutput { columns, rows, order: Vec::new() })
    }

    #[test]
    fn values_and_nulls_of_every_type_stand_in_their_buffers() {
        use MadeType::{Boolean, Date, Integer, Number, Text};
        let types = [Text, Integer, Number, Boolean, Date];
        let mut made = made(Relation::Same, types.map(|of| OutputColumn::made("c", of)).to_vec());
        for row in 0..9 {
            let is_null = row == 8;
            made.text(0, (!is_null).then_some("ab"));
            made.integer(1, (!is_null).then_some(row));
            made.number(2, (!is_null).then_some(0.5));
            made.boolean(3, (!is_null).then_some(true));
            made.date(4, (!is_null).then_some(-1));
        }
        assert_eq!(made.rows(), 9);
        let batch = made.finish(9).unwrap().unwrap();
        assert!(batch.take.is_empty() && batch.groups.is_empty());
        assert!(batch.rows.arrays.iter().all(|array| array.length == 9 && array.null_count == 1));
        let lengths: Vec<_> = batch.rows.buffers.iter().map(Vec::len).collect();
        assert_eq!(lengths, [2, 40, 16, 2, 72, 2, 72, 2, 2, 2, 36]);
        assert_eq!(batch.rows.buffers[0], [0xff, 0]);
        assert_eq!(batch.rows.buffers[10][28..], [[0xff; 4], [0; 4]].concat());
        assert_eq!(made.rows(), 0, "it starts again");
    }

    #[test]
    fn every_row_has_its_values_its_place_and_its_group() {
        let number = || OutputColumn::made("n", MadeType::Number);
        let group = || OutputColumn::group("g", 0);
        let fails = |made: &mut MadeRows, input| made.finish(input).unwrap_err().to_string();

        let mut same = made(Relation::Same, vec![number()]);
        same.number(0, None);
        assert_eq!(fails(&mut same, 2), "made column 0 has 1 values where there must be 2");
        let mut passed = made(Relation::Same, vec![OutputColumn::passed("p", 0)]);
        assert_eq!(passed.finish(3).unwrap().map(|made| made.rows.rows), Some(3));
        assert_eq!(passed.finish(0), Ok(None));

        let mut chosen = made(Relation::Chosen, vec![number()]);
        assert_eq!(chosen.finish(3), Ok(None), "no row is chosen");
        chosen.take(1);
        assert_eq!(fails(&mut chosen, 3), "made column 0 has 0 values where there must be 1");
        chosen.number(0, None);
        assert_eq!(chosen.finish(3).unwrap().map(|made| made.take), Some(vec![1]));

        let mut new = made(Relation::New, vec![number(), group()]);
        new.group(5);
        new.number(0, None);
        assert_eq!(new.finish(0).unwrap().map(|made| made.groups), Some(vec![5]));
        let mut ungrouped = made(Relation::New, vec![number()]);
        ungrouped.number(0, None);
        ungrouped.group(5);
        assert_eq!(fails(&mut ungrouped, 0), "1 groups are given where there must be 0");
    }

    #[test]
    fn a_batch_is_full_by_rows_or_by_bytes() {
        let mut rows = made(Relation::New, vec![OutputColumn::made("t", MadeType::Text)]);
        rows.text(0, Some(&"x".repeat(BATCH_BYTES)));
        assert!(rows.is_full());
        rows.finish(0).unwrap();
        for _ in 0..BATCH_ROWS {
            assert!(!rows.is_full());
            rows.text(0, None);
        }
        assert!(rows.is_full());
    }
}
