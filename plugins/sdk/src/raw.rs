//! Every hand-written `unsafe` of the guest side, each with its reason: reading buffers that the
//! host has validated, and the guest's allocator.
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
}
