//! Every hand-written `unsafe` of the guest side, each with its reason: reading buffers that the
//! host has validated, appending text to a vector, and the guest's allocator.
//!
//! The interface says that the host has checked all data before it crosses, so the guest does not
//! check UTF-8 again: that alone was 28 of the 43 ms that a million rows took to cross.
#![expect(unsafe_code, reason = "the one file where unsafe stands; each use gives its reason")]

use std::borrow::Cow;

mod sealed {
    /// Types that any bytes are a valid value of, without padding.
    pub trait Pod: Copy + 'static {}
}
pub(crate) use sealed::Pod;

impl Pod for i8 {}
impl Pod for u8 {}
impl Pod for i16 {}
impl Pod for u16 {}
impl Pod for i32 {}
impl Pod for u32 {}
impl Pod for i64 {}
impl Pod for u64 {}
impl Pod for i128 {}
impl Pod for f32 {}
impl Pod for f64 {}

/// The bytes as little-endian numbers: in place when the buffer happens to be aligned, else copied.
/// A rest shorter than a number is left out.
pub(crate) fn numbers<T: Pod>(bytes: &[u8]) -> Cow<'_, [T]> {
    const { assert!(cfg!(target_endian = "little"), "Arrow buffers are little-endian") };
    // SAFETY: `Plain` is sealed to types for which every bit pattern is a value.
    let (before, aligned, _) = unsafe { bytes.align_to::<T>() };
    if before.is_empty() {
        return Cow::Borrowed(aligned);
    }
    let count = bytes.len() / size_of::<T>();
    let mut copy = Vec::<T>::with_capacity(count);
    // SAFETY: the source holds `count` values, the target has room for them and is a new
    // allocation.
    unsafe {
        std::ptr::copy_nonoverlapping(
            bytes.as_ptr(),
            copy.as_mut_ptr().cast::<u8>(),
            count * size_of::<T>(),
        );
        copy.set_len(count);
    }
    Cow::Owned(copy)
}

/// Text of a column of type utf-8. Only [`crate::batch::Decoder`] makes such columns, from what the
/// host has validated or from strings.
pub(crate) fn text(bytes: &[u8]) -> &str {
    debug_assert!(std::str::from_utf8(bytes).is_ok(), "the host sent text that is not UTF-8");
    // SAFETY: the host validates UTF-8 and that offsets stand on character boundaries
    // (`encoder.batch` in the WIT package); native tests make columns from `&str`.
    unsafe { std::str::from_utf8_unchecked(bytes) }
}

/// The array of a builder that holds what the host sent. Buffers that are not aligned are copied.
#[cfg(feature = "arrow")]
pub(crate) fn array_data(builder: arrow_data::ArrayDataBuilder) -> arrow_data::ArrayData {
    // SAFETY: the host has validated offsets, UTF-8 and keys (`encoder.batch` in the WIT package).
    unsafe { builder.align_buffers(true).build_unchecked() }
}

/// Bytes that a step of an [`Appender`] writes at most.
pub(crate) const STEP: usize = 64;

/// Bytes that an empty vector gets room for.
const FIRST: usize = 4096;

/// Vector under way, appended to in steps of fixed length: a cell is a few copies whose length the
/// compiler knows, and one comparison, whatever the cell's own length. What was appended is the
/// vector's after [`Appender::finish`].
///
/// Only what is outlined sees more than one field: as long as no reference to the whole leaves a
/// loop, the fields stand in registers.
pub(crate) struct Appender<'a> {
    bytes: &'a mut Vec<u8>,
    allocation: Allocation,
    /// Bytes that are written.
    length: usize,
}

/// Place of a vector's bytes.
#[derive(Clone, Copy)]
struct Allocation {
    start: *mut u8,
    /// Length from which on there is no room for a step.
    full: usize,
}

impl Allocation {
    fn new(bytes: &mut Vec<u8>) -> Self {
        Self { start: bytes.as_mut_ptr(), full: bytes.capacity().saturating_sub(STEP - 1) }
    }
}

impl<'a> Appender<'a> {
    pub(crate) fn new(bytes: &'a mut Vec<u8>) -> Self {
        let (allocation, length) = (Allocation::new(bytes), bytes.len());
        Self { bytes, allocation, length }
    }

    /// Hands everything over to the vector.
    pub(crate) fn finish(self) {
        set_length(self.bytes, self.length);
    }

