//! Buffers of one column as they cross: offsets rebased to 0, bitmaps from bit 0 on, and those that
//! a view holds back marked so.

use arrow::array::{
    Array, ArrayData, AsArray, BooleanBufferBuilder, DictionaryArray, OffsetSizeTrait,
};
use arrow::buffer::{BooleanBuffer, Buffer, NullBuffer};
use arrow::datatypes::{DataType, Int32Type};

use yearbook_domain::TextTraits;
use yearbook_domain::text_traits::AbsentBytes;

use super::{UnsupportedType, WireColumns};
use crate::guest::bindings::exports::yearbook::plugin::encoder::{self as wire, Traits};
use crate::guest::bindings::yearbook::plugin::types;

/// Keys, then the values unless the guest has them: it never has values that are held.
pub(super) fn push_dictionary(
    out: &mut WireColumns,
    dictionary: &DictionaryArray<Int32Type>,
    crossing: wire::Crossing,
    sent: &mut Option<ArrayData>,
) -> Result<(), UnsupportedType> {
    out.spelled = out.spelled.saturating_add(expanded_dictionary_bytes(dictionary));
    // As `push_flat` does, without a copy of their description.
    let (keys, held) = (dictionary.keys(), matches!(crossing, wire::Crossing::Lengths));
    out.push(validity(keys.nulls()), held);
    out.push(keys.values().inner().clone(), held);
    out.arrays.push(types::Array {
        length: to_u32(keys.len())?,
        null_count: to_u32(keys.null_count())?,
        buffers: 2,
        repeated: false,
    });
    let values = dictionary.values().to_data();
    if sent.as_ref().is_some_and(|sent| sent.ptr_eq(&values)) {
        out.arrays.push(types::Array {
            length: to_u32(values.len())?,
            null_count: 0,
            buffers: 0,
            repeated: true,
        });
        return Ok(());
    }
    let held = push_flat(out, &values, crossing, TextTraits::empty())?;
    *sent = if held { None } else { Some(values) };
    Ok(())
}

/// Bytes of the rows' values; 0 where they are so short that what counts for every cell covers
/// them.
fn expanded_dictionary_bytes(dictionary: &DictionaryArray<Int32Type>) -> usize {
    const SHORT: i32 = 64;
    let Some(values) = dictionary.values().as_string_opt::<i32>() else { return 0 };
    if values.value_offsets().windows(2).all(|ends| ends[1] - ends[0] <= SHORT) {
        return 0;
    }
    let length = |key: i32| {
        usize::try_from(key)
            .ok()
            .filter(|&key| key < values.len())
            .map_or(0, |key| values.value(key).len())
    };
    dictionary.keys().iter().flatten().map(length).sum()
}

/// Returns whether values are held. `known`: traits that all of them have, as far as is known.
pub(super) fn push_flat(
    out: &mut WireColumns,
    data: &ArrayData,
    crossing: wire::Crossing,
    known: TextTraits,
) -> Result<bool, UnsupportedType> {
    let before = out.buffers.len();
    let (offset, rows) = (data.offset(), data.len());
    let mut held = matches!(crossing, wire::Crossing::Lengths);
    out.push(validity(data.nulls()), held);
    match data.data_type() {
        DataType::Boolean => out.push(
            aligned_bitmap(&BooleanBuffer::new(data.buffers()[0].clone(), offset, rows)),
            held,
        ),
        DataType::Utf8 | DataType::Binary => {
            held = push_variable::<i32>(out, data, crossing, known);
        }
        DataType::LargeUtf8 | DataType::LargeBinary => {
            held = push_variable::<i64>(out, data, crossing, known);
        }
        DataType::FixedSizeBinary(width) => {
            let width =
                usize::try_from(*width).map_err(|_| UnsupportedType("a negative width".into()))?;
            out.push(data.buffers()[0].slice_with_length(offset * width, rows * width), held);
        }
        other => {
            let width =
                other.primitive_width().ok_or_else(|| UnsupportedType(other.to_string()))?;
            out.push(data.buffers()[0].slice_with_length(offset * width, rows * width), held);
        }
    }
    out.arrays.push(types::Array {
        length: to_u32(rows)?,
        null_count: to_u32(data.null_count())?,
        buffers: to_u32(out.buffers.len() - before)?,
        repeated: false,
    });
    Ok(held)
}

