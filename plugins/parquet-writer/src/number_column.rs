//! Columns of 64-bit numbers: as they are, or by a dictionary where a sample says that they repeat.

use std::borrow::Cow;

use yearbook_sdk::Error;
use zerocopy::{Immutable, IntoBytes};

use crate::bounds::MinMax;
use crate::column_chunk::{ChunkWriter, PAGE_ROWS, PageBuffers, PageRows};
use crate::dictionary_slots::{DictionaryFull, DictionarySlots};
use crate::levels;
use crate::part_note::ColumnChunkNote;
use crate::rle_bit_packing;

/// Values that are looked at before a dictionary is tried.
pub(crate) const SAMPLE: usize = 4096;
/// Distinct ones among them at most, in eighths: seven are what a column with some 15,000 values
/// has.
pub(crate) const DISTINCT_EIGHTHS: usize = 7;

/// A 64-bit number.
pub(crate) trait ParquetNumber: Copy + IntoBytes + Immutable {
    /// Bits that tell values apart.
    fn bits(self) -> u64;

    /// Least and greatest of a page's values; `None` where they have no order.
    fn bounds(values: &[Self]) -> Option<MinMax>;
}

impl ParquetNumber for i64 {
    fn bits(self) -> u64 {
        self.cast_unsigned()
    }

    fn bounds(values: &[Self]) -> Option<MinMax> {
        let (min, max) = lanes(values, Self::MAX, Self::MIN);
        (!values.is_empty()).then(|| MinMax::exact(&min.to_le_bytes(), &max.to_le_bytes()))
    }
}

impl ParquetNumber for f64 {
    /// Zeros of both signs and all kinds of NaN stay what they are.
    fn bits(self) -> u64 {
        self.to_bits()
    }

    /// A zero stands for zeros of both signs, as the format demands. Where there is NaN there are
    /// no bounds: the format would let us leave NaN out, but readers that sort it above all else
    /// then skip it.
    fn bounds(values: &[Self]) -> Option<MinMax> {
        let ordered = values.iter().fold(true, |ordered, value| ordered & !value.is_nan());
        let (min, max) = lanes(values, Self::INFINITY, Self::NEG_INFINITY);
        let min = if min == 0.0 { -0.0 } else { min };
        let max = if max == 0.0 { 0.0 } else { max };
        (ordered && !values.is_empty())
            .then(|| MinMax::exact(&min.to_le_bytes(), &max.to_le_bytes()))
    }
}

/// Least and greatest, in eight lanes at once.
fn lanes<T: Copy + PartialOrd>(values: &[T], greatest: T, least: T) -> (T, T) {
    let (mut min, mut max) = ([greatest; 8], [least; 8]);
    let (eights, rest) = values.as_chunks::<8>();
    for eight in eights {
        for ((min, max), &value) in min.iter_mut().zip(&mut max).zip(eight) {
            *min = if value < *min { value } else { *min };
            *max = if value > *max { value } else { *max };
        }
    }
    let all = |lanes: [T; 8]| lanes.into_iter().chain(rest.iter().copied());
    let min = all(min).fold(greatest, |min, value| if value < min { value } else { min });
    let max = all(max).fold(least, |max, value| if value > max { value } else { max });
    (min, max)
}

/// Writes a column. `valid` begins with the first value; `None` where no row is null.
pub(crate) fn write<T: ParquetNumber>(
    out: &mut Vec<u8>,
    tools: &mut PageBuffers,
    optional: bool,
    values: &[T],
    valid: Option<&[u8]>,
) -> Result<ColumnChunkNote, Error> {
    let mut present = Cow::Borrowed(values);
    if let Some(valid) = valid {
        let mut closed = Vec::new();
        levels::append_valid(&mut closed, values, valid);
        present = Cow::Owned(closed);
    }
    let keys = keys(&present);
    let compressed = match &keys {
        Some(_) => tools.press.compresses(),
        None => tools.press.is_worthwhile(present.as_bytes())?,
    };
    let mut writer = ChunkWriter::new(out, tools, optional, compressed);
    if let Some(keys) = &keys {
        writer.dictionary(keys.distinct.len(), false, |body| {
            body.extend_from_slice(keys.distinct.as_bytes())
        })?;
    }
    let mut start = 0;
    for first in (0..values.len()).step_by(PAGE_ROWS) {
        let count = PAGE_ROWS.min(values.len() - first);
        // Pages begin on a byte of the bitmap.
        let valid = valid.map(|valid| &valid[first / 8..(first + count).div_ceil(8)]);
        let end = start + valid.map_or(count, |valid| levels::count(valid, count));
        let rows = PageRows { count, nulls: count - (end - start), valid };
        let page = &present[start..end];
        let bounds = T::bounds(page);
        writer.data(&rows, bounds, |body| match &keys {
            None => body.extend_from_slice(page.as_bytes()),
            Some(keys) => {
                let width = rle_bit_packing::width(keys.greatest());
                body.extend(u8::try_from(width));
                rle_bit_packing::write(body, &keys.positions[start..end], width);
            }
        })?;
        start = end;
    }
    Ok(writer.finish())
}

/// A dictionary and every value's position in it.
struct NumberDictionary<T> {
    distinct: Vec<T>,
    positions: Vec<u16>,
}

impl<T> NumberDictionary<T> {
    fn greatest(&self) -> u16 {
        u16::try_from(self.distinct.len().saturating_sub(1)).unwrap_or(u16::MAX)
    }
}

/// A dictionary of at most a quarter of the values; `None` where they are too many or a sample has
/// too many already.
fn keys<T: ParquetNumber>(values: &[T]) -> Option<NumberDictionary<T>> {
    let sampled = values.len().min(SAMPLE);
    let mut slots = DictionarySlots::new(sampled * DISTINCT_EIGHTHS / 8);
    for value in values.iter().step_by((values.len() / SAMPLE).max(1)).take(sampled) {
        slots.position(value.bits()).ok()?;
    }
    if values.is_empty() {
        return None;
    }
    let mut slots = DictionarySlots::new((values.len() / 4).min(1 << 15));
    let (mut distinct, mut positions) = (Vec::new(), Vec::with_capacity(values.len()));
    for value in values {
        match slots.position(value.bits()) {
            Ok(position) => {
                if usize::from(position) == distinct.len() {
                    distinct.push(*value);
                }
                positions.push(position);
            }
            Err(DictionaryFull) => return None,
        }
    }
    Some(NumberDictionary { distinct, positions })
}
