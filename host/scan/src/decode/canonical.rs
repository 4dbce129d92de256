//! Columns that hold the same bytes whichever rows were decoded with them: formats copy what stands
//! under nulls and behind the last bit, and an entity tag promises the same bytes
//! (contract-3-same-bytes).

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, BooleanBufferBuilder, DictionaryArray, PrimitiveArray,
};
use arrow::buffer::BooleanBuffer;
use arrow::compute::nullif;
use arrow::datatypes::{ArrowPrimitiveType, DataType, Float64Type, Int32Type, Int64Type};
use arrow::error::ArrowError;

/// `column` with nothing where there is null: decoders leave there what they moved or passed over,
/// which depends on the rows around it. One without nulls costs nothing.
pub(crate) fn clear_nulls(column: ArrayRef) -> Result<ArrayRef, ArrowError> {
    if column.null_count() == 0 {
        return Ok(column);
    }
    Ok(match column.data_type() {
        DataType::Boolean => {
            let flags = column.as_boolean();
            let clear = flags.nulls().map(|nulls| flags.values() & nulls.inner());
            let values = own_bits(clear.as_ref().unwrap_or_else(|| flags.values()));
            Arc::new(BooleanArray::new(values, flags.nulls().cloned()))
        }
        DataType::Int64 => clear_primitive::<Int64Type>(column),
        DataType::Float64 => clear_primitive::<Float64Type>(column),
        DataType::Dictionary(..) => {
            let keyed = column.as_dictionary::<Int32Type>().clone();
            drop(column);
            let (keys, values) = keyed.into_parts();
            Arc::new(DictionaryArray::try_new(clear_values(keys), values)?)
        }
        _ => column,
    })
}

fn clear_primitive<T: ArrowPrimitiveType>(column: ArrayRef) -> ArrayRef {
    let values = column.as_primitive::<T>().clone();
    // Where nobody else holds the column, its buffer is written to and not copied.
    drop(column);
    Arc::new(clear_values(values))
}

fn clear_values<T: ArrowPrimitiveType>(array: PrimitiveArray<T>) -> PrimitiveArray<T> {
    let (_, values, nulls) = array.into_parts();
    let Some(nulls) = nulls else { return PrimitiveArray::new(values, None) };
    let mut values: Vec<T::Native> = values.into();
    for place in (!nulls.inner()).set_indices() {
        if let Some(value) = values.get_mut(place) {
            *value = T::Native::default();
        }
    }
    PrimitiveArray::new(values.into(), Some(nulls))
}

/// `part`, which may be cut out of other rows, with bits of its own: they begin a byte, and behind
/// the last one is nothing.
pub(crate) fn with_own_bits(part: ArrayRef) -> Result<ArrayRef, ArrowError> {
    let part = match part.as_boolean_opt() {
        Some(flags) => {
            let values = own_bits(flags.values());
            Arc::new(BooleanArray::new(values, flags.nulls().cloned())) as ArrayRef
        }
        None => part,
    };
    if part.null_count() == 0 {
        return Ok(part);
    }
    // Makes no further null, but all bits of nulls anew.
    nullif(&part, &BooleanArray::new(BooleanBuffer::new_unset(part.len()), None))
}

fn own_bits(bits: &BooleanBuffer) -> BooleanBuffer {
    let mut own = BooleanBufferBuilder::new(bits.len());
    own.append_buffer(bits);
    own.finish()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use arrow::array::{Float64Array, Int32Array, Int64Array, StringArray};
    use arrow::buffer::{Buffer, NullBuffer};

    use super::*;

    /// The same ten rows, with `left` under the nulls.
    fn columns(left: i32) -> [ArrayRef; 4] {
        let is_valid = |row: i32| row % 3 != 1;
        let nulls = Some(NullBuffer::from_iter((0..10).map(is_valid)));
        let of = |row| if is_valid(row) { row } else { left };
        let rows: Vec<i32> = (0..10).map(of).collect();
        let flags = BooleanBuffer::from_iter(rows.iter().map(|row| row % 2 == 0));
        let texts = StringArray::from_iter_values((0..10).map(|row| row.to_string()));
        let keys = Int32Array::new(rows.clone().into(), nulls.clone());
        let integers = rows.iter().map(|row| i64::from(*row)).collect();
        let numbers = rows.iter().map(|row| f64::from(*row)).collect();
        [
            Arc::new(BooleanArray::new(flags, nulls.clone())),
            Arc::new(Int64Array::new(integers, nulls.clone())),
            Arc::new(Float64Array::new(numbers, nulls)),
            Arc::new(DictionaryArray::try_new(keys, Arc::new(texts)).unwrap()),
        ]
    }

    fn buffers(column: &ArrayRef) -> Vec<Buffer> {
        column.to_data().buffers().to_vec()
    }

    #[test]
    fn nothing_is_left_under_nulls_contract_3_same_bytes() {
        for place in 0..4 {
            let of = |left| Arc::clone(&columns(left)[place]);
            let (held, expected) = (of(5), of(8));
            assert_ne!(buffers(&held), buffers(&expected), "{}", held.data_type());
            let columns = [of(8), Arc::clone(&held)];
            let [alone, shared] = columns.map(|column| clear_nulls(column).unwrap());
            assert_eq!(buffers(&alone), buffers(&shared), "{}", held.data_type());
            assert_eq!(alone.to_data(), expected.to_data());
            assert_eq!(buffers(&held), buffers(&of(5)), "what somebody else holds stays as it is");
        }
    }

    #[test]
    fn bits_are_those_of_the_part_alone_contract_3_same_bytes() {
        let bits = |column: &ArrayRef| {
            let flags = column.as_boolean_opt().map(|flags| flags.values().sliced());
            (flags, column.nulls().unwrap().inner().sliced())
        };
        for whole in columns(0) {
            // From the first bit of a byte to its third, and from the middle of one on.
            for (start, length) in [(0, 3), (3, 5), (6, 3)] {
                let part = whole.slice(start, length);
                let own = with_own_bits(Arc::clone(&part)).unwrap();
                assert_eq!(own.to_data(), part.to_data());
                let (flags, nulls) = bits(&own);
                for bytes in flags.iter().chain([&nulls]) {
                    assert_eq!(bytes.len(), 1);
                    assert_eq!(bytes[0] >> length, 0, "bits behind {length} from {start} on");
                }
            }
        }
    }
}