/// Offsets rebased to 0 and exactly the bytes that they span; a bitmap where the guest asked for
/// one and the values stay. Returns whether they do.
fn push_variable<O: OffsetSizeTrait>(
    out: &mut WireColumns,
    data: &ArrayData,
    crossing: wire::Crossing,
    known: TextTraits,
) -> bool {
    let all_held = matches!(crossing, wire::Crossing::Lengths);
    if data.is_empty() {
        out.push(Buffer::from_slice_ref([O::usize_as(0)]), all_held);
        out.push(Buffer::default(), all_held);
        return all_held;
    }
    let offsets = &data.buffer::<O>(0)[..=data.len()];
    let (first, last) = (offsets[0], offsets[data.len()]);
    let (start, end) = (first.as_usize(), last.as_usize());
    let rebased = if start == 0 {
        let width = size_of::<O>();
        data.buffers()[0].slice_with_length(data.offset() * width, (data.len() + 1) * width)
    } else {
        offsets.iter().map(|&offset| offset - first).collect::<Vec<O>>().into()
    };
    out.push(rebased, all_held);
    let values = data.buffers()[1].slice_with_length(start, end - start);
    let wire::Crossing::Offsets(wish) = crossing else {
        out.push(values, all_held);
        return all_held;
    };
    let long_enough = values.len() / data.len() >= wish.mean_bytes as usize;
    let held = long_enough && (text_traits(wish.all) - known).hold_for(&values);
    let bitmap = (held && wish.each != Traits::empty()).then(|| {
        let unknown = text_traits(wish.each) - known;
        if unknown.is_empty() {
            return aligned_bitmap(&BooleanBuffer::new_set(data.len()));
        }
        let absent = AbsentBytes::new(unknown);
        let ends = offsets.windows(2).map(|ends| (ends[0] - first, ends[1] - first));
        let free =
            ends.map(|(start, end)| absent.hold_for(&values[start.as_usize()..end.as_usize()]));
        aligned_bitmap(&free.collect())
    });
    out.push(values, held);
    if let Some(bitmap) = bitmap {
        out.push(bitmap, false);
    }
    held
}

/// The same traits in the host's own words.
fn text_traits(traits: Traits) -> TextTraits {
    const NAMES: [(Traits, TextTraits); 11] = [
        (Traits::ASCII, TextTraits::ASCII),
        (Traits::NO_CONTROL, TextTraits::NO_CONTROL),
        (Traits::NO_LINE_BREAK, TextTraits::NO_LINE_BREAK),
        (Traits::NO_TAB, TextTraits::NO_TAB),
        (Traits::NO_QUOTE, TextTraits::NO_QUOTE),
        (Traits::NO_APOSTROPHE, TextTraits::NO_APOSTROPHE),
        (Traits::NO_BACKSLASH, TextTraits::NO_BACKSLASH),
        (Traits::NO_COMMA, TextTraits::NO_COMMA),
        (Traits::NO_SEMICOLON, TextTraits::NO_SEMICOLON),
        (Traits::NO_VERTICAL_BAR, TextTraits::NO_VERTICAL_BAR),
        (Traits::NO_MARKUP, TextTraits::NO_MARKUP),
    ];
    NAMES.iter().filter(|(name, _)| traits.contains(*name)).map(|(_, own)| *own).collect()
}

/// The bitmap of values that are not null; empty where all are.
fn validity(nulls: Option<&NullBuffer>) -> Buffer {
    let nulls = nulls.filter(|nulls| nulls.null_count() > 0);
    nulls.map_or_else(Buffer::default, |nulls| aligned_bitmap(nulls.inner()))
}

/// A bitmap that begins at bit 0 and has no bytes behind its last bit.
fn aligned_bitmap(bitmap: &BooleanBuffer) -> Buffer {
    let bytes = bitmap.len().div_ceil(8);
    if bitmap.offset().is_multiple_of(8) {
        return bitmap.inner().slice_with_length(bitmap.offset() / 8, bytes);
    }
    let mut builder = BooleanBufferBuilder::new(bitmap.len());
    builder.append_buffer(bitmap);
    builder.finish().into_inner().slice_with_length(0, bytes)
}

pub(super) fn to_u32(count: usize) -> Result<u32, UnsupportedType> {
    u32::try_from(count).map_err(|_| UnsupportedType("more than 2^32 elements in a batch".into()))
}
