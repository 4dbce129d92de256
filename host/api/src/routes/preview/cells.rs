//! Values of a few rows as JSON, long texts cut. Data responses are the encoders' work; this is for
//! previews of ten rows.

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::datatypes::{DataType, Float64Type, Int32Type, Int64Type};
use serde_json::Value;

/// Characters of a text that are shown (contract-4-preview-bounds).
pub(super) const MAX_TEXT_CHARACTERS: usize = 1_000;

/// Columns of a batch, in the order in which they are shown.
pub(super) struct Cells<'a>(Vec<&'a ArrayRef>);

impl<'a> Cells<'a> {
    /// The columns called `names`.
    ///
    /// # Errors
    /// A sentence about a column that is missing.
    pub(super) fn new<'n>(
        batch: &'a RecordBatch,
        names: impl Iterator<Item = &'n str>,
    ) -> Result<Self, String> {
        let column = |name: &str| {
            batch.column_by_name(name).ok_or_else(|| format!("column {name} is not in the preview"))
        };
        names.map(column).collect::<Result<_, _>>().map(Self)
    }

    /// The values of one row.
    ///
    /// # Errors
    /// A sentence about a column of a type that is never stored.
    pub(super) fn row(&self, row: usize) -> Result<Vec<Value>, String> {
        self.0.iter().map(|array| cell_value(array.as_ref(), row)).collect()
    }
}

/// The beginning of a text.
fn truncate(text: &str) -> Value {
    let end = text.char_indices().nth(MAX_TEXT_CHARACTERS).map_or(text.len(), |(index, _)| index);
    text.split_at(end).0.into()
}

/// One value; null where it is null, NaN or infinite (contract-3-json).
fn cell_value(array: &dyn Array, row: usize) -> Result<Value, String> {
    if array.is_null(row) {
        return Ok(Value::Null);
    }
    Ok(match array.data_type() {
        DataType::Utf8 => truncate(array.as_string::<i32>().value(row)),
        DataType::LargeUtf8 => truncate(array.as_string::<i64>().value(row)),
        DataType::Utf8View => truncate(array.as_string_view().value(row)),
        DataType::Int64 => array.as_primitive::<Int64Type>().value(row).into(),
        DataType::Float64 => array.as_primitive::<Float64Type>().value(row).into(),
        DataType::Boolean => array.as_boolean().value(row).into(),
        DataType::Dictionary(key, _) if **key == DataType::Int32 => {
            let dictionary = array.as_dictionary::<Int32Type>();
            let key = dictionary.key(row).ok_or("a dictionary key is missing")?;
            cell_value(dictionary.values().as_ref(), key)?
        }
        other => return Err(format!("a column of type {other} cannot be shown")),
    })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::sync::Arc;

    use super::*;
    use arrow::array::{BooleanArray, DictionaryArray, Float64Array, Int64Array, StringArray};
    use serde_json::json;

    #[test]
    fn cells_of_every_stored_type_are_shown_contract_3() {
        let words: DictionaryArray<Int32Type> =
            vec![Some("x"), None, Some("x")].into_iter().collect();
        let columns: [(&str, ArrayRef); 5] = [
            ("text", Arc::new(StringArray::from(vec![Some("ā"), Some(""), None]))),
            ("word", Arc::new(words)),
            ("whole", Arc::new(Int64Array::from(vec![Some(i64::MAX), Some(-1), None]))),
            ("number", Arc::new(Float64Array::from(vec![0.1, f64::NAN, f64::INFINITY]))),
            ("yes", Arc::new(BooleanArray::from(vec![Some(true), Some(false), None]))),
        ];
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let cells =
            Cells::new(&batch, ["yes", "text", "word", "whole", "number"].into_iter()).unwrap();
        for (row, expected) in [
            json!([true, "ā", "x", i64::MAX, 0.1]),
            json!([false, "", null, -1, null]),
            json!([null, null, "x", null, null]),
        ]
        .into_iter()
        .enumerate()
        {
            assert_eq!(json!(cells.row(row).unwrap()), expected);
        }
        assert!(Cells::new(&batch, ["missing"].into_iter()).is_err());
    }

    #[test]
    fn texts_are_cut_at_a_thousand_characters_contract_4() {
        let texts = ["ā".repeat(1_000), "ā".repeat(1_001), "ā\u{304}".repeat(2_000)];
        let batch = RecordBatch::try_from_iter([(
            "text",
            Arc::new(StringArray::from(texts.to_vec())) as ArrayRef,
        )])
        .unwrap();
        let cells = Cells::new(&batch, ["text"].into_iter()).unwrap();
        for row in 0..3 {
            assert_eq!(
                cells.row(row).unwrap()[0].as_str().unwrap().chars().count(),
                1_000,
                "{row}"
            );
        }
    }
}
