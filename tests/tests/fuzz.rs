//! What clients, publishers and a damaged store may hand us (issue 6, point 6). Each target is a test that takes seconds;
//! `cargo xtask fuzz TARGET --seconds N` goes on for longer. What guests return is fuzzed beside the attacks, in `tests/evil`.

mod cursor;
mod package;
mod query;
mod snapshot;