    /// Length of the vector with what was appended.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.length
    }

    /// Appends a block.
    #[inline(always)]
    pub(crate) fn push_block<const N: usize>(&mut self, block: &[u8; N]) {
        self.write_block(block);
        self.length += N;
    }

    /// Appends the start of a block: fewer than its N bytes, `length` modulo N.
    #[inline(always)]
    pub(crate) fn push_start<const N: usize>(&mut self, block: &[u8; N], length: usize) {
        const { assert!(N.is_power_of_two()) };
        self.write_block(block);
        self.length += length & (N - 1);
    }

    /// Appends what `write` leaves at the start of [`STEP`] zeros; it returns how many bytes, fewer
    /// than there are.
    #[inline(always)]
    pub(crate) fn push_with(&mut self, write: impl FnOnce(&mut [u8; STEP]) -> usize) {
        self.write_block(&[0; STEP]);
        // SAFETY: these bytes have just been written, and nothing else refers to them.
        let room = unsafe { &mut *self.allocation.start.add(self.length).cast::<[u8; STEP]>() };
        self.length += write(room) & (STEP - 1);
    }

    /// Appends bytes of any length.
    #[inline(always)]
    pub(crate) fn extend(&mut self, bytes: &[u8]) {
        self.with_vec(|vec| vec.extend_from_slice(bytes));
    }

    /// Lets `change` see the vector. It may append to it, and make room in it.
    #[inline(always)]
    pub(crate) fn with_vec(&mut self, change: impl FnOnce(&mut Vec<u8>)) {
        set_length(self.bytes, self.length);
        change(self.bytes);
        (self.allocation, self.length) = (Allocation::new(self.bytes), self.bytes.len());
    }

    /// Writes a block behind what was appended.
    #[inline(always)]
    fn write_block<const N: usize>(&mut self, block: &[u8; N]) {
        const { assert!(N <= STEP) };
        if self.length >= self.allocation.full {
            self.allocation = grow(self.bytes, self.length);
        }
        // SAFETY: there are STEP bytes behind `length` in the vector's allocation, and N are no
        // more. Nothing else refers to them: `bytes` stays untouched until its length is set.
        unsafe { self.allocation.start.add(self.length).cast::<[u8; N]>().write(*block) };
    }
}

/// Makes the vector so long.
fn set_length(bytes: &mut Vec<u8>, length: usize) {
    debug_assert!(length <= bytes.capacity(), "more was appended than there is room for");
    // SAFETY: `length` grows by what was written, and every write is within the capacity.
    unsafe { bytes.set_len(length) };
}

#[cold]
#[inline(never)]
fn grow(bytes: &mut Vec<u8>, length: usize) -> Allocation {
    set_length(bytes, length);
    bytes.reserve(FIRST);
    Allocation::new(bytes)
}

#[cfg(any(target_family = "wasm", test))]
mod allocator;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_tolerate_any_address() {
        let bytes: Vec<u8> = (0..=255).collect();
        for start in 0..16 {
            let read = numbers::<i64>(&bytes[start..start + 83]);
            let expected: Vec<_> = bytes[start..start + 80]
                .as_chunks()
                .0
                .iter()
                .map(|bytes| i64::from_le_bytes(*bytes))
                .collect();
            assert_eq!(*read, expected);
            assert_eq!(numbers::<i128>(&bytes[start..start + 83]).len(), 5);
        }
    }

    #[test]
    fn bytes_of_any_length_come_out_in_order_whatever_room_there_is() {
        let source: Vec<u8> = (0..=255).cycle().take(3 * FIRST).collect();
        for capacity in [0, 1, STEP - 1, STEP, STEP + 1, FIRST, 5 * FIRST] {
            let mut made = Vec::with_capacity(capacity);
            made.extend_from_slice(b"before");
            let mut expected = made.clone();
            let mut appender = Appender::new(&mut made);
            for round in 0..2000 {
                let start = round * 7 % 300;
                let length = if round % 50 == 49 { round + 9 } else { round % (STEP + 1) };
                let text = &source[start..start + length];
                expected.extend_from_slice(text);
                match (text.len(), source[start..].first_chunk::<STEP>()) {
                    (STEP, Some(block)) => appender.push_block(block),
                    (..STEP, Some(block)) if round % 2 == 0 => appender.push_start(block, length),
                    (..STEP, Some(block)) => appender.push_with(|room| {
                        assert_eq!(*room, [0; STEP]);
                        room[..length].copy_from_slice(&block[..length]);
                        length
                    }),
                    _ => appender.extend(text),
                }
                assert_eq!(appender.len(), expected.len());
            }
            appender.with_vec(|vec| vec.reserve(10 * FIRST));
            appender.finish();
            assert_eq!(made, expected);
        }
    }

    #[test]
    fn no_more_is_kept_of_a_block_than_was_written() {
        let mut made = Vec::new();
        let mut appender = Appender::new(&mut made);
        appender.push_start(b"abcd", usize::MAX);
        appender.push_with(|_| usize::MAX);
        assert_eq!(appender.len(), 3 + STEP - 1);
        appender.finish();
        assert_eq!(made, [&b"abc"[..], &[0; STEP - 1]].concat());
    }
}
