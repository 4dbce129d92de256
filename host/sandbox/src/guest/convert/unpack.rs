//! Dictionary-encoded text as plain text, for guests that want it so: each row's value is copied
//! from its dictionary, in blocks of a fixed length where values are short.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, DictionaryArray, StringArray};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::compute;
use arrow::datatypes::{DataType, Int32Type};
use arrow::error::ArrowError;

/// Longest value that is copied as a block, bytes.
const BLOCK: usize = 32;

/// The column without its dictionary.
///
/// # Errors
/// When its text has more than 2 GiB, or its values are of a type that cannot be taken by key.
pub(super) fn plain(column: &ArrayRef) -> Result<ArrayRef, ArrowError> {
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
fn short_text(column: &DictionaryArray<Int32Type>) -> Option<StringArray> {
    let values = column.values().as_string::<i32>();
    let lengths = values.value_offsets().windows(2).map(|ends| ends[1] - ends[0]);
    let longest = usize::try_from(lengths.max()?).ok()?;
    if longest > BLOCK || values.null_count() > 0 || values.len() > column.len() {
        return None;
    }
    let mut blocks: Vec<([u8; BLOCK], usize)> = (0..values.len())
        .map(|index| {
            let text = values.value(index).as_bytes();
            let mut block = [0; BLOCK];
            block[..text.len()].copy_from_slice(text);
            (block, text.len())
        })
        .collect();
    // A null's key may be anything; it becomes that of the empty value behind the last.
    blocks.push(([0; BLOCK], 0));
    let null = values.len();
    let nulls: Option<&NullBuffer> = column.nulls();
    let mut offsets = Vec::with_capacity(column.len() + 1);
    let mut bytes = vec![0; longest * column.len() + BLOCK];
    let mut end = 0;
    offsets.push(0);
    for (row, &key) in column.keys().values().iter().enumerate() {
        let key = match nulls {
            Some(nulls) if nulls.is_null(row) => null,
            _ => usize::try_from(key).ok().filter(|&key| key < null)?,
        };
        let (block, length) = &blocks[key];
        bytes[end..end + BLOCK].copy_from_slice(block);
        end += length;
        offsets.push(i32::try_from(end).ok()?);
    }
    bytes.truncate(end);
    StringArray::try_new(OffsetBuffer::new(offsets.into()), bytes.into(), nulls.cloned()).ok()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn plain_text_is_what_the_keys_say() {
        let long = "x".repeat(BLOCK + 1);
        for values in [["a", "", "ccc"], ["a", "b", &long], ["Ōtautahi", "", "é"]] {
            let rows = (0..100_usize)
                .map(|row| if row % 7 == 3 { None } else { values.get(row % 3).copied() });
            let keyed: DictionaryArray<Int32Type> = rows.clone().collect();
            let column: ArrayRef = Arc::new(keyed);
            let expected: StringArray = rows.collect();
            assert_eq!(plain(&column).unwrap().as_string::<i32>(), &expected);
            let part = column.slice(10, 50);
            assert_eq!(plain(&part).unwrap().as_string::<i32>(), &expected.slice(10, 50));
        }
        let few: DictionaryArray<Int32Type> = [Some("a"), Some("b"), None].into_iter().collect();
        let one: ArrayRef = Arc::new(few.slice(1, 1));
        assert_eq!(plain(&one).unwrap().as_string::<i32>().value(0), "b");
    }
}
