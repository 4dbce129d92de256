//! A few rows as JSON objects. Data responses are the encoders' work; this is for previews of ten rows.

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::datatypes::{DataType, Float64Type, Int32Type, Int64Type};
use serde_json::{Map, Value};

/// The first `limit` rows, with the columns called `names` in that order.
///
/// # Errors
/// A sentence about a column that is missing or of a type that is never stored.
pub(super) fn of(batch: &RecordBatch, names: &[&str], limit: usize) -> Result<Vec<Map<String, Value>>, String> {
    let column = |name: &&str| batch.column_by_name(name).ok_or_else(|| format!("column {name} is not in the preview"));
    let columns: Vec<&ArrayRef> = names.iter().map(column).collect::<Result<_, _>>()?;
    let row = |index: usize| {
        let cell = |(name, array): (&&str, &&ArrayRef)| Ok(((*name).to_owned(), cell(array.as_ref(), index)?));
        names.iter().zip(&columns).map(cell).collect::<Result<Map<_, _>, String>>()
    };
    (0..batch.num_rows().min(limit)).map(row).collect()
}

/// One value; null where it is null, NaN or infinite (contract 3).
fn cell(array: &dyn Array, row: usize) -> Result<Value, String> {
    if array.is_null(row) {
        return Ok(Value::Null);
    }
    Ok(match array.data_type() {
        DataType::Utf8 => array.as_string::<i32>().value(row).into(),
        DataType::LargeUtf8 => array.as_string::<i64>().value(row).into(),
        DataType::Utf8View => array.as_string_view().value(row).into(),
        DataType::Int64 => array.as_primitive::<Int64Type>().value(row).into(),
        DataType::Float64 => array.as_primitive::<Float64Type>().value(row).into(),
        DataType::Boolean => array.as_boolean().value(row).into(),
        DataType::Dictionary(key, _) if **key == DataType::Int32 => {
            let dictionary = array.as_dictionary::<Int32Type>();
            let key = dictionary.key(row).ok_or("a dictionary key is missing")?;
            cell(dictionary.values().as_ref(), key)?
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
        let words: DictionaryArray<Int32Type> = vec![Some("x"), None, Some("x")].into_iter().collect();
        let columns: [(&str, ArrayRef); 5] = [
            ("text", Arc::new(StringArray::from(vec![Some("ā"), Some(""), None]))),
            ("word", Arc::new(words)),
            ("whole", Arc::new(Int64Array::from(vec![Some(i64::MAX), Some(-1), None]))),
            ("number", Arc::new(Float64Array::from(vec![0.1, f64::NAN, f64::INFINITY]))),
            ("yes", Arc::new(BooleanArray::from(vec![Some(true), Some(false), None]))),
        ];
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        assert_eq!(
            json!(of(&batch, &["yes", "text", "word", "whole", "number"], 10).unwrap()),
            json!([
                {"yes": true, "text": "ā", "word": "x", "whole": i64::MAX, "number": 0.1},
                {"yes": false, "text": "", "word": null, "whole": -1, "number": null},
                {"yes": null, "text": null, "word": "x", "whole": null, "number": null},
            ])
        );
        assert_eq!(of(&batch, &["text"], 1).unwrap().len(), 1);
        assert!(of(&batch, &["missing"], 1).is_err());
    }
}
