//! Recursion without end.

use std::hint::black_box;

pub(crate) fn run() {
    black_box(deeper(0));
}

#[expect(unconditional_recursion, reason = "this is the attack")]
fn deeper(depth: u64) -> u64 {
    black_box(deeper(black_box(depth + 1))) + 1
}
