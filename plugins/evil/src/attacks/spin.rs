//! A loop without end.

use std::hint::black_box;

pub(crate) fn run() {
    let mut turns = 0_u64;
    loop {
        turns = black_box(turns.wrapping_add(1));
    }
}
