//! Columns whose values stay with the host, and buffers of any column.

use std::borrow::Cow;

use super::{Bits, buffer};
use crate::batch::{ColumnBuffers, HeldBuffers};
use crate::column::Offset as _;
use crate::raw::numbers;
use crate::{DataType, Field};

/// Text or binary values of which offsets crossed.
#[derive(Debug)]
pub struct HeldColumn<'a> {
    offsets: Offsets<'a>,
    each: Option<Bits<'a>>,
    /// Index of the values' buffer in the batch.
    pub(crate) buffer: u32,
}

#[derive(Debug)]
enum Offsets<'a> {
    Short(Cow<'a, [i32]>),
    Long(Cow<'a, [i64]>),
}

impl<'a> HeldColumn<'a> {
    pub(super) fn new(field: &Field, array: &'a ColumnBuffers, held: &HeldBuffers) -> Self {
        let offsets = match field.data_type {
            DataType::LargeUtf8 | DataType::LargeBinary => Offsets::Long(numbers(buffer(array, 1))),
            _ => Offsets::Short(numbers(buffer(array, 1))),
        };
        let each = array.buffers.get(3).map(|bits| Bits::new(bits, array.length));
        Self { offsets, each, buffer: held.first + 2 }
    }

    /// Position of a row's value among all values: start and length, bytes.
    #[must_use]
    #[inline]
    pub fn range(&self, row: usize) -> (usize, usize) {
        let (start, end) = match &self.offsets {
            Offsets::Short(offsets) => (offsets[row].index(), offsets[row + 1].index()),
            Offsets::Long(offsets) => (offsets[row].index(), offsets[row + 1].index()),
        };
        (start, end - start)
    }

    /// Returns whether a row's value has all traits that were asked for each value; true where none
    /// was.
    #[must_use]
    #[inline]
    pub fn has_each(&self, row: usize) -> bool {
        self.each.is_none_or(|bits| bits.get(row))
    }
}

/// One buffer of a column.
#[derive(Debug, Clone, Copy)]
pub struct ColumnBuffer<'a> {
    /// Its length in bytes.
    pub length: usize,
    /// Index in the batch, where it stays with the host.
    pub(crate) held: Option<u32>,
    /// Its bytes, where it does not.
    pub(crate) bytes: &'a [u8],
}

impl<'a> ColumnBuffer<'a> {
    pub(super) fn all(array: &'a ColumnBuffers) -> impl Iterator<Item = Self> + use<'a> {
        let held = array.held.as_ref();
        array.buffers.iter().zip(0_u32..).enumerate().map(move |(place, (bytes, index))| {
            let stays = held.and_then(|held| Some((held.first, (*held.lengths.get(place)?)?)));
            match stays {
                Some((first, length)) => Self { length, held: Some(first + index), bytes: &[] },
                None => Self { length: bytes.len(), held: None, bytes },
            }
        })
    }

    /// Returns whether it stays with the host.
    #[must_use]
    pub fn is_held(&self) -> bool {
        self.held.is_some()
    }
}
