//! The workspace's own tests, run by cargo, with their numbers read from what the runner prints.

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::thread;

use anyhow::{Context as _, Result, anyhow, bail};
use yearbook_prerequisites::{Prerequisite, REQUIRED};

use crate::checks::failures;
use crate::checks::postgres::{self, Postgres};
use crate::checks::report::CheckCounts;
use crate::command;
use crate::repository::Repository;
use crate::spec::ExecutedTests;

/// Tests that ran and passed, of every suite so far.
static EXECUTED: LazyLock<Mutex<ExecutedTests>> = LazyLock::new(Mutex::default);

/// Unit and integration tests, those of the catalog in PostgreSQL on `postgres`; nextest runs
/// them where it is installed. A `complete` run fails where PostgreSQL, docker-registry or
/// skopeo is missing; what needs nginx and a binary has a step of its own.
pub(crate) fn run_workspace_tests(
    repository: &Repository,
    postgres: Option<&Postgres>,
    complete: bool,
) -> Result<CheckCounts> {
    let mut run = repository.cargo();
    if complete {
        run.env(
            REQUIRED,
            Prerequisite::list(&[
                Prerequisite::Postgres,
                Prerequisite::DockerRegistry,
                Prerequisite::Skopeo,
            ]),
        );
    }
    if let Some(postgres) = postgres {
        run.env(postgres::VARIABLE, postgres.url()).env(postgres::TLS_VARIABLE, postgres.tls_url());
    }
    if command::exists("cargo-nextest", &["--version"]) {
        run.args(["nextest", "run", "--workspace", "--no-fail-fast", "--color", "never"]);
        // A test that failed has a summary of its own in its output.
        let is_whole = |line: &str| line.trim_start().starts_with("Summary [");
        return count_lines(&mut run, |line| parse_summary(line).filter(|_| is_whole(line)));
    }
    count(run.args(["test", "--workspace", "--all-targets", "--no-fail-fast"]))
}

/// Examples in documentation, which nextest does not run.
pub(crate) fn run_doc_tests(repository: &Repository) -> Result<CheckCounts> {
    count(repository.cargo().args(["test", "--workspace", "--doc", "--no-fail-fast"]))
}

