//! Blocks of a memory in two pieces, as guests allocate them.

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
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
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
        let size = 1 + random([40, 1500, 20_000, 150_000][turn % 4]);
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
                    assert!((address as usize).is_multiple_of(old.align()) && !address.is_null());
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
fn memory_of_one_part_serves_the_next_which_is_larger() {
    let mut heap = heap();
    // SAFETY: every block is freed with the layout that it has.
    unsafe {
        let notes = heap.alloc(layout(100, 1));
        let end = heap.end;
        for size in [1 << 16, 1 << 17, 1 << 18, 1 << 19] {
            let part = layout(size, 1);
            let blocks = [(); 3].map(|()| {
                // What stays of a part lies among its blocks.
                assert!(!heap.alloc(layout(40, 1)).is_null());
                heap.alloc(part)
            });
            blocks.into_iter().for_each(|block| heap.dealloc(block, part));
        }
        // All parts together have twice as many bytes as the first piece.
        assert_eq!(heap.end, end);
        heap.dealloc(notes, layout(100, 1));
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
