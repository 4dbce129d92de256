//! Values of variable length, and bitmaps.

use std::borrow::Cow;

use crate::raw::{Pod, numbers};

/// Text or binary values: offsets into one buffer.
#[derive(Debug)]
pub struct Strings<'a, O: Pod> {
    offsets: Cow<'a, [O]>,
    bytes: &'a [u8],
}

/// An offset of Arrow's: 32 or 64 bits, never negative.
pub trait Offset: Pod {
    /// As an index.
    fn index(self) -> usize;
}

impl Offset for i32 {
    #[inline]
    fn index(self) -> usize {
        usize::try_from(self).unwrap_or(0)
    }
}

impl Offset for i64 {
    #[inline]
    fn index(self) -> usize {
        usize::try_from(self).unwrap_or(0)
    }
}

impl<'a, O: Offset> Strings<'a, O> {
    pub(crate) fn new(offsets: &'a [u8], bytes: &'a [u8]) -> Self {
        Self { offsets: numbers(offsets), bytes }
    }

    /// Position of a row's value in [`Strings::buffer`]: start and length.
    #[must_use]
    #[inline]
    pub fn range(&self, row: usize) -> (usize, usize) {
        let start = self.offsets[row].index();
        (start, self.offsets[row + 1].index() - start)
    }

    /// The bytes of a row.
    #[must_use]
    #[inline]
    pub fn bytes(&self, row: usize) -> &'a [u8] {
        let (start, length) = self.range(row);
        &self.bytes[start..start + length]
    }

    /// Start of each value in [`Strings::buffer`], and the end of the last one.
    #[must_use]
    pub fn offsets(&self) -> &[O] {
        &self.offsets
    }

    /// All values, one after the other, without a mark between them.
    #[must_use]
    pub fn buffer(&self) -> &'a [u8] {
        let end = self.offsets.last().map_or(0, |end| end.index());
        &self.bytes[..end]
    }
}

/// A bitmap, least significant bit first.
#[derive(Debug, Clone, Copy)]
pub struct Bits<'a> {
    bytes: &'a [u8],
    length: usize,
}

impl<'a> Bits<'a> {
    pub(crate) fn new(bytes: &'a [u8], length: usize) -> Self {
        Self { bytes, length }
    }

    /// The bit of a row.
    #[must_use]
    #[inline]
    pub fn get(&self, row: usize) -> bool {
        self.bytes[row / 8] >> (row % 8) & 1 == 1
    }

    /// The bytes, of which the last may be filled up with bits of any value.
    #[must_use]
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Number of bits.
    #[must_use]
    pub fn len(&self) -> usize {
        self.length
    }

    /// Returns whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }
}
