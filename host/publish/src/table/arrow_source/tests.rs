//! Parquet and Arrow packages: types that are taken and types that are refused (contract-7-inputs).

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, ArrowPrimitiveType, AsArray, BooleanArray, Date32Array, DictionaryArray,
    Float16Array, Float32Array, Float64Array, Int8Array, Int64Array, LargeStringArray, NullArray,
    StringArray, StringViewArray, UInt64Array,
};
use arrow::datatypes::{DataType, Float16Type, Float64Type, Int32Type, Int64Type};
use yearbook_domain::ColumnType;

use yearbook_scan::schema::stored_type;

use super::*;
use crate::error::PublishError;

/// A float of 16 bits.
type Half = <Float16Type as ArrowPrimitiveType>::Native;

/// Converts one array as if it were a column named `x`; the result and the faults.
fn convert(array: ArrayRef, column_type: ColumnType) -> Result<(ArrayRef, Vec<String>), String> {
    let conversion = convert::between(array.data_type(), column_type)?;
    let mut faults = FaultList::new(["x".to_owned()]);
    let converted = conversion.apply(&array, 1, 0, &mut faults).unwrap();
    let PublishError::Table { faults, .. } = faults.into_error(std::path::Path::new("x")) else {
        panic!("faults make a table error")
    };
    Ok((converted, faults.iter().map(ToString::to_string).collect()))
}

#[test]
fn text_of_every_arrow_kind_becomes_the_same_text() {
    let expected = StringArray::from(vec![Some("a"), None, Some("")]);
    let kinds: [ArrayRef; 4] = [
        Arc::new(expected.clone()),
        Arc::new(LargeStringArray::from(vec![Some("a"), None, Some("")])),
        Arc::new(StringViewArray::from(vec![Some("a"), None, Some("")])),
        Arc::new(
            vec![Some("a"), None, Some("")].into_iter().collect::<DictionaryArray<Int32Type>>(),
        ),
    ];
    for array in kinds {
        let (converted, faults) = convert(array, ColumnType::String).unwrap();
        assert_eq!((converted.as_string::<i32>(), faults.len()), (&expected, 0));
    }
}

#[test]
fn a_null_among_dictionary_values_is_a_null_and_no_fault() {
    let values: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), None]));
    let array = DictionaryArray::<Int32Type>::try_new(vec![0, 1, 0].into(), values).unwrap();
    let (converted, faults) = convert(Arc::new(array), ColumnType::String).unwrap();
    assert_eq!(
        converted.as_string::<i32>().iter().collect::<Vec<_>>(),
        [Some("a"), None, Some("a")]
    );
    assert!(faults.is_empty());
}

#[test]
fn date32_becomes_text_contract_7() {
    let (converted, faults) = convert(
        Arc::new(Date32Array::from(vec![Some(0), None, Some(-719_162), Some(2_932_896)])),
        ColumnType::Date,
    )
    .unwrap();
    let text: Vec<Option<&str>> = converted.as_string::<i32>().iter().collect();
    assert_eq!(text, [Some("1970-01-01"), None, Some("0001-01-01"), Some("9999-12-31")]);
    assert!(faults.is_empty());
    let (_, faults) = convert(
        Arc::new(Date32Array::from(vec![0, -719_163, 2_932_897, i32::MAX])),
        ColumnType::Date,
    )
    .unwrap();
    assert_eq!(faults.len(), 3);
    assert_eq!(
        faults[0],
        "row 2, column x: day -719163 since 1970 is outside the years 0001 to 9999"
    );
}

#[test]
fn numbers_are_taken_where_nothing_is_lost() {
    let (converted, _) =
        convert(Arc::new(Int8Array::from(vec![-1, 7])), ColumnType::Integer).unwrap();
    assert_eq!(converted.as_primitive::<Int64Type>().values(), &[-1, 7]);
    let (_, faults) =
        convert(Arc::new(UInt64Array::from(vec![1, u64::MAX])), ColumnType::Integer).unwrap();
    assert_eq!(faults, ["row 2, column x: does not fit Int64; declare the column otherwise"]);
    let (converted, faults) =
        convert(Arc::new(Int64Array::from(vec![5])), ColumnType::Number).unwrap();
    assert_eq!((converted.as_primitive::<Float64Type>().value(0), faults.len()), (5.0, 0));
    let (_, faults) =
        convert(Arc::new(Int64Array::from(vec![(1 << 53) + 1])), ColumnType::Number).unwrap();
    assert!(faults[0].contains("cannot hold exactly"), "{faults:?}");
}

/// Bits of an array converted to numbers.
fn number_bits(array: ArrayRef) -> Vec<Option<u64>> {
    let (converted, faults) = convert(array, ColumnType::Number).unwrap();
    assert!(faults.is_empty(), "{faults:?}");
    converted.as_primitive::<Float64Type>().iter().map(|value| value.map(f64::to_bits)).collect()
}

