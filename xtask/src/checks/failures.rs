//! Failures so far: names and reasons, read from what the runners print. Owns how a run tells them
//! again at its end, where whoever sees no more than its last page finds them.

use std::sync::{Mutex, PoisonError};

/// Of every step so far.
static FAILURES: Mutex<Failures> = Mutex::new(Failures::new());

/// Lines that are told again.
const MOST_LINES: usize = 40;

/// Characters of each.
const MOST_CHARACTERS: usize = 300;

/// Lines of a panic's message that are told: the value that was expected and the one that came.
const MESSAGE_LINES: usize = 3;

/// Takes one line of a runner's output.
pub(super) fn note(line: &str) {
    lock().note(line);
}

/// Prints them, where there are any.
pub(super) fn print() {
    let failures = lock();
    if failures.lines.is_empty() {
        return;
    }
    println!("\n== failures");
    failures.lines.iter().for_each(|line| println!("{line}"));
    if failures.more > 0 {
        println!("and {} lines more, above", failures.more);
    }
    println!();
}

fn lock() -> std::sync::MutexGuard<'static, Failures> {
    // A panic while a line is taken leaves the lines before it.
    FAILURES.lock().unwrap_or_else(PoisonError::into_inner)
}

#[derive(Debug)]
struct Failures {
    lines: Vec<String>,
    /// Lines beyond the last that is told.
    more: usize,
    /// Lines that still belong to the message of a panic.
    message: usize,
}

impl Failures {
    const fn new() -> Self {
        Self { lines: Vec::new(), more: 0, message: 0 }
    }

    fn note(&mut self, line: &str) {
        let line = line.trim();
        if line.is_empty() {
            return;
        }
        if line.starts_with("thread '") && line.contains(" panicked at ") {
            self.message = MESSAGE_LINES;
            self.add(line);
        } else if let Some(name) = failed_test(line) {
            self.message = 0;
            self.add(&format!("FAILED {name}"));
        } else if self.message > 0 && !line.starts_with("note: ") {
            self.message -= 1;
            self.add(&format!("  {line}"));
        } else {
            self.message = 0;
        }
    }

    fn add(&mut self, line: &str) {
        let line: String = line.chars().take(MOST_CHARACTERS).collect();
        // nextest names a test when it fails and again at its end.
        if self.lines.contains(&line) {
            return;
        }
        if self.lines.len() < MOST_LINES { self.lines.push(line) } else { self.more += 1 }
    }
}

/// The test that `line` says has failed, with the reason where the line has it.
fn failed_test(line: &str) -> Option<&str> {
    if let Some(rest) = line.strip_prefix("FAILED ") {
        return Some(rest);
    }
    if let Some(rest) = line.strip_prefix("test ")
        && let Some(test) = rest.strip_suffix(" ... FAILED")
    {
        return Some(test);
    }
    // `FAIL [   0.005s] (12/99) yearbook-tests::all api::health::name`, with `TIMEOUT` or a signal
    // in place of `FAIL`.
    let (verdict, rest) = line.split_once(" [")?;
    let is_failure = matches!(verdict, "FAIL" | "TIMEOUT" | "ABORT") || verdict.starts_with("SIG");
    let (_, test) = rest.split_once("s] ").filter(|_| is_failure)?;
    Some(test.split_once(") ").map_or(test, |(_, test)| test).trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_of_every_runner_are_told_once_with_their_reason() {
        let mut failures = Failures::new();
        for line in [
            "        PASS [   0.005s] (1/9) yearbook-json rules::conforms",
            "        FAIL [   0.005s] (2/9) yearbook-json rules::broken",
            "  stderr ───",
            "    thread 'rules::broken' (7) panicked at plugins/json/src/lib.rs:3:5:",
            "    assertion `left == right` failed",
            "      left: 1",
            "     right: 2",
            "    note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace",
            "     Summary [   0.541s] 9 tests run: 8 passed, 1 failed, 0 skipped",
            "        FAIL [   0.005s] (2/9) yearbook-json rules::broken",
            "     TIMEOUT [  60.005s] yearbook-json rules::late",
            "     SIGSEGV [   0.005s] (3/9) yearbook-json rules::crashed",
            "        SLOW [> 60.000s] yearbook-json rules::slow",
            "test tests::bad ... FAILED",
            "test tests::good ... ok",
            "FAILED pages: 1 is not 2",
            "pages: 7 passed, 1 failed",
        ] {
            failures.note(line);
        }
        assert_eq!(
            failures.lines,
            [
                "FAILED yearbook-json rules::broken",
                "thread 'rules::broken' (7) panicked at plugins/json/src/lib.rs:3:5:",
                "  assertion `left == right` failed",
                "  left: 1",
                "  right: 2",
                "FAILED yearbook-json rules::late",
                "FAILED yearbook-json rules::crashed",
                "FAILED tests::bad",
                "FAILED pages: 1 is not 2",
            ]
        );
    }

    #[test]
    fn what_is_told_again_has_an_end() {
        let mut failures = Failures::new();
        for number in 0..MOST_LINES + 5 {
            failures.note(&format!("FAILED {number} {}", "x".repeat(MOST_CHARACTERS)));
        }
        assert_eq!((failures.lines.len(), failures.more), (MOST_LINES, 5));
        assert!(failures.lines.iter().all(|line| line.chars().count() == MOST_CHARACTERS));
    }
}
