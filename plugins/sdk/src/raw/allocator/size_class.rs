//! Classes of blocks by size: every multiple of 16 up to `LARGE`, then four to a power of two.

use std::alloc::Layout;

/// From this size on, a block carries a header that says how large it is, so that it can grow and
/// shrink in place.
pub(super) const LARGE: usize = 1024;
pub(super) const UNIT: usize = 16;
/// Number of classes; the first, of no size, is not used. Blocks that fit none are extents.
pub(super) const CLASSES: usize = LARGE / UNIT + 4 * 6;

/// The smallest class whose blocks hold `size` bytes; `None` for extents.
pub(super) fn class(size: usize) -> Option<usize> {
    if size <= LARGE {
        return Some(size.div_ceil(UNIT).max(1));
    }
    let quarter = (usize::BITS - 1 - (size - 1).leading_zeros()) as usize - 2;
    let class = LARGE / UNIT + 4 * (quarter - 8) + size.div_ceil(1 << quarter) - 4;
    (class < CLASSES).then_some(class)
}

/// The class of blocks without a header.
pub(super) fn tiny_class(layout: Layout) -> usize {
    layout.size().div_ceil(UNIT).max(1)
}

/// The size of a class's blocks.
pub(super) fn block(class: usize) -> usize {
    if class <= LARGE / UNIT {
        return class * UNIT;
    }
    let above = class - LARGE / UNIT - 1;
    (5 + above % 4) << (above / 4 + 8)
}

pub(super) fn has_header(layout: Layout) -> bool {
    layout.size() >= LARGE || layout.align() > UNIT
}
