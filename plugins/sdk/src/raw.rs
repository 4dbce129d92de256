//! Every hand-written `unsafe` of the guest side, each with its reason: reading buffers that the host
//! has validated, writing into a vector's spare room, and the guest's allocator.
//!
//! The interface says that the host has checked all data before it crosses, so the guest does not
//! check UTF-8 again: that alone was 28 of the 43 ms that a million rows took to cross.
#![expect(unsafe_code, reason = "the one file where unsafe stands; each use gives its reason")]

use std::borrow::Cow;

mod sealed {
    /// Types that any bytes are a valid value of, without padding.
    pub trait Plain: Copy + 'static {}
}
pub(crate) use sealed::Plain;

impl Plain for i8 {}
impl Plain for u8 {}
impl Plain for i16 {}
impl Plain for u16 {}
impl Plain for i32 {}
impl Plain for u32 {}
impl Plain for i64 {}
impl Plain for u64 {}
impl Plain for i128 {}
impl Plain for f32 {}
impl Plain for f64 {}

/// The bytes as little-endian numbers: in place when the buffer happens to be aligned, else copied.
/// A rest shorter than a number is left out.
pub(crate) fn numbers<T: Plain>(bytes: &[u8]) -> Cow<'_, [T]> {
    const { assert!(cfg!(target_endian = "little"), "Arrow buffers are little-endian") };
    // SAFETY: `Plain` is sealed to types for which every bit pattern is a value.
    let (before, aligned, _) = unsafe { bytes.align_to::<T>() };
    if before.is_empty() {
        return Cow::Borrowed(aligned);
    }
    let count = bytes.len() / size_of::<T>();
    let mut copy = Vec::<T>::with_capacity(count);
    // SAFETY: the source holds `count` values, the target has room for them and is a new allocation.
    unsafe {
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), copy.as_mut_ptr().cast::<u8>(), count * size_of::<T>());
        copy.set_len(count);
    }
    Cow::Owned(copy)
}

/// Text of a column of type utf-8. Only [`crate::batch::Decoder`] makes such columns, from what the
/// host has validated or from strings.
pub(crate) fn text(bytes: &[u8]) -> &str {
    debug_assert!(std::str::from_utf8(bytes).is_ok(), "the host sent text that is not UTF-8");
    // SAFETY: the host validates UTF-8 and that offsets stand on character boundaries (`encoder.batch`
    // in the WIT package); native tests make columns from `&str`.
    unsafe { std::str::from_utf8_unchecked(bytes) }
}

/// The array of a builder that holds what the host sent. Buffers that are not aligned are copied.
#[cfg(feature = "arrow")]
pub(crate) fn array_data(builder: arrow::array::ArrayDataBuilder) -> arrow::array::ArrayData {
    // SAFETY: the host has validated offsets, UTF-8 and keys (`encoder.batch` in the WIT package).
    unsafe { builder.align_buffers(true).build_unchecked() }
}

/// Appends `source[start..start + len]`. Short pieces are copied 16 bytes at a time, past their end
/// where both sides have room: a call of `memory.copy` costs more than the copy.
///
/// # Panics
/// When the range is out of bounds.
#[inline(always)]
pub(crate) fn put(out: &mut Vec<u8>, source: &[u8], start: usize, len: usize) {
    const WIDE: usize = 64;
    assert!(start <= source.len() && len <= source.len() - start, "range outside its buffer");
    let padded = len.next_multiple_of(16);
    let at = out.len();
    if out.capacity() - at < padded {
        grow(out, padded);
    }
    // SAFETY: `len` bytes are readable (asserted) and `padded` bytes are writable (reserved); the wide
    // copies read `padded` bytes only where that many remain. The two never overlap: `out` is borrowed
    // mutably. Only bytes below `at + len` count as initialised.
    unsafe {
        let from = source.as_ptr().add(start);
        let to = out.as_mut_ptr().add(at);
        if len <= WIDE && source.len() - start >= padded {
            let mut done = 0;
            while done < len {
                std::ptr::copy_nonoverlapping(from.add(done), to.add(done), 16);
                done += 16;
            }
        } else {
            std::ptr::copy_nonoverlapping(from, to, len);
        }
        out.set_len(at + len);
    }
}

#[cold]
#[inline(never)]
fn grow(out: &mut Vec<u8>, more: usize) {
    out.reserve(more.max(16 * 1024));
}

/// The guest's allocator: std's own, except that allocations of a kilobyte and more are aligned to 16,
/// because canonical-ABI lists ask for alignment 1 and Arrow's widest numbers want 16.
#[cfg(any(target_family = "wasm", test))]
mod allocator {
    use std::alloc::{GlobalAlloc, Layout, System};

    #[cfg(target_family = "wasm")]
    #[global_allocator]
    static ALLOCATOR: Aligned = Aligned;

    pub(super) struct Aligned;

    /// From this size on, an allocation is aligned and carries a header.
    const LARGE: usize = 1024;
    const ALIGN: usize = 16;
    /// What std's allocator on wasm32 aligns to without effort.
    const NATURAL: usize = 8;

    fn is_large(layout: Layout) -> bool {
        layout.size() >= LARGE && layout.align() <= ALIGN
    }

    fn inner(size: usize) -> Option<Layout> {
        Layout::from_size_align(size.checked_add(ALIGN)?, NATURAL).ok()
    }

