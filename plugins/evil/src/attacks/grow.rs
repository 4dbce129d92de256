//! Memory without end.

use std::hint::black_box;

pub(crate) fn run() {
    let mut held = Vec::new();
    loop {
        held.push(vec![1_u8; 1 << 20]);
        black_box(&held);
    }
}
