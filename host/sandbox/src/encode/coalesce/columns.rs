//! Joins the columns of batches. Dictionaries of different batches become one whose values stand in
//! the order in which they first occur: arrow-rs's own merge depends on a hash that differs from
//! machine to machine, and an encoder may write a dictionary out as it is.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, DictionaryArray, Int32Array, RecordBatch, StringArray,
};
use arrow::compute;
use arrow::datatypes::{DataType, Int32Type};
use arrow::error::ArrowError;

/// One batch of all rows.
///
/// # Errors
/// Fails when batches differ in their columns, or a dictionary has more than 2^31 values.
pub(crate) fn concat(batches: &[RecordBatch]) -> Result<RecordBatch, ArrowError> {
    let Some(first) = batches.first() else {
        return Err(ArrowError::InvalidArgumentError("a part without rows".to_owned()));
    };
    if batches.len() == 1 {
        return Ok(first.clone());
    }
    let columns = (0..first.num_columns()).map(|index| {
        let pieces: Vec<&dyn Array> =
            batches.iter().map(|batch| batch.column(index).as_ref()).collect();
        match first.column(index).data_type() {
            DataType::Dictionary(keys, values)
                if **keys == DataType::Int32 && **values == DataType::Utf8 =>
            {
                concat_dictionaries(&pieces)
            }
            whole @ DataType::Dictionary(_, values) => {
                let plain = pieces
                    .iter()
                    .map(|piece| compute::cast(*piece, values))
                    .collect::<Result<Vec<_>, _>>()?;
                let plain =
                    compute::concat(&plain.iter().map(AsRef::as_ref).collect::<Vec<&dyn Array>>())?;
                compute::cast(&plain, whole)
            }
            _ => compute::concat(&pieces),
        }
    });
    RecordBatch::try_new(first.schema(), columns.collect::<Result<_, _>>()?)
}

fn concat_dictionaries(pieces: &[&dyn Array]) -> Result<ArrayRef, ArrowError> {
    let pieces: Vec<&DictionaryArray<Int32Type>> =
        pieces.iter().map(|piece| piece.as_dictionary::<Int32Type>()).collect();
    let one = pieces[0].values();
    if pieces.iter().all(|piece| {
        Arc::ptr_eq(piece.values(), one) || piece.values().to_data().ptr_eq(&one.to_data())
    }) {
        let keys: Vec<&dyn Array> = pieces.iter().map(|piece| piece.keys() as &dyn Array).collect();
        let keys = compute::concat(&keys)?.as_primitive::<Int32Type>().clone();
        return Ok(Arc::new(DictionaryArray::try_new(keys, Arc::clone(one))?));
    }
    let mut places: HashMap<Option<&str>, i32> = HashMap::new();
    let mut values: Vec<Option<&str>> = Vec::new();
    let mut keys: Vec<Int32Array> = Vec::with_capacity(pieces.len());
    for piece in &pieces {
        let mut moved = Vec::with_capacity(piece.values().len());
        for value in piece.values().as_string::<i32>() {
            let next =
                i32::try_from(values.len()).map_err(|_| ArrowError::DictionaryKeyOverflowError)?;
            moved.push(*places.entry(value).or_insert_with(|| {
                values.push(value);
                next
            }));
        }
        // A null's key may be anything.
        let key = |key: i32| {
            usize::try_from(key).ok().and_then(|key| moved.get(key)).copied().unwrap_or_default()
        };
        keys.push(piece.keys().unary(key));
    }
    let keys: Vec<&dyn Array> = keys.iter().map(|keys| keys as &dyn Array).collect();
    let keys = compute::concat(&keys)?.as_primitive::<Int32Type>().clone();
    let values: StringArray = values.into_iter().collect();
    Ok(Arc::new(DictionaryArray::try_new(keys, Arc::new(values))?))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use arrow::array::Int64Array;

    use super::*;

    fn batch(texts: &DictionaryArray<Int32Type>) -> RecordBatch {
        let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values((0..).take(texts.len())));
        RecordBatch::try_from_iter_with_nullable([
            ("t", Arc::new(texts.clone()) as ArrayRef, true),
            ("n", numbers, false),
        ])
        .unwrap()
    }

    fn texts(batch: &RecordBatch) -> Vec<Option<String>> {
        let plain = compute::cast(batch.column(0), &DataType::Utf8).unwrap();
        plain.as_string::<i32>().iter().map(|text| text.map(str::to_owned)).collect()
    }

    #[test]
    fn dictionaries_that_differ_become_one_in_order_of_first_occurrence() {
        let one: DictionaryArray<Int32Type> =
            vec![Some("b"), None, Some("a")].into_iter().collect();
        let two: DictionaryArray<Int32Type> =
            vec![Some("a"), Some("c"), None, Some("b")].into_iter().collect();
        let joined = concat(&[batch(&one), batch(&two)]).unwrap();
        let expected = [Some("b"), None, Some("a"), Some("a"), Some("c"), None, Some("b")]
            .map(|text| text.map(str::to_owned));
        assert_eq!(texts(&joined), expected);
        let values = joined
            .column(0)
            .as_dictionary::<Int32Type>()
            .values()
            .as_string::<i32>()
            .iter()
            .flatten()
            .collect::<Vec<_>>();
        assert_eq!(values, ["b", "a", "c"]);
        assert_eq!(joined.column(1).len(), 7);
    }

    #[test]
    fn a_dictionary_that_batches_share_stays_the_same() {
        let one: DictionaryArray<Int32Type> =
            vec![Some("b"), None, Some("a")].into_iter().collect();
        let two = one.slice(1, 2);
        let joined = concat(&[batch(&one), batch(&two)]).unwrap();
        assert!(
            joined
                .column(0)
                .as_dictionary::<Int32Type>()
                .values()
                .to_data()
                .ptr_eq(&one.values().to_data())
        );
        assert_eq!(
            texts(&joined),
            [Some("b"), None, Some("a"), None, Some("a")].map(|text| text.map(str::to_owned))
        );
    }

    #[test]
    fn one_batch_is_itself() {
        let one: DictionaryArray<Int32Type> = vec![Some("b")].into_iter().collect();
        assert_eq!(concat(&[batch(&one)]).unwrap(), batch(&one));
        assert!(concat(&[]).is_err());
    }
}
