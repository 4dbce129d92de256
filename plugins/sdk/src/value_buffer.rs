//! Buffers of one column under construction, as the Arrow C data interface has them: validity from
//! the first null on, offsets, values. Owns their layout; what a value is, its users say.

use crate::wire::{RawArray, RawRows};

/// Rows of a batch.
pub(crate) const BATCH_ROWS: usize = 8_192;

/// Bytes of values after which a batch is full.
pub(crate) const BATCH_BYTES: usize = 1 << 20;

/// Layout of a type's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// Offsets of 32 bits, and bytes.
    Text,
    /// So many bytes each.
    Fixed(usize),
    /// A bit each.
    Bits,
}

/// A column under construction, of a type as its user names it.
#[derive(Debug)]
pub(crate) struct ValueBuffer<T> {
    value_type: T,
    layout: Layout,
    /// Least significant bit first; empty as long as there is no null.
    validity: Vec<u8>,
    nulls: u32,
    /// Values so far.
    length: usize,
    offsets: Vec<u8>,
    values: Vec<u8>,
}

impl<T: Copy + PartialEq + std::fmt::Debug + Into<Layout>> ValueBuffer<T> {
    pub(crate) fn new(value_type: T) -> Self {
        let layout = value_type.into();
        let offsets = if layout == Layout::Text { vec![0; size_of::<i32>()] } else { Vec::new() };
        let (validity, values) = (Vec::new(), Vec::new());
        Self { value_type, layout, validity, nulls: 0, length: 0, offsets, values }
    }

    /// Number of values and nulls.
    pub(crate) fn length(&self) -> usize {
        self.length
    }

    /// The buffer, of a value of this type.
    ///
    /// # Panics
    /// Panics where the column is of another type; a plugin's tests find that out.
    #[inline]
    pub(crate) fn expect_type(&mut self, value_type: T) -> &mut Self {
        let own = self.value_type;
        assert!(own == value_type, "the column is of type {own:?}, not {value_type:?}");
        self
    }

    /// Adds text.
    #[inline]
    pub(crate) fn push_text(&mut self, value: &str) {
        self.values.extend_from_slice(value.as_bytes());
        self.push_valid();
        self.push_offset();
    }

    /// Adds a value of fixed width.
    #[inline]
    pub(crate) fn push_fixed<const N: usize>(&mut self, value: [u8; N]) {
        self.values.extend_from_slice(&value);
        self.push_valid();
    }

    /// Adds a boolean.
    #[inline]
    pub(crate) fn push_boolean(&mut self, value: bool) {
        push_bit(&mut self.values, self.length, value);
        self.push_valid();
    }

    pub(crate) fn push_null(&mut self) {
        if self.nulls == 0 {
            // Everything before it is valid.
            self.validity = vec![0xff; self.length / 8];
            let rest = self.length % 8;
            if rest > 0 {
                self.validity.push((1 << rest) - 1);
            }
        }
        push_bit(&mut self.validity, self.length, false);
        match self.layout {
            Layout::Text => self.push_offset(),
            Layout::Fixed(width) => self.values.resize(self.values.len() + width, 0),
            Layout::Bits => push_bit(&mut self.values, self.length, false),
        }
        self.nulls += 1;
        self.length += 1;
    }

    #[inline]
    fn push_valid(&mut self) {
        if self.nulls > 0 {
            push_bit(&mut self.validity, self.length, true);
        }
        self.length += 1;
    }

    #[inline]
    fn push_offset(&mut self) {
        let end = i32::try_from(self.values.len()).unwrap_or(i32::MAX);
        self.offsets.extend_from_slice(&end.to_le_bytes());
    }

    /// The column so far. The buffer starts again, with room for as much.
    fn take(&mut self) -> Self {
        let mut next = Self::new(self.value_type);
        next.offsets.reserve(self.offsets.len());
        next.values.reserve(self.values.len());
        std::mem::replace(self, next)
    }
}

/// Arrays and buffers of the columns, of so many rows. The columns start again.
pub(crate) fn take_rows<T>(columns: &mut [ValueBuffer<T>], rows: usize) -> RawRows
where
    T: Copy + PartialEq + std::fmt::Debug + Into<Layout>,
{
    let rows = u32::try_from(rows).unwrap_or(u32::MAX);
    let mut batch = RawRows { rows, arrays: Vec::new(), buffers: Vec::new() };
    for column in columns {
        let before = batch.buffers.len();
        let taken = column.take();
        batch.buffers.push(taken.validity);
        if taken.layout == Layout::Text {
            batch.buffers.push(taken.offsets);
        }
        batch.buffers.push(taken.values);
        batch.arrays.push(RawArray {
            length: rows,
            null_count: taken.nulls,
            buffers: u32::try_from(batch.buffers.len() - before).unwrap_or_default(),
            repeated: false,
        });
    }
    batch
}

#[inline]
fn push_bit(bits: &mut Vec<u8>, at: usize, value: bool) {
    if at.is_multiple_of(8) {
        bits.push(0);
    }
    if let Some(last) = bits.last_mut() {
        *last |= u8::from(value) << (at % 8);
    }
}
