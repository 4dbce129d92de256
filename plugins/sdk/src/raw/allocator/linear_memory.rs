//! The heap of a guest: all allocations of its program, in its linear memory.

use std::alloc::{GlobalAlloc, Layout};
use std::cell::UnsafeCell;

use super::{Heap, Memory};

/// The guest's linear memory: what the linker left, then more pages.
struct Linear {
    begun: bool,
}

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

struct Guest(UnsafeCell<Heap<Linear>>);

// SAFETY: guests have one thread.
unsafe impl Sync for Guest {}

#[global_allocator]
static ALLOCATOR: Guest = Guest(UnsafeCell::new(Heap::new(Linear { begun: false })));

// SAFETY: the heap's blocks are disjoint and as large and aligned as asked; one thread, and no call
// of the heap comes back here.
unsafe impl GlobalAlloc for Guest {
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
