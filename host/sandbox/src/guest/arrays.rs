//! Arrays that a guest returns as Arrow has them, checked: no guest is believed lengths, offsets,
//! UTF-8 or counts of nulls.

use arrow::array::{ArrayData, ArrayRef, make_array};
use arrow::buffer::Buffer;
use arrow::datatypes::DataType;

use super::bindings::yearbook::plugin::types;
use super::parameters::quote;

/// Reads the arrays of a batch of `rows`: one for each column, with its name and its type, which is
/// text, a boolean or a number.
///
/// # Errors
/// The rule that they break.
pub(crate) fn check_arrays<'a>(
    rows: u32,
    arrays: Vec<types::Array>,
    buffers: Vec<Vec<u8>>,
    columns: impl ExactSizeIterator<Item = (&'a str, &'a DataType)>,
) -> Result<Vec<ArrayRef>, String> {
    if arrays.len() != columns.len() {
        return Err(format!("{} arrays for {} columns", arrays.len(), columns.len()));
    }
    let length = usize::try_from(rows).map_err(|_| "too many rows".to_owned())?;
    let mut buffers = buffers.into_iter();
    let mut checked = Vec::with_capacity(arrays.len());
    for (array, (name, data_type)) in arrays.into_iter().zip(columns) {
        let wrong = |rule: &str| format!("a column {} {rule}", quote(name));
        let text = *data_type == DataType::Utf8;
        if array.length != rows || array.repeated || array.buffers != if text { 3 } else { 2 } {
            return Err(wrong("of another shape than its type and the batch have"));
        }
        let mut next = || buffers.next().ok_or_else(|| wrong("without its buffers"));
        let validity = next()?;
        let mut builder = ArrayData::builder(data_type.clone()).len(length);
        if array.null_count > 0 {
            builder = builder.null_bit_buffer(Some(Buffer::from_vec(validity)));
        } else if !validity.is_empty() {
            return Err(wrong("with a validity buffer and no nulls"));
        }
        for _ in 1..array.buffers {
            builder = builder.add_buffer(Buffer::from_vec(next()?));
        }
        // Checks lengths, offsets and UTF-8.
        let data = builder.align_buffers(true).build();
        let data = data.map_err(|why| wrong(&format!("that is damaged: {why}")))?;
        if u32::try_from(data.null_count()).ok() != Some(array.null_count) {
            return Err(wrong("whose nulls are miscounted"));
        }
        checked.push(make_array(data));
    }
    if buffers.next().is_some() {
        return Err("buffers that belong to no column".to_owned());
    }
    Ok(checked)
}
