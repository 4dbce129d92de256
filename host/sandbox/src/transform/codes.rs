//! Codes of a column: its distinct values, and the position of each.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int32Array};
use arrow::datatypes::{DataType, Int32Type, Int64Type};

use crate::encode::CODES;

/// The distinct values of a column, ascending.
pub(super) struct CodeTable {
    values: Vec<String>,
    positions: HashMap<String, i32>,
}

impl CodeTable {
    /// `None` where there are more than a column may have.
    pub(super) fn new(values: Vec<String>) -> Option<Arc<Self>> {
        let count = i32::try_from(values.len()).ok().filter(|_| values.len() <= CODES)?;
        let positions = values.iter().cloned().zip(0..count).collect();
        Some(Arc::new(Self { values, positions }))
    }

    /// The values.
    pub(super) fn values(&self) -> &[String] {
        &self.values
    }

    /// Position of each row's value, null for null. The first value that is no code where there is
    /// one.
    ///
    /// # Errors
    /// The value.
    pub(super) fn encode(&self, column: &ArrayRef) -> Result<Int32Array, String> {
        let position = |value: &str| self.positions.get(value).copied().ok_or(value.to_owned());
        match column.data_type() {
            DataType::Dictionary(..) => {
                // Each value of a dictionary is looked up once.
                let column = column.as_dictionary::<Int32Type>();
                let used = column.occupancy();
                let values = column.values().as_string::<i32>();
                let positions = (0..values.len()).map(|key| {
                    let wanted = used.value(key) && values.is_valid(key);
                    wanted.then(|| position(values.value(key))).transpose()
                });
                let positions = positions.collect::<Result<Vec<_>, _>>()?;
                let row = |key: Option<i32>| {
                    positions.get(usize::try_from(key?).ok()?).copied().flatten()
                };
                Ok(column.keys().iter().map(row).collect())
            }
            DataType::Int64 => {
                let column = column.as_primitive::<Int64Type>();
                column
                    .iter()
                    .map(|row| row.map(|row| position(&row.to_string())).transpose())
                    .collect()
            }
            DataType::Boolean => {
                let text = |row| if row { "true" } else { "false" };
                let rows = column.as_boolean().iter();
                rows.map(|row| row.map(|row| position(text(row))).transpose()).collect()
            }
            _ => {
                let column = column.as_string_opt::<i32>().ok_or("another type")?;
                column.iter().map(|row| row.map(position).transpose()).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use arrow::array::{BooleanArray, DictionaryArray, Int64Array, StringArray};

    use super::*;

    #[test]
    fn a_code_is_the_position_of_the_value_whatever_the_type_contract_16() {
        let table = |values: &[&str]| {
            CodeTable::new(values.iter().map(|value| (*value).to_owned()).collect()).unwrap()
        };
        let keyed: DictionaryArray<Int32Type> =
            [Some("b"), None, Some("x"), Some("a")].into_iter().collect();
        let cases: [(ArrayRef, &[&str]); 4] = [
            (Arc::new(StringArray::from(vec![Some("b"), None, Some("a")])), &["a", "b"]),
            (Arc::new(Int64Array::from(vec![Some(10), None, Some(-2)])), &["-2", "10"]),
            (Arc::new(BooleanArray::from(vec![Some(true), None, Some(false)])), &["false", "true"]),
            // A value of the dictionary that no row has need not be a code.
            (Arc::new(keyed.slice(0, 2)), &["a", "b"]),
        ];
        for (column, values) in cases {
            let found: Vec<_> = table(values).encode(&column).unwrap().iter().collect();
            assert_eq!(found, [Some(1), None, Some(0)][..column.len()], "{column:?}");
        }
        let other: ArrayRef = Arc::new(keyed);
        assert_eq!(table(&["a", "b"]).encode(&other).unwrap_err(), "x");
        let many = |count: usize| CodeTable::new((0..count).map(|n| n.to_string()).collect());
        assert!(many(CODES).is_some() && many(CODES + 1).is_none());
    }
}
