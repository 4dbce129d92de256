//! How the cells of one column are written: chosen once per batch.

use std::borrow::Cow;

use super::{Dialect, cell};
use crate::column::Bits;
use crate::raw::put;
use crate::{Column, Values};
use entries::Entries;
use slots::{Numbers, Slots};
use strings::Text;

mod entries;
mod slots;
mod strings;

/// What is kept of a column between batches.
#[derive(Debug)]
pub(super) struct Lane {
    lead: Vec<u8>,
    slots: Slots,
    entries: Entries,
}

/// A column of this batch.
#[derive(Debug)]
pub(super) enum Prepared<'a> {
    Number { numbers: Numbers<'a>, validity: Option<Bits<'a>>, slots: &'a mut Slots },
    Boolean { bits: Bits<'a>, validity: Option<Bits<'a>>, entries: &'a Entries },
    Dictionary { keys: Cow<'a, [i32]>, validity: Option<Bits<'a>>, entries: &'a Entries },
    Utf8(Text<'a, i32>),
    LargeUtf8(Text<'a, i64>),
    Any { column: Column<'a>, lead: &'a [u8], bytes: Vec<u8>, ends: Vec<usize> },
}

impl Lane {
    pub(super) fn new(lead: Vec<u8>) -> Self {
        Self { lead, slots: Slots::default(), entries: Entries::default() }
    }

    /// Bytes that a number of this column takes in a block.
    pub(super) fn stride(&self) -> usize {
        self.lead.len() + super::number::ROOM
    }

    pub(super) fn prepare<'a, D: Dialect>(&'a mut self, dialect: &D, mut column: Column<'a>, block: usize) -> Prepared<'a> {
        let Self { lead, slots, entries } = self;
        let validity = column.validity().copied();
        match std::mem::replace(&mut column.values, Values::Null) {
            Values::Boolean(bits) => {
                entries.fill(lead, 1, 2, D::NULL, |value, out| out.extend_from_slice(if value == 1 { b"true" } else { b"false" }));
                Prepared::Boolean { bits, validity, entries }
            }
            Values::Dictionary(dictionary) => {
                let values = &dictionary.values;
                entries.fill(lead, dictionary.version, values.length, D::NULL, |value, out| cell::render(dialect, values, value, out));
                Prepared::Dictionary { keys: dictionary.keys, validity, entries }
            }
            Values::Utf8(strings) => Prepared::Utf8(Text::new(dialect, strings, validity, lead)),
            Values::LargeUtf8(strings) => Prepared::LargeUtf8(Text::new(dialect, strings, validity, lead)),
            values => match Numbers::of(values) {
                Ok(numbers) => {
                    slots.prepare(lead, block);
                    Prepared::Number { numbers, validity, slots }
                }
                Err(values) => {
                    column.values = values;
                    Prepared::Any { column, lead, bytes: Vec::new(), ends: Vec::new() }
                }
            },
        }
    }
}

impl Prepared<'_> {
    /// Renders a block of rows ahead, where the lane does that.
    pub(super) fn render<D: Dialect>(&mut self, dialect: &D, start: usize, stop: usize) {
        match self {
            Self::Number { numbers, validity, slots } => slots.render::<D>(numbers, start..stop, validity.as_ref()),
            Self::Any { column, lead, bytes, ends } => {
                bytes.clear();
                ends.clear();
                for row in start..stop {
                    bytes.extend_from_slice(lead);
                    cell::render(dialect, column, row, bytes);
                    ends.push(bytes.len());
                }
            }
            _ => {}
        }
    }

    /// Appends a cell with its lead; `place` is the row's place in the block rendered last.
    #[inline(always)]
    pub(super) fn put<D: Dialect>(&self, dialect: &D, row: usize, place: usize, out: &mut Vec<u8>) {
        match self {
            Self::Number { slots, .. } => slots.put(place, out),
            Self::Dictionary { keys, validity, entries } => {
                let valid = validity.is_none_or(|bits| bits.get(row));
                let key = usize::try_from(keys[row]).unwrap_or(usize::MAX);
                entries.put(if valid { key } else { usize::MAX }, out);
            }
            Self::Boolean { bits, validity, entries } => {
                let valid = validity.is_none_or(|bits| bits.get(row));
                entries.put(if valid { usize::from(bits.get(row)) } else { usize::MAX }, out);
            }
            Self::Utf8(text) => text.put(dialect, row, out),
            Self::LargeUtf8(text) => text.put(dialect, row, out),
            Self::Any { bytes, ends, .. } => {
                let start = if place == 0 { 0 } else { ends[place - 1] };
                put(out, bytes, start, ends[place] - start);
            }
        }
    }
}
