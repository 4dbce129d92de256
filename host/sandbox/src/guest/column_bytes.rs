//! Bytes of the rows of a column.

use arrow::array::{Array, AsArray as _};

/// Returns the bytes of `column`, of a slice those of its rows alone, as
/// [`arrow::array::ArrayData::get_slice_memory_size`] counts them: of the types that a table has
/// without a copy of its description, which costs more than the sum.
pub(crate) fn column_bytes(column: &dyn Array) -> usize {
    if let Some(dictionary) = column.as_any_dictionary_opt() {
        return column_bytes(dictionary.keys()) + column_bytes(dictionary.values());
    }
    let nulls = if column.null_count() > 0 { column.len().div_ceil(8) } else { 0 };
    if let Some(texts) = column.as_string_opt::<i32>() {
        let ends = texts.value_offsets();
        let end = |end: Option<&i32>| end.and_then(|end| usize::try_from(*end).ok()).unwrap_or(0);
        return end(ends.last()) - end(ends.first()) + size_of_val(ends) + nulls;
    }
    match column.data_type().primitive_width() {
        Some(width) => column.len() * width + nulls,
        // Fails for types that no stored table has; a guest never sees their rows.
        None => column.to_data().get_slice_memory_size().unwrap_or(usize::MAX / 2),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::sync::Arc;

    use arrow::array::{ArrayRef, BooleanArray, DictionaryArray, Float64Array, StringArray};
    use arrow::datatypes::Int32Type;

    use super::*;

    #[test]
    fn bytes_are_those_that_arrow_counts() {
        let texts = [Some("a"), None, Some("Māori"), Some("a"), Some("")];
        let columns: [ArrayRef; 6] = [
            Arc::new(StringArray::from_iter(texts)),
            Arc::new(StringArray::from_iter_values(["x", "yz", "", "w", "v"])),
            Arc::new(DictionaryArray::<Int32Type>::from_iter(texts)),
            Arc::new(Float64Array::from_iter([Some(1.0), None, Some(f64::NAN), None, None])),
            Arc::new(Float64Array::from_iter_values([1.0, 2.0, 3.0, 4.0, 5.0])),
            Arc::new(BooleanArray::from_iter([Some(true), None, Some(false), None, None])),
        ];
        for column in columns {
            for (start, length) in [(0, 5), (1, 3), (4, 1), (2, 0)] {
                let rows = column.slice(start, length);
                let counted = rows.to_data().get_slice_memory_size().unwrap();
                assert_eq!(column_bytes(&rows), counted, "{:?}", rows.data_type());
            }
        }
    }
}
