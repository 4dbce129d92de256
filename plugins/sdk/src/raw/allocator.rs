//! The guest's allocator (decision 0014). A guest lives for one response and makes the same
//! allocations for every part, so freed blocks are kept by size and handed out again: no searching,
//! no joining, and the pages that the first part touched serve all others. Large blocks are aligned
//! to 16, because canonical-ABI lists ask for alignment 1 and Arrow's widest numbers want 16.

use std::alloc::Layout;

/// From this size on, a block carries a header that says how large it is, so that it can grow and
/// shrink in place.
const LARGE: usize = 1024;
const UNIT: usize = 16;
/// Sizes of blocks: every multiple of 16 up to `LARGE`, then four to a power of two.
const CLASSES: usize = LARGE / UNIT + 1 + 4 * 21;
/// Memory is asked for in steps of this, bytes: each step costs the host two system calls.
const STEP: usize = 1 << 20;

/// Source of blocks.
pub(super) trait Memory {
    /// Makes `bytes` more memory usable behind `end`, or elsewhere. Where it begins and ends.
    fn more(&mut self, bytes: usize) -> Option<(usize, usize)>;
}

/// Before a large block's address.
#[derive(Clone, Copy)]
struct Header {
    base: usize,
    class: usize,
}

/// All blocks of one memory.
pub(super) struct Heap<M> {
    memory: M,
    top: usize,
    end: usize,
    /// First free block of each class, 0 for none; a free block begins with the address of the
    /// next.
    free: [usize; CLASSES],
}

/// The smallest class whose blocks hold `size` bytes, and their size.
fn class(size: usize) -> Option<(usize, usize)> {
    if size <= LARGE {
        let class = size.div_ceil(UNIT).max(1);
        return Some((class, class * UNIT));
    }
    let quarter = (usize::BITS - 1 - (size - 1).leading_zeros()) as usize - 2;
    let quarters = size.div_ceil(1 << quarter);
    let class = LARGE / UNIT + 4 * (quarter - 8) + quarters - 4;
    (class < CLASSES).then_some((class, quarters << quarter))
}

/// The size of a class's blocks.
fn block(class: usize) -> usize {
    if class <= LARGE / UNIT {
        return class * UNIT;
    }
    let above = class - LARGE / UNIT - 1;
    (5 + above % 4) << (above / 4 + 8)
}

fn has_header(layout: Layout) -> bool {
    layout.size() >= LARGE || layout.align() > UNIT
}

impl<M: Memory> Heap<M> {
    pub(super) const fn new(memory: M) -> Self {
        Self { memory, top: 0, end: 0, free: [0; CLASSES] }
    }

    /// # Safety
    /// As `GlobalAlloc::alloc`; nothing else may use what `Memory` gives.
    pub(super) unsafe fn alloc(&mut self, layout: Layout) -> *mut u8 {
        // SAFETY: blocks are the heap's own, large enough, and given out once.
        unsafe {
            if !has_header(layout) {
                return match class(layout.size()).and_then(|(class, size)| self.take(class, size)) {
                    Some((base, _)) => base as *mut u8,
                    None => std::ptr::null_mut(),
                };
            }
            // Bases are multiples of 16, so the header always fits before the address.
            let wanted = layout.size().checked_add(layout.align().max(UNIT)).and_then(class);
            let Some((base, class)) = wanted.and_then(|(class, size)| self.take(class, size))
            else {
                return std::ptr::null_mut();
            };
            let address = (base + UNIT).next_multiple_of(layout.align().max(UNIT));
            header(address).write(Header { base, class });
            address as *mut u8
        }
    }

    /// # Safety
    /// As `GlobalAlloc::dealloc`.
    pub(super) unsafe fn dealloc(&mut self, address: *mut u8, layout: Layout) {
        // SAFETY: the address came from `alloc` or `realloc` with this layout, so the block is ours
        // again.
        unsafe {
            if has_header(layout) {
                let Header { base, class } = header(address as usize).read();
                self.push_free(base, class);
            } else if let Some((class, _)) = class(layout.size()) {
                self.push_free(address as usize, class);
            }
        }
    }