/// Runs `check` on the tests that ran and passed so far.
pub(crate) fn with_executed<T>(check: impl FnOnce(&ExecutedTests) -> T) -> T {
    // A panic while a line is taken leaves the lines before it.
    check(&EXECUTED.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Runs `command`, passes its output on and adds up the results that it prints.
///
/// # Errors
/// Fails when the program cannot be run, or fails without a failed check in its output.
pub fn count(command: &mut Command) -> Result<CheckCounts> {
    count_lines(command, parse_summary)
}

/// Runs `command` and passes its output on, as [`count`] does, and adds up only the lines that
/// begin with `name` and a colon: those of the suites inside are part of them.
pub(crate) fn count_total(command: &mut Command, name: &str) -> Result<CheckCounts> {
    count_lines(command, |line| parse_total(line, name))
}

fn count_lines(
    command: &mut Command,
    parse: impl Fn(&str) -> Option<CheckCounts> + Sync,
) -> Result<CheckCounts> {
    println!("$ {}", command::display(command));
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot run {}", command::display(command)))?;
    let (mut output, mut errors) = (child.stdout.take(), child.stderr.take());
    let read = |stream: Option<&mut dyn Read>| {
        stream.map_or(Ok(CheckCounts::default()), |stream| read_results(stream, &parse))
    };
    let tally = thread::scope(|threads| {
        let beside = threads.spawn(|| read(errors.as_mut().map(|stream| stream as &mut dyn Read)));
        let tally = read(output.as_mut().map(|stream| stream as &mut dyn Read));
        let more = beside.join().map_err(|_| anyhow!("reading the output panicked"))??;
        tally.map(|tally| tally + more)
    })?;
    let status = child.wait().context("cannot wait for the tests")?;
    if !status.success() && tally.failed == 0 {
        bail!("{} ended with {status}", command::display(command));
    }
    Ok(tally)
}

/// Prints `output`, which a process of ours left, and adds up the results in it.
///
/// # Errors
/// None but those of reading memory.
pub(crate) fn read_output(mut output: &[u8]) -> Result<CheckCounts> {
    read_results(&mut output, parse_summary)
}

/// The same of the total of the suite `name` alone, as [`count_total`] does.
///
/// # Errors
/// None but those of reading memory.
pub(crate) fn read_total(mut output: &[u8], name: &str) -> Result<CheckCounts> {
    read_results(&mut output, |line| parse_total(line, name))
}

fn read_results(
    stream: &mut dyn Read,
    parse: impl Fn(&str) -> Option<CheckCounts>,
) -> Result<CheckCounts> {
    let mut tally = CheckCounts::default();
    for line in BufReader::new(stream).split(b'\n') {
        let line = line.context("cannot read the tests' output")?;
        let line = String::from_utf8_lossy(&line);
        println!("{line}");
        failures::note(&line);
        // Those that try the real binary are skipped among the others, and count where they have
        // one.
        if !["yearbook-tests::reliability ", "yearbook-tests::hostile "]
            .iter()
            .any(|suite| line.contains(suite))
        {
            EXECUTED.lock().unwrap_or_else(PoisonError::into_inner).note(&line);
        }
        if let Some(found) = parse(&line) {
            tally = tally + found;
        }
    }
    Ok(tally)
}

/// Returns the numbers in a line that sums up: `test result: ok. 3 passed; 0 failed; …` of libtest,
/// `Summary [ 1.2s] 5 tests run: 4 passed, 1 failed, …` of nextest, `readers: 7 passed, 0 failed`
/// of our scripts.
fn parse_summary(line: &str) -> Option<CheckCounts> {
    let line = line.trim_start();
    if ![
        "test result:",
        "Summary [",
        "readers:",
        "integrations:",
        "openapi:",
        "pages:",
        "guide:",
        "languages:",
        "adapters:",
        "deploy:",
        "citations:",
        "share:",
        "iceberg:",
        "signup:",
        "clients-python:",
        "clients-r:",
        "discovery:",
    ]
    .iter()
    .any(|start| line.starts_with(start))
    {
        return None;
    }
    parse_counts(line)
}

/// The numbers in a line that begins with `name` and a colon.
fn parse_total(line: &str, name: &str) -> Option<CheckCounts> {
    parse_counts(line.strip_prefix(name)?.strip_prefix(':')?)
}

/// The numbers before `passed`, `failed` and `timed out`.
fn parse_counts(line: &str) -> Option<CheckCounts> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let before = |word: &str| {
        let at = words.iter().position(|found| found.trim_end_matches([',', ';']) == word)?;
        words.get(at.checked_sub(1)?)?.parse::<u64>().ok()
    };
    let timed_out =
        words.windows(2).find(|pair| pair[1] == "timed").and_then(|pair| pair[0].parse().ok());
    Some(CheckCounts {
        passed: before("passed")?,
        failed: before("failed").unwrap_or(0) + timed_out.unwrap_or(0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_runners_are_understood() {
        let of = |passed, failed| Some(CheckCounts { passed, failed });
        assert_eq!(
            parse_summary(
                "test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s"
            ),
            of(3, 2)
        );
        assert_eq!(
            parse_summary(
                "     Summary [   0.541s] 20 tests run: 18 passed (1 slow), 2 failed, 1 skipped"
            ),
            of(18, 2)
        );
        assert_eq!(
            parse_summary("     Summary [   0.541s] 3 tests run: 3 passed, 0 skipped"),
            of(3, 0)
        );
        assert_eq!(
            parse_summary(
                "     Summary [  60.1s] 3 tests run: 1 passed, 1 failed, 1 timed out, 0 skipped"
            ),
            of(1, 2)
        );
        assert_eq!(parse_summary("readers: 7 passed, 1 failed"), of(7, 1));
        assert_eq!(parse_summary("test thing ... ok, 5 passed"), None);
        assert_eq!(parse_counts("fleet: 9 passed, 1 failed"), of(9, 1));
    }

    #[test]
    fn the_total_of_a_suite_is_counted_and_its_parts_are_not_again() {
        let printed = "printf 'test result: ok. 9 passed; 0 failed; 0 ignored\\nfleet: 9 passed, 0 failed\\n'";
        let counts = count_total(Command::new("sh").args(["-c", printed]), "fleet").ok();
        assert_eq!(counts, Some(CheckCounts { passed: 9, failed: 0 }));
        assert!(count_total(&mut Command::new("false"), "fleet").is_err());
    }
}
