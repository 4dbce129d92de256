//! Values of properties, each of which a tile has once (Vector Tile 2.1, section 4.4).

use std::collections::HashMap;

use yearbook_sdk::{Column, DataType, Error, Field};

use crate::wire::{bytes_field, number_field, zigzag};

/// Longest text of a property. One that is longer is not there: a tile is drawn, and cut text would
/// pass for whole.
const LONGEST_TEXT: usize = 10_000;

/// Makes sure that a column has values that a tile can hold.
///
/// # Errors
/// [`Error::UnsupportedSchema`].
pub(crate) fn check(field: &Field) -> Result<(), Error> {
    match field.value_type() {
        DataType::Utf8
        | DataType::LargeUtf8
        | DataType::Int64
        | DataType::Float64
        | DataType::Boolean
        | DataType::Null => Ok(()),
        _ => Err(Error::UnsupportedSchema(format!(
            "column `{}` has the Arrow type `{}`, for which vector tiles have no value; leave the column out with `columns`",
            field.name, field.format
        ))),
    }
}

/// Appends the value of a row; nothing for null, for a number that is not finite, and for text that
/// is too long.
fn write(column: &Column<'_>, row: usize, out: &mut Vec<u8>) {
    if let Some(text) = column.text(row) {
        if text.len() <= LONGEST_TEXT {
            bytes_field(1, text.as_bytes(), out);
        }
    } else if let Some(value) = column.number(row) {
        if value.is_finite() {
            // A double: field 3, of eight bytes.
            out.push(3 << 3 | 1);
            out.extend_from_slice(&value.to_le_bytes());
        }
    } else if let Some(value) = column.integer(row) {
        match u64::try_from(value) {
            Ok(value) => number_field(5, value, out),
            Err(_) => number_field(6, zigzag(value), out),
        }
    } else if let Some(value) = column.boolean(row) {
        number_field(7, value.into(), out);
    }
}

/// Values by number.
#[derive(Debug, Default)]
pub(crate) struct ValuePool {
    numbers: HashMap<Box<[u8]>, usize>,
    values: Vec<Box<[u8]>>,
    scratch: Vec<u8>,
}

impl ValuePool {
    /// The number of a row's value; `None` if it has none.
    pub(crate) fn add(&mut self, column: &Column<'_>, row: usize) -> Option<usize> {
        self.scratch.clear();
        write(column, row, &mut self.scratch);
        if self.scratch.is_empty() {
            return None;
        }
        if let Some(number) = self.numbers.get(&self.scratch[..]) {
            return Some(*number);
        }
        let number = self.values.len();
        self.values.push(self.scratch.as_slice().into());
        self.numbers.insert(self.scratch.as_slice().into(), number);
        Some(number)
    }

    /// A value as a message.
    pub(crate) fn value(&self, number: usize) -> &[u8] {
        &self.values[number]
    }

    /// Number of all values.
    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }

    /// Keeps those that `number` is called for, under new numbers.
    pub(crate) fn renumber<'a>(&mut self, numbers: impl Iterator<Item = &'a mut usize>) {
        let mut kept = Self::default();
        let mut new = vec![None; self.values.len()];
        for number in numbers {
            let before = *number;
            *number = *new[before].get_or_insert_with(|| {
                let value = std::mem::take(&mut self.values[before]);
                kept.values.push(value.clone());
                kept.numbers.insert(value, kept.values.len() - 1);
                kept.values.len() - 1
            });
        }
        *self = kept;
    }
}
