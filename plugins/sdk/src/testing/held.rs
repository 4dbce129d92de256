//! The host's half of output by reference, natively: which buffers of a test table stay behind, and
//! where a piece's splices put them.

use crate::column::Offset as _;
use crate::raw::numbers;
use crate::view::{Crossing, HeldText};
use crate::{DataType, Field, Schema, View, wire};

/// Part of a batch that crosses, and all its buffers. `schema` is as `views` have it.
pub(super) fn hold(
    schema: &Schema,
    views: &[View],
    batch: wire::RawBatch,
) -> (wire::RawBatch, Vec<Vec<u8>>) {
    let mut holder = Holder {
        arrays: batch.arrays.into_iter(),
        buffers: batch.buffers.into_iter(),
        crossed: wire::RawBatch { rows: batch.rows, ..wire::RawBatch::default() },
        kept: Vec::new(),
    };
    for (position, field) in schema.fields.iter().enumerate() {
        let view = views.get(position).copied().unwrap_or(View::WHOLE);
        holder.array(field, view.crossing);
    }
    (holder.crossed, holder.kept)
}

struct Holder {
    arrays: std::vec::IntoIter<wire::RawArray>,
    buffers: std::vec::IntoIter<wire::RawBuffer>,
    crossed: wire::RawBatch,
    kept: Vec<Vec<u8>>,
}

impl Holder {
    fn array(&mut self, field: &Field, crossing: Crossing) {
        let Some(record) = self.arrays.next() else { panic!("`{}` has no array", field.name) };
        let place = self.crossed.arrays.len();
        self.crossed.arrays.push(record);
        let buffers: Vec<Vec<u8>> = self
            .buffers
            .by_ref()
            .take(record.buffers as usize)
            .map(|buffer| match buffer {
                wire::RawBuffer::Bytes(bytes) => bytes,
                wire::RawBuffer::Held(_) => panic!("a test table holds nothing"),
            })
            .collect();
        let bitmap = match (crossing, field.data_type.clone(), buffers.as_slice()) {
            (Crossing::Offsets(wish), DataType::Utf8 | DataType::Binary, [_, offsets, values]) => {
                let offsets = numbers::<i32>(offsets);
                bitmap(wish, offsets.iter().map(|offset| offset.index()), values)
            }
            (
                Crossing::Offsets(wish),
                DataType::LargeUtf8 | DataType::LargeBinary,
                [_, offsets, values],
            ) => {
                let offsets = numbers::<i64>(offsets);
                bitmap(wish, offsets.iter().map(|offset| offset.index()), values)
            }
            _ => None,
        };
        let count = buffers.len();
        for (index, bytes) in buffers.into_iter().enumerate() {
            let held = match crossing {
                Crossing::Whole => false,
                Crossing::Offsets(_) => bitmap.is_some() && index + 1 == count,
                Crossing::Lengths => true,
            };
            self.push(bytes, held);
        }
        if let Some(Some(bitmap)) = bitmap {
            self.push(bitmap, false);
            self.crossed.arrays[place].buffers += 1;
        }
        if let Some(values) = &field.dictionary {
            self.array(values, crossing);
        }
        for child in &field.children {
            self.array(child, crossing);
        }
    }

    fn push(&mut self, bytes: Vec<u8>, held: bool) {
        self.crossed.buffers.push(if held {
            wire::RawBuffer::Held(super::data::count(bytes.len()))
        } else {
            wire::RawBuffer::Bytes(bytes.clone())
        });
        self.kept.push(bytes);
    }
}

/// None where the values cross; otherwise the bitmap that was asked for.
fn bitmap(
    wish: HeldText,
    offsets: impl Iterator<Item = usize>,
    values: &[u8],
) -> Option<Option<Vec<u8>>> {
    let ends: Vec<usize> = offsets.collect();
    let rows = ends.len().saturating_sub(1);
    let long = rows > 0 && values.len() / rows >= wish.mean_bytes as usize;
    if !long || !wish.all.hold_for(values) {
        return None;
    }
    let free = ends.windows(2).map(|ends| wish.each.hold_for(&values[ends[0]..ends[1]]));
    Some((wish.each != crate::Traits::NONE).then(|| super::data::bitmap(free)))
}

/// The bytes of a piece.
///
/// # Panics
/// Panics when a splice breaks a rule of the interface, as the host would refuse it.
pub(super) fn join(bytes: &[u8], splices: &[wire::RawSplice], kept: &[Vec<u8>]) -> Vec<u8> {
    let mut joined = Vec::with_capacity(bytes.len());
    let mut written = 0;
    for splice in splices {
        let (at, start, length) =
            (splice.at as usize, splice.offset as usize, splice.length as usize);
        assert!(at >= written && at <= bytes.len(), "a splice at {at} of {}", bytes.len());
        assert!(length > 0, "an empty splice");
        joined.extend_from_slice(&bytes[written..at]);
        joined.extend_from_slice(&kept[splice.buffer as usize][start..start + length]);
        written = at;
    }
    joined.extend_from_slice(&bytes[written..]);
    joined
}
