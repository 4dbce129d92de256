//! Values of one column, numbered as they appear: what tells groups apart is compared as numbers,
//! and a value of a dictionary is looked up once for all rows that have it.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{DataType, Int32Type};
use arrow::error::ArrowError;
use arrow::row::{RowConverter, SortField};

use super::columns::value_type;

/// The number of null.
const NULL: u32 = 0;

/// The values of a column that have appeared.
pub(super) struct ColumnNumbers {
    converter: RowConverter,
    /// From 1.
    numbers: HashMap<Box<[u8]>, u32>,
    /// The last dictionary, with the number of each of its values.
    dictionary: Option<(ArrayRef, Vec<u32>)>,
    /// Bytes of the values.
    bytes: usize,
}

impl ColumnNumbers {
    pub(super) fn new(data_type: &DataType) -> Result<Self, ArrowError> {
        let field = SortField::new(value_type(data_type).clone());
        let (numbers, dictionary) = (HashMap::new(), None);
        Ok(Self { converter: RowConverter::new(vec![field])?, numbers, dictionary, bytes: 0 })
    }

    /// Bytes of the values that are kept.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Number of values.
    pub(super) fn count(&self) -> usize {
        self.numbers.len()
    }

    /// Number of each row's value.
    pub(super) fn number(&mut self, column: &ArrayRef) -> Result<Vec<u32>, ArrowError> {
        let keyed = column.as_dictionary_opt::<Int32Type>();
        let Some(keyed) = keyed.filter(|keyed| keyed.values().len() <= keyed.len()) else {
            let text = keyed.map(|_| arrow::compute::cast(column, value_type(column.data_type())));
            return self.look_up(text.transpose()?.as_ref().unwrap_or(column));
        };
        let of_values = match self.dictionary.take() {
            Some((values, numbers)) if Arc::ptr_eq(&values, keyed.values()) => numbers,
            _ => self.look_up(keyed.values())?,
        };
        let number = |key: Option<i32>| {
            let key = key.and_then(|key| usize::try_from(key).ok());
            key.and_then(|key| of_values.get(key).copied()).unwrap_or(NULL)
        };
        let numbers = match keyed.nulls() {
            None => keyed.keys().values().iter().map(|key| number(Some(*key))).collect(),
            Some(_) => keyed.keys().iter().map(number).collect(),
        };
        self.dictionary = Some((Arc::clone(keyed.values()), of_values));
        Ok(numbers)
    }

    fn look_up(&mut self, values: &ArrayRef) -> Result<Vec<u32>, ArrowError> {
        let rows = self.converter.convert_columns(std::slice::from_ref(values))?;
        let mut found = Vec::with_capacity(values.len());
        for (at, row) in rows.iter().enumerate() {
            if values.is_null(at) {
                found.push(NULL);
                continue;
            }
            if let Some(number) = self.numbers.get(row.data()) {
                found.push(*number);
                continue;
            }
            let next = u32::try_from(self.numbers.len() + 1);
            let next = next.map_err(|error| ArrowError::ExternalError(Box::new(error)))?;
            self.bytes += row.data().len();
            self.numbers.insert(row.data().into(), next);
            found.push(next);
        }
        Ok(found)
    }
}