    /// Distance from an allocation's start to the address given out: 8 or 16, so that a header of eight
    /// bytes fits before it.
    fn shift(base: *mut u8) -> usize {
        ALIGN - (base as usize % ALIGN)
    }

    // SAFETY: every large address handed out is `shift(base)` past a `System` allocation of
    // `size + ALIGN` bytes, and the byte before it says which shift; all others are `System`'s own. Size
    // and alignment in the caller's layout decide which of the two an address is.
    unsafe impl GlobalAlloc for Aligned {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            // SAFETY: as for the whole block; the shift is at most ALIGN, so everything stays inside.
            unsafe {
                if !is_large(layout) {
                    return System.alloc(layout);
                }
                let Some(inner) = inner(layout.size()) else { return std::ptr::null_mut() };
                let base = System.alloc(inner);
                if base.is_null() { base } else { hand_out(base, shift(base)) }
            }
        }

        unsafe fn dealloc(&self, address: *mut u8, layout: Layout) {
            // SAFETY: the address came from `alloc` or `realloc` with this layout.
            unsafe {
                match inner(layout.size()) {
                    Some(inner) if is_large(layout) => System.dealloc(address.sub(usize::from(*address.sub(1))), inner),
                    _ => System.dealloc(address, layout),
                }
            }
        }

        unsafe fn realloc(&self, address: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
            // SAFETY: as for `alloc` and `dealloc`; the contents move when the shift does.
            unsafe {
                let Ok(wanted) = Layout::from_size_align(new_size, layout.align()) else { return std::ptr::null_mut() };
                match (is_large(layout), is_large(wanted), inner(layout.size()), inner(new_size)) {
                    (false, false, ..) => System.realloc(address, layout, new_size),
                    (true, true, Some(old), Some(new)) => {
                        let old_shift = usize::from(*address.sub(1));
                        let base = System.realloc(address.sub(old_shift), old, new.size());
                        if base.is_null() {
                            return base;
                        }
                        let new_shift = shift(base);
                        if new_shift != old_shift {
                            std::ptr::copy(base.add(old_shift), base.add(new_shift), layout.size().min(new_size));
                        }
                        hand_out(base, new_shift)
                    }
                    _ => {
                        let target = self.alloc(wanted);
                        if !target.is_null() {
                            std::ptr::copy_nonoverlapping(address, target, layout.size().min(new_size));
                            self.dealloc(address, layout);
                        }
                        target
                    }
                }
            }
        }
    }

    /// Notes the shift in the byte before the address.
    ///
    /// # Safety
    /// `shift` bytes past `base` must lie in the allocation.
    #[expect(clippy::cast_possible_truncation, reason = "8 or 16")]
    unsafe fn hand_out(base: *mut u8, shift: usize) -> *mut u8 {
        // SAFETY: the caller's.
        unsafe {
            let address = base.add(shift);
            *address.sub(1) = shift as u8;
            address
        }
    }
}

#[cfg(test)]
mod tests {
    use std::alloc::{GlobalAlloc as _, Layout};

    use super::*;

    #[test]
    fn numbers_tolerate_any_address() {
        let bytes: Vec<u8> = (0..=255).collect();
        for start in 0..16 {
            let read = numbers::<i64>(&bytes[start..start + 83]);
            let expected: Vec<_> = bytes[start..start + 80].as_chunks().0.iter().map(|bytes| i64::from_le_bytes(*bytes)).collect();
            assert_eq!(*read, expected);
            assert_eq!(numbers::<i128>(&bytes[start..start + 83]).len(), 5);
        }
    }

    #[test]
    fn put_appends_exactly_the_range() {
        let source: Vec<u8> = (0..200).collect();
        let (mut made, mut expected) = (Vec::new(), Vec::new());
        for start in [0, 1, 100, 185, 199, 200] {
            for len in (0..=200 - start).filter(|len| len % 7 < 3) {
                put(&mut made, &source, start, len);
                expected.extend_from_slice(&source[start..start + len]);
                assert_eq!(made, expected);
            }
        }
    }

    #[test]
    #[should_panic(expected = "outside its buffer")]
    fn put_refuses_a_range_out_of_bounds() {
        put(&mut Vec::new(), &[1, 2, 3], 2, 2);
    }

    #[test]
    fn the_allocator_aligns_large_blocks_and_keeps_their_contents() {
        let allocator = allocator::Aligned;
        let sizes = [1, 1023, 1024, 1025, 5000, 1024, 900, 70_000, 1_000_000, 3000, 16];
        for align in [1, 8, 16, 32] {
            let layout = |size| Layout::from_size_align(size, align).unwrap_or(Layout::new::<u64>());
            // SAFETY: sizes are not zero; each call gets the layout of the call before it.
            unsafe {
                let mut size = sizes[0];
                let mut address = allocator.alloc(layout(size));
                *address = 7;
                for new_size in sizes {
                    let filled = u8::try_from(size % 251).unwrap_or(0);
                    address.write_bytes(filled, size);
                    address = allocator.realloc(address, layout(size), new_size);
                    let kept = std::slice::from_raw_parts(address, size.min(new_size));
                    assert!(kept.iter().all(|&byte| byte == filled), "{size} to {new_size}");
                    assert!(new_size < 1024 || (address as usize).is_multiple_of(16.max(align)));
                    size = new_size;
                }
                allocator.dealloc(address, layout(size));
            }
        }
    }
}
