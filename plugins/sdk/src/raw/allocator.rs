//! The guest's allocator (decision 0014). A guest lives for one response and makes the same
//! allocations for every part, so small blocks are kept by size when they are freed and handed out
//! again: no searching, no joining. Large ones become one with their freed neighbours, since the
//! first parts of a response grow (decision 0013), and memory that was touched for one part serves
//! the next. Large blocks are aligned to 16, because canonical-ABI lists ask for alignment 1 and
//! Arrow's widest numbers want 16.

use std::alloc::Layout;

use size_class::{CLASSES, LARGE, UNIT, block, class, has_header, tiny_class};

#[cfg(target_family = "wasm")]
mod linear_memory;
mod size_class;

/// From this size on, a block is an extent, which is cut and joined.
const EXTENT: usize = 1 << 16;
/// Smaller blocks lie together in extents of this size: between large ones each would keep two
/// apart that are free.
const CHUNK: usize = 4 * EXTENT;
/// Memory is asked for in steps of this, bytes: each step costs the host two system calls.
const STEP: usize = 1 << 20;

/// Source of blocks.
pub(super) trait Memory {
    /// Makes `bytes` more memory usable behind `end`, or elsewhere. Where it begins and ends.
    fn more(&mut self, bytes: usize) -> Option<(usize, usize)>;
}

/// A place of the heap.
#[derive(Clone, Copy)]
struct Block {
    base: usize,
    size: usize,
}

impl Block {
    fn end(self) -> usize {
        self.base + self.size
    }
}

/// At the beginning of a free extent.
#[derive(Clone, Copy)]
struct FreeExtent {
    /// Address of the next lower one, 0 for none.
    below: usize,
    size: usize,
}

/// All blocks of one memory.
pub(super) struct Heap<M> {
    memory: M,
    top: usize,
    end: usize,
    /// The rest of the extent that small blocks are cut from.
    chunk: Block,
    /// First free block of each class, 0 for none; a free block begins with the address of the
    /// next.
    free: [usize; CLASSES],
    /// The highest free extent, 0 for none. None of them ends at the top, and no two touch.
    extents: usize,
}

/// Reads what the heap wrote. Callers pass the address of a free block or of a header.
fn read<T: Copy>(address: usize) -> T {
    // SAFETY: all of these were written by `write`, with the same type.
    unsafe { (address as *const T).read() }
}

/// Writes into a block that is nobody's, or into the header of one.
fn write<T>(address: usize, value: T) {
    // SAFETY: a block has at least 16 bytes, aligned to 16.
    unsafe { (address as *mut T).write(value) };
}

impl<M: Memory> Heap<M> {
    pub(super) const fn new(memory: M) -> Self {
        let chunk = Block { base: 0, size: 0 };
        Self { memory, top: 0, end: 0, chunk, free: [0; CLASSES], extents: 0 }
    }

    /// # Safety
    /// As `GlobalAlloc::alloc`; nothing else may use what `Memory` gives.
    pub(super) unsafe fn alloc(&mut self, layout: Layout) -> *mut u8 {
        if !has_header(layout) {
            return self.take_tiny(tiny_class(layout)) as *mut u8;
        }
        let align = layout.align().max(UNIT);
        let wanted = layout.size().checked_add(align);
        let Some(found) = wanted.and_then(|size| self.take(size)) else {
            return std::ptr::null_mut();
        };
        // Bases are multiples of 16, so the header always fits before the address.
        let address = (found.base + UNIT).next_multiple_of(align);
        write(address - UNIT, found);
        address as *mut u8
    }

