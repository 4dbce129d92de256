//! Numbers of a block of rows, rendered column by column, each in a slot after its lead.

use std::borrow::Cow;
use std::ops::Range;

use super::super::number::{self, ROOM, Slot};
use super::super::{Dialect, cell};
use crate::Values;
use crate::column::Bits;
use crate::raw::put;

/// Slots of equal size. The lead stands at the start of each for good; the number ends it.
#[derive(Debug, Default)]
pub(in super::super) struct Slots {
    arena: Vec<u8>,
    lengths: Vec<usize>,
    lead: usize,
}

/// A column of numbers.
#[derive(Debug)]
pub(in super::super) enum Numbers<'a> {
    I8(Cow<'a, [i8]>),
    I16(Cow<'a, [i16]>),
    I32(Cow<'a, [i32]>),
    I64(Cow<'a, [i64]>),
    U8(Cow<'a, [u8]>),
    U16(Cow<'a, [u16]>),
    U32(Cow<'a, [u32]>),
    U64(Cow<'a, [u64]>),
    F32(Cow<'a, [f32]>),
    F64(Cow<'a, [f64]>),
}

impl<'a> Numbers<'a> {
    /// The numbers of a column, or the values unchanged when they are none.
    pub(super) fn of(values: Values<'a>) -> Result<Self, Values<'a>> {
        Ok(match values {
            Values::Int8(numbers) => Self::I8(numbers),
            Values::Int16(numbers) => Self::I16(numbers),
            Values::Int32(numbers) => Self::I32(numbers),
            Values::Int64(numbers) => Self::I64(numbers),
            Values::UInt8(numbers) => Self::U8(numbers),
            Values::UInt16(numbers) => Self::U16(numbers),
            Values::UInt32(numbers) => Self::U32(numbers),
            Values::UInt64(numbers) => Self::U64(numbers),
            Values::Float32(numbers) => Self::F32(numbers),
            Values::Float64(numbers) => Self::F64(numbers),
            other => return Err(other),
        })
    }
}

impl Slots {
    /// Makes room once per response.
    pub(super) fn prepare(&mut self, lead: &[u8], block: usize) {
        if self.lengths.is_empty() {
            self.lead = lead.len();
            self.lengths = vec![0; block];
            let mut slot = lead.to_vec();
            slot.resize(lead.len() + ROOM, 0);
            self.arena = slot.repeat(block);
        }
    }

    /// Renders rows into the first slots.
    pub(super) fn render<D: Dialect>(&mut self, numbers: &Numbers<'_>, rows: Range<usize>, validity: Option<&Bits<'_>>) {
        match numbers {
            Numbers::I8(numbers) => self.each::<D, _>(&numbers[rows.clone()], rows, validity, |n, slot| number::signed((*n).into(), slot)),
            Numbers::I16(numbers) => self.each::<D, _>(&numbers[rows.clone()], rows, validity, |n, slot| number::signed((*n).into(), slot)),
            Numbers::I32(numbers) => self.each::<D, _>(&numbers[rows.clone()], rows, validity, |n, slot| number::signed((*n).into(), slot)),
            Numbers::I64(numbers) => self.each::<D, _>(&numbers[rows.clone()], rows, validity, |n, slot| number::signed(*n, slot)),
            Numbers::U8(numbers) => {
                self.each::<D, _>(&numbers[rows.clone()], rows, validity, |n, slot| number::unsigned((*n).into(), slot))
            }
            Numbers::U16(numbers) => {
                self.each::<D, _>(&numbers[rows.clone()], rows, validity, |n, slot| number::unsigned((*n).into(), slot))
            }
            Numbers::U32(numbers) => {
                self.each::<D, _>(&numbers[rows.clone()], rows, validity, |n, slot| number::unsigned((*n).into(), slot))
            }
            Numbers::U64(numbers) => self.each::<D, _>(&numbers[rows.clone()], rows, validity, |n, slot| number::unsigned(*n, slot)),
            Numbers::F32(numbers) => self.each::<D, _>(&numbers[rows.clone()], rows, validity, float32::<D>),
            Numbers::F64(numbers) => self.each::<D, _>(&numbers[rows.clone()], rows, validity, float::<D>),
        }
    }

    #[inline(always)]
    fn each<D: Dialect, T>(
        &mut self,
        numbers: &[T],
        rows: Range<usize>,
        validity: Option<&Bits<'_>>,
        write: impl Fn(&T, &mut Slot) -> usize,
    ) {
        let lead = self.lead;
        let slots = self.arena.chunks_exact_mut(lead + ROOM).zip(&mut self.lengths);
        for ((number, row), (slot, length)) in numbers.iter().zip(rows).zip(slots) {
            let Some(slot) = slot.last_chunk_mut::<ROOM>() else { continue };
            let valid = validity.is_none_or(|bits| bits.get(row));
            *length = lead + if valid { write(number, slot) } else { number::copy(D::NULL, slot) };
        }
    }

    /// Appends the number in a slot with its lead.
    #[inline(always)]
    pub(super) fn put(&self, place: usize, out: &mut Vec<u8>) {
        put(out, &self.arena, place * (self.lead + ROOM), self.lengths[place]);
    }
}

#[inline(always)]
fn float<D: Dialect>(number: &f64, slot: &mut Slot) -> usize {
    if number.is_finite() { number::float(*number, slot) } else { number::copy(cell::not_finite::<D>(*number), slot) }
}

fn float32<D: Dialect>(number: &f32, slot: &mut Slot) -> usize {
    if number.is_finite() { number::float32(*number, slot) } else { number::copy(cell::not_finite::<D>((*number).into()), slot) }
}