    /// # Safety
    /// As `GlobalAlloc::realloc`.
    pub(super) unsafe fn realloc(
        &mut self,
        address: *mut u8,
        layout: Layout,
        new_size: usize,
    ) -> *mut u8 {
        let Ok(wanted) = Layout::from_size_align(new_size, layout.align()) else {
            return std::ptr::null_mut();
        };
        // SAFETY: as for `alloc` and `dealloc`; a block grows in place only into room that is
        // nobody's.
        unsafe {
            match (has_header(layout), has_header(wanted)) {
                (true, true) => {
                    let Header { base, class: old } = header(address as usize).read();
                    let used = address as usize - base;
                    if new_size <= block(old) - used {
                        return address;
                    }
                    // A freed block is better than growing: or else every part's buffer would grow
                    // at the top, and none would ever be used again.
                    if let Some((class, size)) = new_size.checked_add(used).and_then(class)
                        && base + block(old) == self.top
                        && self.freed(class).is_none()
                        && self.has_room(size - block(old))
                        && base + block(old) == self.top
                    {
                        self.top = base + size;
                        header(address as usize).write(Header { base, class });
                        return address;
                    }
                }
                (false, false) if class(layout.size()) == class(new_size) => return address,
                _ => {}
            }
            let target = self.alloc(wanted);
            if !target.is_null() {
                std::ptr::copy_nonoverlapping(address, target, layout.size().min(new_size));
                self.dealloc(address, layout);
            }
            target
        }
    }

    /// A block of at least a class, and its class.
    unsafe fn take(&mut self, class: usize, size: usize) -> Option<(usize, usize)> {
        if let Some(class) = self.freed(class) {
            // SAFETY: free blocks begin with the next one's address.
            return Some(unsafe { self.pop(class) });
        }
        if self.has_room(size) {
            self.top += size;
            return Some((self.top - size, class));
        }
        // Out of memory, but for what is far too large.
        let any = (class + 1..CLASSES).find(|&class| size >= LARGE && self.free[class] != 0)?;
        // SAFETY: as above.
        Some(unsafe { self.pop(any) })
    }

    /// A class that has a freed block: the wanted one, or of large blocks one up to twice as large.
    fn freed(&self, class: usize) -> Option<usize> {
        let last = if class <= LARGE / UNIT { class } else { (class + 4).min(CLASSES - 1) };
        (class..=last).find(|&class| self.free[class] != 0)
    }

    unsafe fn pop(&mut self, class: usize) -> (usize, usize) {
        let base = self.free[class];
        // SAFETY: `push_free` wrote the address.
        self.free[class] = unsafe { (base as *const usize).read() };
        (base, class)
    }

    unsafe fn push_free(&mut self, base: usize, class: usize) {
        if base + block(class) == self.top {
            self.top = base;
            return;
        }
        // SAFETY: a block has at least 16 bytes, aligned to 16, and is nobody's now.
        unsafe { (base as *mut usize).write(self.free[class]) };
        self.free[class] = base;
    }

    /// True where so many bytes are usable from the top on; asks for more memory if not.
    fn has_room(&mut self, size: usize) -> bool {
        while self.end - self.top < size {
            let missing = size - (self.end - self.top);
            let more = self
                .memory
                .more(missing.next_multiple_of(STEP))
                .or_else(|| self.memory.more(missing));
            let Some((start, end)) = more else { return false };
            if start != self.end {
                self.top = start.next_multiple_of(UNIT);
            }
            self.end = end;
        }
        true
    }
}

/// The guest's linear memory: what the linker left, then more pages.
#[cfg(target_family = "wasm")]
struct Linear {
    begun: bool,
}

#[cfg(target_family = "wasm")]
impl Memory for Linear {
    fn more(&mut self, bytes: usize) -> Option<(usize, usize)> {
        const PAGE: usize = 1 << 16;
        unsafe extern "C" {
            /// The first byte behind stack and data, by the linker.
            static __heap_base: u8;
        }
        if !std::mem::replace(&mut self.begun, true) {
            return Some((
                &raw const __heap_base as usize,
                std::arch::wasm32::memory_size(0) * PAGE,
            ));
        }
        let pages = bytes.div_ceil(PAGE);
        let before = std::arch::wasm32::memory_grow(0, pages);
        // Refused, or up to the last address, which no number holds.
        let end = before.checked_add(pages)?.checked_mul(PAGE)?;
        Some((before * PAGE, end))
    }
}

#[cfg(target_family = "wasm")]
struct Guest(std::cell::UnsafeCell<Heap<Linear>>);

// SAFETY: guests have one thread.
#[cfg(target_family = "wasm")]
unsafe impl Sync for Guest {}

#[cfg(target_family = "wasm")]
#[global_allocator]
static ALLOCATOR: Guest = Guest(std::cell::UnsafeCell::new(Heap::new(Linear { begun: false })));

// SAFETY: the heap's blocks are disjoint and as large and aligned as asked; one thread, and no call
// of the heap comes back here.
#[cfg(target_family = "wasm")]
unsafe impl std::alloc::GlobalAlloc for Guest {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        unsafe { (*self.0.get()).alloc(layout) }
    }

    unsafe fn dealloc(&self, address: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { (*self.0.get()).dealloc(address, layout) }
    }

    unsafe fn realloc(&self, address: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: as above.
        unsafe { (*self.0.get()).realloc(address, layout, new_size) }
    }
}