    /// # Safety
    /// As `GlobalAlloc::dealloc`.
    pub(super) unsafe fn dealloc(&mut self, address: *mut u8, layout: Layout) {
        let base = address as usize;
        if has_header(layout) {
            return self.give_back(read(base - UNIT));
        }
        let class = tiny_class(layout);
        let size = class * UNIT;
        if base + size == self.chunk.base {
            self.chunk = Block { base, size: self.chunk.size + size };
        } else {
            self.push(class, base);
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
        match (has_header(layout), has_header(wanted)) {
            (true, true) => {
                let place = address as usize - UNIT;
                let old: Block = read(place);
                let used = address as usize - old.base;
                if new_size <= old.size - used {
                    return address;
                }
                if let Some(grown) =
                    new_size.checked_add(used).and_then(|size| self.grow(old, size))
                {
                    write(place, grown);
                    return address;
                }
            }
            (false, false) if tiny_class(layout) == tiny_class(wanted) => return address,
            _ => {}
        }
        // SAFETY: the old block has `layout`, and both have so many bytes.
        unsafe {
            let target = self.alloc(wanted);
            if !target.is_null() {
                std::ptr::copy_nonoverlapping(address, target, layout.size().min(new_size));
                self.dealloc(address, layout);
            }
            target
        }
    }

    /// Address of a block without a header; 0 where there is no memory. Most are such.
    fn take_tiny(&mut self, class: usize) -> usize {
        let (base, size) = (self.free[class], class * UNIT);
        if base != 0 {
            self.free[class] = read(base);
            return base;
        }
        if let Some(base) = self.cut(size) {
            return base;
        }
        self.take_small(class).map_or(0, |block| block.base)
    }

    /// Address of the chunk's first `size` bytes, which it loses; `None` where it has fewer.
    #[inline]
    fn cut(&mut self, size: usize) -> Option<usize> {
        let Block { base, size: rest } = self.chunk;
        if rest < size {
            return None;
        }
        self.chunk = Block { base: base + size, size: rest - size };
        Some(base)
    }

    /// Makes the block at `base` the first free one of its class.
    #[inline]
    fn push(&mut self, class: usize, base: usize) {
        write(base, self.free[class]);
        self.free[class] = base;
    }

    fn take(&mut self, size: usize) -> Option<Block> {
        match class(size) {
            Some(class) => self.take_small(class),
            None => self.take_extent(size),
        }
    }

    fn take_small(&mut self, class: usize) -> Option<Block> {
        let mut freed = self.freed(class);
        if freed.is_none() {
            let size = block(class);
            if self.chunk.size < size
                && let Some(chunk) = self.take_extent(CHUNK).or_else(|| self.take_extent(EXTENT))
            {
                let rest = std::mem::replace(&mut self.chunk, chunk);
                self.keep_rest(rest);
            }
            if let Some(base) = self.cut(size) {
                return Some(Block { base, size });
            }
            // Out of memory, but for what is far too large.
            freed = (class + 1..CLASSES).find(|class| self.free[*class] != 0);
        }
        let class = freed?;
        let base = self.free[class];
        self.free[class] = read(base);
        Some(Block { base, size: block(class) })
    }

    /// A class that has a freed block: the wanted one, or of those with a header one up to twice as
    /// large.
    fn freed(&self, class: usize) -> Option<usize> {
        let last = if class <= LARGE / UNIT { class } else { (class + 4).min(CLASSES - 1) };
        (class..=last).find(|&class| self.free[class] != 0)
    }

    /// Keeps what is left of a chunk, or most of it, as a block.
    fn keep_rest(&mut self, rest: Block) {
        if rest.size == 0 {
            return;
        }
        let fits = (1..CLASSES).rev().find(|class| block(*class) <= rest.size);
        if let Some(class) = fits {
            self.push(class, rest.base);
        }
    }

    /// The beginning of the lowest free extent of that size, which was touched most likely.
    fn take_extent(&mut self, size: usize) -> Option<Block> {
        let size = size.checked_next_multiple_of(UNIT)?.max(EXTENT);
        let Some((above, base, free)) = self.find_extent(size) else {
            return self.has_room(size).then(|| {
                self.top += size;
                Block { base: self.top - size, size }
            });
        };
        let rest = free.size - size;
        if rest < EXTENT {
            self.link(above, free.below);
            return Some(Block { base, size: free.size });
        }
        write(base + size, FreeExtent { below: free.below, size: rest });
        self.link(above, base + size);
        Some(Block { base, size })
    }

    /// The lowest free extent that has so many bytes: the one above it, its address, and itself.
    fn find_extent(&self, size: usize) -> Option<(usize, usize, FreeExtent)> {
        let (mut above, mut at, mut found) = (0, self.extents, None);
        while at != 0 {
            let free: FreeExtent = read(at);
            if free.size >= size {
                found = Some((above, at, free));
            }
            (above, at) = (at, free.below);
        }
        found
    }

    /// Makes `next` the extent below that at `above`, 0 for none above.
    fn link(&mut self, above: usize, next: usize) {
        if above == 0 {
            self.extents = next;
        } else {
            write(above, FreeExtent { below: next, ..read(above) });
        }
    }

    /// The block with so many bytes, where nothing follows it.
    fn grow(&mut self, old: Block, size: usize) -> Option<Block> {
        if old.size < EXTENT {
            let class = class(size)?;
            if old.end() != self.chunk.base || self.freed(class).is_some() {
                return None;
            }
            self.cut(block(class) - old.size)?;
            return Some(Block { size: block(class), ..old });
        }
        let size = size.checked_next_multiple_of(UNIT)?;
        // A freed extent is better than growing: or else every part's buffer would grow at the top,
        // and none would ever be used again.
        if old.end() == self.top
            && self.find_extent(size).is_none()
            && self.has_room(size - old.size)
            && old.end() == self.top
        {
            self.top = old.base + size;
            return Some(Block { size, ..old });
        }
        None
    }

    fn give_back(&mut self, freed: Block) {
        if freed.size >= EXTENT {
            return self.join(freed);
        }
        if freed.end() == self.chunk.base {
            self.chunk = Block { base: freed.base, size: self.chunk.size + freed.size };
        } else if let Some(class) = class(freed.size) {
            self.push(class, freed.base);
        }
    }

    /// Makes one extent of a freed one and those that it touches.
    fn join(&mut self, Block { mut base, mut size }: Block) {
        let (mut over, mut above, mut below) = (0, 0, self.extents);
        while below > base {
            (over, above, below) = (above, below, read::<FreeExtent>(below).below);
        }
        if below != 0 {
            let lower: FreeExtent = read(below);
            if below + lower.size == base {
                (base, size) = (below, size + lower.size);
                below = lower.below;
            }
        }
        if above == base + size {
            size += read::<FreeExtent>(above).size;
            above = over;
        }
        if base + size == self.top {
            self.top = base;
            self.link(above, below);
        } else {
            write(base, FreeExtent { below, size });
            self.link(above, base);
        }
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

#[cfg(test)]
mod tests;
