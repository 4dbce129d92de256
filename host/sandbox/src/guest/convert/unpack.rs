//! Dictionary-encoded text as plain text, for guests that want it so: each row's value is copied
//! from its dictionary, in blocks of a fixed length where values are short.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BinaryArray, DictionaryArray, StringArray};
use arrow::buffer::OffsetBuffer;
use arrow::compute;
use arrow::datatypes::{DataType, Int32Type};
use arrow::error::ArrowError;

/// Lengths of the blocks that short values are copied in, bytes: the smaller one is one store.
const SMALL_BLOCK: usize = 16;
/// Longest value that is copied as a block.
const LARGE_BLOCK: usize = 32;
/// Rows whose text is put together in one place before it goes to the rest, which then has to grow
/// once for all of them.
const RUN: usize = 64;

/// The column without its dictionary; text may come as bytes, since nobody here asks again whether
/// the values of a dictionary, which were checked when they were read, are UTF-8.
///
/// # Errors
/// Fails when its text has more than 2 GiB, or its values are of a type that cannot be taken by
/// key.
pub(crate) fn plain(column: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    let DataType::Dictionary(keys, values) = column.data_type() else {
        return Ok(Arc::clone(column));
    };
    if **keys == DataType::Int32
        && **values == DataType::Utf8
        && let Some(plain) = short_text(column.as_dictionary::<Int32Type>())
    {
        return Ok(Arc::new(plain));
    }
    compute::cast(column, values)
}

/// Text of short values without nulls among them; none where they are not so, or where there are
/// more values than rows.
fn short_text(column: &DictionaryArray<Int32Type>) -> Option<BinaryArray> {
    let values = column.values().as_string::<i32>();
    if values.null_count() > 0 || values.len() > column.len() {
        return None;
    }
    let lengths = values.value_offsets().windows(2).map(|ends| ends[1] - ends[0]);
    let longest = usize::try_from(lengths.max()?).ok()?;
    match longest {
        0..=SMALL_BLOCK => spell::<SMALL_BLOCK>(column, values, longest),
        _ if longest <= LARGE_BLOCK => spell::<LARGE_BLOCK>(column, values, longest),
        _ => None,
    }
}

/// The text of every row, of values that have at most `longest` bytes, which fit a block.
fn spell<const BLOCK: usize>(
    column: &DictionaryArray<Int32Type>,
    values: &StringArray,
    longest: usize,
) -> Option<BinaryArray> {
    let blocks = values.iter().map(|value| {
        let text = value.unwrap_or_default().as_bytes();
        let mut block = [0; BLOCK];
        block[..text.len()].copy_from_slice(text);
        (block, text.len())
    });
    let blocks: Vec<([u8; BLOCK], usize)> = blocks.collect();
    let most = longest.checked_mul(column.len()).filter(|&most| i32::try_from(most).is_ok())?;
    let mut offsets = Vec::with_capacity(column.len() + 1);
    let mut bytes = Vec::with_capacity(most);
    offsets.push(0);
    let nulls = column.nulls();
    let mut run = [0; (RUN + 1) * LARGE_BLOCK];
    for (index, keys) in column.keys().values().chunks(RUN).enumerate() {
        // Never more than `most`, which fits.
        let before = i32::try_from(bytes.len()).ok()?;
        let mut end = 0_usize;
        let mut push = |key: i32| {
            let (block, length) = blocks.get(usize::try_from(key).ok()?)?;
            // Of the block before this one, only its value stays.
            run.get_mut(end..end + BLOCK)?.copy_from_slice(block);
            end += length;
            i32::try_from(end).ok()
        };
        let mut ends = [0; RUN];
        match nulls {
            None => {
                for (place, &key) in ends.iter_mut().zip(keys) {
                    *place = push(key)?;
                }
            }
            Some(nulls) => {
                let mut last = 0;
                for (row, (place, &key)) in ends.iter_mut().zip(keys).enumerate() {
                    // A null's key may be anything.
                    if nulls.is_valid(index * RUN + row) {
                        last = push(key)?;
                    }
                    *place = last;
                }
            }
        }
        bytes.extend_from_slice(&run[..end]);
        offsets.extend(ends[..keys.len()].iter().map(|&end| before + end));
    }
    BinaryArray::try_new(OffsetBuffer::new(offsets.into()), bytes.into(), nulls.cloned()).ok()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn text(column: &ArrayRef) -> StringArray {
        let text = compute::cast(&plain(column).unwrap(), &DataType::Utf8).unwrap();
        text.as_string::<i32>().clone()
    }

    #[test]
    fn plain_text_is_what_the_keys_say() {
        let long = "x".repeat(LARGE_BLOCK + 1);
        for values in [
            ["a", "", "ccc"],
            ["a", "b", &long],
            ["a", &long[..LARGE_BLOCK], &long[..SMALL_BLOCK]],
            ["Ōtautahi", "", "é"],
        ] {
            let rows = (0..100_usize)
                .map(|row| if row % 7 == 3 { None } else { values.get(row % 3).copied() });
            let keyed: DictionaryArray<Int32Type> = rows.clone().collect();
            let column: ArrayRef = Arc::new(keyed);
            let expected: StringArray = rows.collect();
            assert_eq!(text(&column), expected);
            let part = column.slice(10, 50);
            assert_eq!(text(&part), expected.slice(10, 50));
        }
        let few: DictionaryArray<Int32Type> = [Some("a"), Some("b"), None].into_iter().collect();
        let one: ArrayRef = Arc::new(few.slice(1, 1));
        assert_eq!(text(&one).value(0), "b");
    }
}