fn header(address: usize) -> *mut Header {
    (address - UNIT) as *mut Header
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Memory in two pieces that do not touch, and no more.
    struct Pieces(Vec<Vec<u128>>);

    impl Memory for Pieces {
        fn more(&mut self, bytes: usize) -> Option<(usize, usize)> {
            let piece = self
                .0
                .iter_mut()
                .find(|piece| piece.len() * 16 > bytes && piece.capacity() == piece.len())?;
            let start = piece.as_mut_ptr() as usize;
            let end = start + piece.len() * 16;
            // Marks it as given.
            piece.pop();
            Some((start, end))
        }
    }

    fn heap() -> Heap<Pieces> {
        Heap::new(Pieces(vec![vec![0; 1 << 17], vec![0; 1 << 18]]))
    }

    fn layout(size: usize, align: usize) -> Layout {
        Layout::from_size_align(size, align).unwrap_or(Layout::new::<u64>())
    }

    #[test]
    fn blocks_are_aligned_apart_and_keep_their_contents() {
        let mut heap = heap();
        let mut state = 7_u64;
        let mut random = |below: usize| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(state >> 33).unwrap_or(0) % below
        };
        let mut blocks: Vec<(*mut u8, Layout, u8)> = Vec::new();
        let intact = |(address, layout, fill): &(*mut u8, Layout, u8), size: usize| {
            // SAFETY: the block is alive.
            unsafe { std::slice::from_raw_parts(*address, size.min(layout.size())) }
                .iter()
                .all(|byte| byte == fill)
        };
        for turn in 0..20_000 {
            let size = 1 + random([40, 1500, 20_000][turn % 3]);
            let fill = u8::try_from(turn % 251).unwrap_or(0);
            // SAFETY: sizes are not zero; every block is used with the layout that it has.
            unsafe {
                match random(4) {
                    0 | 1 if blocks.len() < 60 => {
                        let wanted = layout(size, 1 << random(8));
                        let address = heap.alloc(wanted);
                        assert!(
                            (address as usize).is_multiple_of(wanted.align()) && !address.is_null()
                        );
                        assert!(size < 1024 || (address as usize).is_multiple_of(16));
                        address.write_bytes(fill, size);
                        blocks.push((address, wanted, fill));
                    }
                    2 if !blocks.is_empty() => {
                        let (address, old, before) = blocks.swap_remove(random(blocks.len()));
                        let address = heap.realloc(address, old, size);
                        assert!(
                            (address as usize).is_multiple_of(old.align()) && !address.is_null()
                        );
                        assert!(intact(&(address, old, before), size), "{old:?} to {size}");
                        address.write_bytes(fill, size);
                        blocks.push((address, layout(size, old.align()), fill));
                    }
                    _ if !blocks.is_empty() => {
                        let block = blocks.swap_remove(random(blocks.len()));
                        assert!(intact(&block, usize::MAX));
                        heap.dealloc(block.0, block.1);
                    }
                    _ => {}
                }
            }
        }
        assert!(blocks.iter().all(|block| intact(block, usize::MAX)));
    }

    #[test]
    fn what_was_freed_is_handed_out_again() {
        let mut heap = heap();
        // SAFETY: every block is freed with the layout that it has.
        unsafe {
            let mut places = std::collections::BTreeSet::new();
            for _ in 0..1000 {
                let mut grown = heap.alloc(layout(1024, 1));
                for power in 11..=18 {
                    grown = heap.realloc(grown, layout(1 << (power - 1), 1), 1 << power);
                }
                // As the bindings shrink a vector to its length.
                let shrunk = heap.realloc(grown, layout(1 << 18, 1), 200_000);
                assert_eq!(shrunk, grown);
                places.insert(grown as usize);
                // Whether or not something small was made after it.
                let after = heap.alloc(layout(700, 1));
                heap.dealloc(shrunk, layout(200_000, 1));
                heap.dealloc(after, layout(700, 1));
            }
            assert_eq!(places.len(), 1, "{places:?}");
        }
    }

    #[test]
    fn no_more_memory_is_a_null_and_not_the_end() {
        let mut heap = heap();
        // SAFETY: every block is freed with the layout that it has.
        unsafe {
            assert!(heap.alloc(layout(1 << 30, 1)).is_null());
            let most = heap.alloc(layout(3 << 20, 64));
            assert!(!most.is_null());
            assert!(heap.alloc(layout(3 << 20, 64)).is_null());
            heap.dealloc(most, layout(3 << 20, 64));
            assert_eq!(heap.alloc(layout(3 << 20, 64)), most);
        }
    }
}
