//! Behaviour of a release whatever its options say. Tests overwrite the word in the built
//! component, so that releases differ in nothing that `describe` says of them.

use std::hint::black_box;

/// One of the words below, or `calm`.
static TEMPER: &[u8; 11] = b"temper:calm";

/// Shows it in a part, the first of which is number 1.
pub(crate) fn show(part: usize) {
    match black_box(TEMPER) {
        b"temper:trap" => panic!("as always"),
        b"temper:late" if part > 1 => panic!("not at first"),
        // Some milliseconds, where a part takes microseconds.
        b"temper:slow" => (0..2_000_000_u32).for_each(|turn| _ = black_box(turn)),
        b"temper:fat!" => drop(black_box(Vec::<u8>::with_capacity(64 << 20))),
        _ => {}
    }
}
