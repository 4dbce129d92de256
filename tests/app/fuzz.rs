//! Fuzzing on stable Rust: inputs of a committed corpus, then damaged ones, the same for the same
//! number for ever. An input that panics or takes too long is kept as a file of the corpus, so that
//! every later run begins with it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod cursor;
mod mutate;
mod package;
mod query;
mod snapshot;

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::components::root;

pub use cursor::CursorSubject;
pub use mutate::FuzzRng;
pub use package::PackageSubject;
pub use query::QuerySubject;
pub use snapshot::SnapshotSubject;

/// Longest time for one input on a busy machine.
const INPUT_TIMEOUT: Duration = Duration::from_secs(10);

/// A target of fuzzing: its name, the number of its inputs, and the words in them.
pub struct FuzzTargetSpec {
    /// Name of its folder in `tests/fixtures/fuzz`.
    pub name: &'static str,
    /// Inputs of a run that is given no time; seconds on a slow machine.
    pub inputs: u64,
    /// Pieces that inputs of this kind are made of.
    pub words: &'static [&'static str],
}

/// A subject that takes untrusted input. It is started once and checks many inputs: random ones in
/// the tests, those that reach new code under libFuzzer.
pub trait FuzzSubject {
    /// The target that this subject serves.
    const TARGET: FuzzTargetSpec;

    /// Starts the subject, ready for inputs.
    fn start() -> Self;

    /// Panics if an input leads to a wrong answer.
    fn check(&mut self, input: &[u8]);

    /// Panics if no input reached the code under test.
    fn end(&self) {}
}

/// Gives inputs to a subject, as [`FuzzTargetSpec::run`] does.
pub fn run<S: FuzzSubject>() {
    let mut subject = S::start();
    S::TARGET.run(|input| subject.check(input));
    subject.end();
}

impl FuzzTargetSpec {
    /// Gives inputs to `judge`, which panics at a wrong answer. `YEARBOOK_FUZZ_SECONDS` lets it go
    /// on for so long, from the input with the number `YEARBOOK_FUZZ_SEED`.
    ///
    /// # Panics
    /// At the first wrong answer, with the file that the input was kept in.
    pub fn run(&self, mut judge: impl FnMut(&[u8])) {
        let corpus = self.corpus();
        assert!(!corpus.is_empty(), "there is nothing in {}", self.folder().display());
        corpus.iter().for_each(|input| self.check_reporting(&mut judge, input));
        let seconds: Option<u64> = number("YEARBOOK_FUZZ_SECONDS");
        let end = seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds));
        let first = number("YEARBOOK_FUZZ_SEED").unwrap_or(1);
        let mut tried = 0;
        while end.map_or(tried < self.inputs, |end| Instant::now() < end) {
            let input = mutate::damaged(
                &corpus,
                self.words,
                &mut FuzzRng::from_seed(first.wrapping_add(tried)),
            );
            // A process that ends at once cannot say what it was that ended it.
            let last = end.map(|_| self.last());
            if let Some(last) = &last {
                std::fs::write(last, &input)
                    .unwrap_or_else(|error| panic!("{}: {error}", last.display()));
            }
            self.check_reporting(&mut judge, &input);
            tried += 1;
        }
        // A run that reached its end leaves none.
        let _ = std::fs::remove_file(self.last());
        println!("fuzz {}: {tried} inputs and {} of the corpus", self.name, corpus.len());
    }

    fn check_reporting(&self, judge: &mut impl FnMut(&[u8]), input: &[u8]) {
        let begun = Instant::now();
        let outcome = catch_unwind(AssertUnwindSafe(|| judge(input)));
        let slow = begun.elapsed();
        if outcome.is_ok() && slow < INPUT_TIMEOUT {
            return;
        }
        let path = self.save_input(input);
        match outcome {
            Ok(()) => panic!("{slow:?} for the input that is kept in {}", path.display()),
            Err(panic) => {
                eprintln!("{}: the input is kept in {}", panic_message(&*panic), path.display());
                resume_unwind(panic)
            }
        }
    }

    /// Files of the corpus, in the order of their names.
    fn corpus(&self) -> Vec<Vec<u8>> {
        let mut files: Vec<PathBuf> = std::fs::read_dir(self.folder())
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path())
            .collect();
        files.sort();
        files
            .iter()
            .map(|file| {
                std::fs::read(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
            })
            .collect()
    }

    fn save_input(&self, input: &[u8]) -> PathBuf {
        // FNV-1a: a name that the same input gets again.
        let hash = input.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let path = self.folder().join(format!("found-{hash:016x}"));
        // What could not be written is printed with the panic.
        let _ = std::fs::write(&path, input);
        path
    }

    fn folder(&self) -> PathBuf {
        root().join("tests/fixtures/fuzz").join(self.name)
    }

    /// The input that is tried now.
    fn last(&self) -> PathBuf {
        std::env::temp_dir().join(format!("yearbook-fuzz-{}", self.name))
    }
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().and_then(|text| text.parse().ok())
}

fn panic_message(panic: &dyn Any) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default()
}
