//! Damaged input from clients, publishers and the store. Each test takes seconds; `cargo xtask fuzz
//! TARGET --seconds N` goes on for longer, and with `--guided` looks for inputs that reach new
//! code. The output of guests is fuzzed beside the attacks of plugins, in `tests/guests/evil`.

use yearbook_tests::fuzz::{CursorSubject, PackageSubject, QuerySubject, SnapshotSubject, run};

#[test]
fn a_path_and_a_query_are_answered_or_refused_in_words_contract_2() {
    run::<QuerySubject>();
}

#[test]
fn a_cursor_without_a_valid_seal_is_422_contract_3() {
    run::<CursorSubject>();
}

#[test]
fn a_package_is_published_as_it_is_or_refused_in_words_contract_7() {
    run::<PackageSubject>();
}

#[test]
fn a_stored_file_that_is_wrong_is_an_error_and_no_panic_of_ours() {
    run::<SnapshotSubject>();
}
