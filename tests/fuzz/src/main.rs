//! libFuzzer over the subjects of `yearbook_tests::fuzz`: it keeps inputs that reach new code and
//! varies those. `YEARBOOK_FUZZ_TARGET` names the subject. Started by `cargo xtask fuzz --guided`,
//! which has our crates compiled with counters (`tests/fuzz/instrumented.sh`).

#![no_main]

use std::sync::{Mutex, OnceLock, PoisonError};

use libfuzzer_sys::fuzz_target;
use yearbook_tests::fuzz::{
    CursorSubject, FuzzSubject, PackageSubject, QuerySubject, SnapshotSubject,
};

type CheckFn = Box<dyn FnMut(&[u8]) + Send>;

/// The subject, started with the first input.
static CHECK: OnceLock<Mutex<CheckFn>> = OnceLock::new();

fn selected_subject() -> Mutex<CheckFn> {
    fn start_subject<S: FuzzSubject + Send + 'static>() -> CheckFn {
        let mut subject = S::start();
        Box::new(move |input| subject.check(input))
    }
    let name = std::env::var("YEARBOOK_FUZZ_TARGET").unwrap_or_default();
    Mutex::new(match name.as_str() {
        "query" => start_subject::<QuerySubject>(),
        "cursor" => start_subject::<CursorSubject>(),
        "package" => start_subject::<PackageSubject>(),
        "snapshot" => start_subject::<SnapshotSubject>(),
        _ => {
            panic!("YEARBOOK_FUZZ_TARGET is {name:?}; it names query, cursor, package or snapshot")
        }
    })
}

fuzz_target!(|input: &[u8]| {
    let check = CHECK.get_or_init(selected_subject);
    check.lock().unwrap_or_else(PoisonError::into_inner)(input);
});