#[test]
fn narrow_floats_have_the_digits_of_their_own_type_contract_7() {
    let bits = |values: &[f64]| -> Vec<Option<u64>> {
        values.iter().map(|value| Some(value.to_bits())).collect()
    };
    // The two before the last are 1752255.25 and 343126.125: of two as near the even digit.
    let wide = [
        0.1,
        -2.3,
        3.4028235e38,
        1e-45,
        16_777_216.0,
        123_456_790.0,
        -0.0,
        1_752_255.2,
        343_126.12,
        7.0,
    ];
    let wide = [&wide[..], &[f64::NAN, f64::INFINITY, f64::NEG_INFINITY]].concat();
    #[expect(clippy::cast_possible_truncation, reason = "the nearest narrow float is meant")]
    let narrow: Float32Array = wide.iter().map(|value| Some(*value as f32)).collect();
    assert_eq!(number_bits(Arc::new(narrow)), bits(&wide));
    let wide = [0.1, -2.3, 65_500.0, 6e-8, 0.3333, 1000.5, -0.0, 7.0];
    let wide = [&wide[..], &[f64::NAN, f64::INFINITY, f64::NEG_INFINITY]].concat();
    let source: ArrayRef = Arc::new(Float64Array::from(wide.clone()));
    let halves = arrow::compute::cast(&source, &DataType::Float16).unwrap();
    assert_eq!(number_bits(halves), bits(&wide));
    let nulls: ArrayRef = Arc::new(Float32Array::from(vec![None, Some(0.1)]));
    let halves = arrow::compute::cast(&nulls, &DataType::Float16).unwrap();
    for array in [nulls, halves] {
        assert_eq!(number_bits(array), [None, Some(0.1_f64.to_bits())]);
    }
}

#[test]
fn every_narrow_float_is_read_back_from_its_digits_contract_7() {
    let all: Vec<Half> =
        (0..=u16::MAX).map(Half::from_bits).filter(|value| value.is_finite()).collect();
    let digits = number_bits(Arc::new(Float16Array::from(all.clone())));
    for (value, digits) in all.into_iter().zip(digits) {
        let digits = f64::from_bits(digits.unwrap());
        let distance = |bits: u16| (Half::from_bits(bits).to_f64() - digits).abs();
        let bits = value.to_bits();
        assert_eq!(digits.is_sign_negative(), value.is_sign_negative(), "{digits}");
        // The neighbours away from zero and towards it; beyond the largest is infinity.
        let magnitude = bits & i16::MAX.cast_unsigned();
        let towards_zero = if magnitude == 0 { bits + 1 } else { bits - 1 };
        for neighbour in [bits + 1, towards_zero] {
            let (own, other) = (distance(bits), distance(neighbour));
            // Halfway, readers take the even one.
            let is_read_back = own < other || (own == other && bits.is_multiple_of(2));
            assert!(is_read_back, "{digits} for {}", value.to_f64());
        }
    }
}

#[test]
fn every_nan_becomes_the_same_nan() {
    let foreign = f64::from_bits(0xFFF8_0000_0000_0001);
    let (converted, _) =
        convert(Arc::new(Float64Array::from(vec![foreign, 1.0])), ColumnType::Number).unwrap();
    assert_eq!(converted.as_primitive::<Float64Type>().value(0).to_bits(), f64::NAN.to_bits());
}

#[test]
fn a_column_of_nothing_but_nulls_suits_every_type() {
    for column_type in [
        ColumnType::String,
        ColumnType::Integer,
        ColumnType::Number,
        ColumnType::Boolean,
        ColumnType::Date,
    ] {
        let (converted, _) = convert(Arc::new(NullArray::new(2)), column_type).unwrap();
        assert_eq!((converted.null_count(), converted.data_type()), (2, &stored_type(column_type)));
    }
}

#[test]
fn other_types_are_refused_with_advice() {
    let arrays: [(ArrayRef, ColumnType); 5] = [
        (Arc::new(Int64Array::from(vec![1])), ColumnType::String),
        (Arc::new(Int64Array::from(vec![1])), ColumnType::Date),
        (Arc::new(Float64Array::from(vec![1.0])), ColumnType::Integer),
        (Arc::new(BooleanArray::from(vec![true])), ColumnType::Number),
        (Arc::new(StringArray::from(vec!["true"])), ColumnType::Boolean),
    ];
    for (array, column_type) in arrays {
        let found = array.data_type().clone();
        let why = convert(array, column_type).unwrap_err();
        assert!(why.contains(&format!("has type {found} in the file; the schema needs")), "{why}");
    }
    let time = DataType::Timestamp(arrow::datatypes::TimeUnit::Nanosecond, None);
    assert!(convert::between(&time, ColumnType::Date).is_err());
}
