//! Cuts of batches by what their rows weigh.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use arrow::array::{BooleanArray, Int32Array, Int64Array};
use arrow::compute::{cast, concat_batches};

use super::*;

fn batch(lengths: &[usize]) -> RecordBatch {
    let texts = StringArray::from_iter_values(lengths.iter().map(|&length| "x".repeat(length)));
    let numbers = Int64Array::from_iter_values((0..).take(lengths.len()));
    RecordBatch::try_from_iter([
        ("t", Arc::new(texts) as ArrayRef),
        ("n", Arc::new(numbers) as ArrayRef),
    ])
    .unwrap()
}

/// Rows of each slice; together they are `whole`, and none but a single row is too heavy.
fn cut(whole: &RecordBatch) -> Vec<usize> {
    let slices = split_by_weight(whole.clone());
    assert_eq!(concat_batches(whole.schema_ref(), &slices).unwrap(), *whole);
    for slice in &slices {
        assert!(
            slice.num_rows() == 1
                || row_weights(slice).iter().sum::<usize>() <= json_size::BATCH_BYTES
        );
    }
    slices.iter().map(RecordBatch::num_rows).collect()
}

#[test]
fn a_huge_row_travels_alone_among_small_ones() {
    for (lengths, expected) in [
        (&[1, 2, 3][..], &[3][..]),
        (&[1, 5 << 20, 1, 1], &[1, 1, 2]),
        (&[5 << 20, 5 << 20], &[1, 1]),
        (&[3 << 20, 1 << 20, 1], &[1, 2]),
        (&[1 << 20; 9], &[3, 3, 3]),
        (&[], &[0]),
    ] {
        assert_eq!(cut(&batch(lengths)), expected, "{lengths:?}");
    }
}

#[test]
fn names_weigh_as_much_as_json_writes_of_them() {
    let flags: ArrayRef = Arc::new(BooleanArray::from(vec![true; 8192]));
    let wide = (0..400).map(|index| {
        (format!("whether_the_household_answered_question_{index:03}"), Arc::clone(&flags))
    });
    let rows = cut(&RecordBatch::try_from_iter(wide).unwrap());
    // 43 for the name, 16 and 5.
    assert_eq!(rows[0], json_size::BATCH_BYTES / (400 * (43 + 16 + 5)));
    assert_eq!(rows.iter().sum::<usize>(), 8192);
}

#[test]
fn a_dictionary_weighs_what_its_rows_say_whatever_else_it_holds() {
    let values = StringArray::from(vec!["x".repeat(2 << 20), "short".to_owned()]);
    let keys = |keys: Vec<Option<i32>>| {
        DictionaryArray::try_new(Int32Array::from(keys), Arc::new(values.clone())).unwrap()
    };
    let keyed = |array| {
        RecordBatch::try_from_iter_with_nullable([("t", Arc::new(array) as ArrayRef, true)])
            .unwrap()
    };
    for (rows, expected) in [
        (vec![Some(1), None, Some(1), Some(1)], &[4][..]),
        (vec![Some(0), Some(1), Some(0), None, Some(0)], &[2, 2, 1]),
        (vec![None; 3], &[3]),
    ] {
        let array = keys(rows);
        let plain = RecordBatch::try_from_iter_with_nullable([(
            "t",
            cast(&array, &DataType::Utf8).unwrap(),
            true,
        )])
        .unwrap();
        assert!(max_weight(&keyed(array.clone())) >= row_weights(&plain).iter().sum());
        assert_eq!(cut(&keyed(array)), expected);
        assert_eq!(cut(&plain), expected, "as plain text");
    }
}
