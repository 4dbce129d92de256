//! Columns that are what they are whichever way they were decoded. Dictionaries that are large
//! beside the rows that refer to them carry only the values that these use, since encoders render
//! every value.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, DictionaryArray, Int32Array, UInt32Array};
use arrow::buffer::{BooleanBuffer, Buffer};
use arrow::compute::take;
use arrow::datatypes::Int32Type;
use arrow::error::ArrowError;

use crate::decode::{clear_nulls, with_own_bits};

/// A dictionary stays whole that has a value for this many rows at most: finding out which are used
/// would cost more than it saves.
const ROWS_PER_VALUE: usize = 4;

/// `column` with the values that its rows use, in the order in which they were. What it is depends
/// on the column alone.
pub(super) fn compact_dictionary(column: ArrayRef) -> Result<ArrayRef, ArrowError> {
    let Some(keyed) = column.as_dictionary_opt::<Int32Type>() else { return Ok(column) };
    let (keys, values) = (keyed.keys(), keyed.values());
    let has_values = keys.null_count() < keys.len();
    if has_values && values.len().saturating_mul(ROWS_PER_VALUE) <= keys.len() {
        return Ok(column);
    }
    let place = |key: i32| usize::try_from(key).unwrap_or(usize::MAX);
    // One bit a value: a dictionary may have thousands for each row.
    let mut words = vec![0_u64; values.len().div_ceil(64)];
    for key in keys.iter().flatten().map(place) {
        if let Some(word) = words.get_mut(key / 64) {
            *word |= 1 << (key % 64);
        }
    }
    let is_used = BooleanBuffer::new(Buffer::from_vec(words), 0, values.len());
    let mut used: Vec<u32> = Vec::with_capacity(values.len().min(keys.len()));
    used.extend(is_used.set_indices_u32());
    if used.len() == values.len() {
        return Ok(column);
    }
    let mut new_keys = vec![0_i32; values.len()];
    for (new, old) in (0..).zip(&used) {
        new_keys[*old as usize] = new;
    }
    let new_key = |key: i32| new_keys.get(place(key)).copied();
    let keys: Int32Array = keys.iter().map(|key| key.and_then(new_key)).collect();
    let values = take(values, &UInt32Array::from(used), None)?;
    Ok(Arc::new(DictionaryArray::try_new(keys, values)?))
}

/// The same, with nothing where there is null.
pub(super) fn canonical_column(column: ArrayRef) -> Result<ArrayRef, ArrowError> {
    with_own_bits(clear_nulls(compact_dictionary(column)?)?)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use arrow::array::StringArray;
    use arrow::compute::cast;
    use arrow::datatypes::DataType;

    use super::*;

    fn keyed(keys: &[Option<i32>], values: usize) -> ArrayRef {
        let values =
            StringArray::from_iter_values((0..values).map(|value| format!("value {value}")));
        Arc::new(
            DictionaryArray::<Int32Type>::try_new(
                Int32Array::from(keys.to_vec()),
                Arc::new(values),
            )
            .unwrap(),
        )
    }

    fn check(keys: &[Option<i32>], values: usize, expected: &[&str]) {
        let column = keyed(keys, values);
        let compact = compact_dictionary(Arc::clone(&column)).unwrap();
        let texts: Vec<_> =
            compact.as_any_dictionary().values().as_string::<i32>().iter().flatten().collect();
        assert_eq!(texts, expected);
        let plain = |column: &ArrayRef| cast(column, &DataType::Utf8).unwrap().to_data();
        assert_eq!(plain(&compact), plain(&column), "every row says what it said");
    }

    #[test]
    fn few_rows_carry_only_the_values_that_they_use() {
        check(&[Some(70), Some(3), None, Some(70)], 100, &["value 3", "value 70"]);
        check(&[None, None], 100, &[]);
        check(&[], 100, &[]);
        check(&[Some(1), Some(0)], 2, &["value 0", "value 1"]);
        check(&[Some(1); 8], 2, &["value 0", "value 1"]);
        check(&[Some(1); 7], 2, &["value 1"]);
    }

    #[test]
    fn slices_and_plain_columns_are_taken_as_they_are() {
        let slice = keyed(&[Some(9), Some(8), None, Some(1)], 10).slice(1, 2);
        let compact = compact_dictionary(slice).unwrap();
        assert_eq!(compact.as_any_dictionary().values().len(), 1);
        assert!(compact.is_valid(0) && compact.is_null(1));
        let plain: ArrayRef = Arc::new(StringArray::from(vec!["a"]));
        assert!(Arc::ptr_eq(&compact_dictionary(Arc::clone(&plain)).unwrap(), &plain));
    }
}
