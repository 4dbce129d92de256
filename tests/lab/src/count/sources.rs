//! The two sources of counts: native instructions, by callgrind over `yearbook-count`, and fuel of
//! the built-in encoders in the sandbox, by the example `fuel`. Owns how a run becomes a
//! number.

use std::fs;
use std::iter;
use std::num::NonZeroUsize;
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::thread;

use anyhow::{Context as _, Result, anyhow, bail};

use super::Counts;
use yearbook_xtask::repository::Repository;
use yearbook_xtask::{command, tools};

/// Counts native instructions of every work of `yearbook-count`.
pub(super) fn native(repository: &Repository) -> Result<Counts> {
    tools::ensure_packages("counting instructions", &["valgrind"], || {
        command::exists("valgrind", &["--version"])
    })?;
    // With symbols, by which callgrind finds the mark. Alone: features that others want of what it
    // depends on are a database and a store behind a network, which take longer to build than
    // everything that is counted.
    let build = ["build", "--profile", "count", "--package", "yearbook-count"];
    command::run(repository.cargo().args(build))?;
    let program = repository.target().join("count/yearbook-count");
    let works = super::lines(Command::new(&program).arg("list"))?;
    let waiting = Mutex::new(works.into_iter());
    let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).next();
    let counted_by_one =
        || iter::from_fn(next).map(|work| count_work(&program, &work)).collect::<Result<Counts>>();
    // Counts do not depend on what else the machine does, and a simulator has one core.
    thread::scope(|scope| {
        let threads = thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let counting: Vec<_> = (0..threads).map(|_| scope.spawn(counted_by_one)).collect();
        let mut counts = Counts::new();
        for thread in counting {
            counts.extend(thread.join().map_err(|_| anyhow!("a thread that counts panicked"))??);
        }
        Ok(counts)
    })
}

/// Counts one work of the list of `yearbook-count`: its name and units.
fn count_work(program: &Path, work: &[String]) -> Result<(String, f64)> {
    let [name, units] = work else {
        bail!("cannot understand what yearbook-count lists: {work:?}")
    };
    let units: f64 = units.parse()?;
    Ok((name.clone(), run_callgrind(program, name)? / units))
}

/// Counts the fuel of every encoder of the example `fuel`. The host's own profile does not matter:
/// guests are compiled the same in each.
pub(super) fn sandbox(repository: &Repository) -> Result<Counts> {
    command::run(repository.cargo().args(["build", "--workspace", "--example", "fuel"]))?;
    let printed = super::lines(&mut Command::new(repository.target().join("debug/examples/fuel")))?;
    let mut counts = Counts::new();
    for line in printed {
        let [name, count] = line.as_slice() else {
            bail!("cannot understand what the example `fuel` prints: {line:?}")
        };
        counts.insert(name.clone(), count.parse()?);
    }
    Ok(counts)
}

/// Instructions of what a run marks as counted.
fn run_callgrind(program: &Path, name: &str) -> Result<f64> {
    let folder = tempfile::tempdir().context("cannot make a folder")?;
    let profile = folder.path().join("profile");
    let mut run = Command::new("valgrind");
    // Threads that look for work take instructions that depend on nothing but chance.
    run.env("RAYON_NUM_THREADS", "1");
    run.args(["--tool=callgrind", "--zero-before=yearbook_count::counting_begins"])
        .arg("--dump-before=yearbook_count::counting_ends")
        .arg(format!("--callgrind-out-file={}", profile.display()))
        .arg(program)
        .arg(name);
    let output = run.output().with_context(|| format!("cannot run {}", command::display(&run)))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("{} ended with {}: {said}", command::display(&run), output.status);
    }
    // The first dump has the number 1; what comes after it, without a number, is the end.
    let dump = profile.with_extension("1");
    let text = fs::read_to_string(&dump)
        .with_context(|| format!("`{name}` of yearbook-count never says that counting ends"))?;
    parse_total(&text).with_context(|| format!("callgrind wrote no total: {text}"))
}

/// The number in a line of callgrind's profile, `totals: 5678`.
fn parse_total(profile: &str) -> Option<f64> {
    profile.lines().rev().find_map(|line| line.strip_prefix("totals: "))?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_is_read_from_what_callgrind_writes() {
        let profile = "events: Ir\nfn=(2) main\n16 3\n\ntotals: 123456\n";
        assert_eq!(parse_total(profile), Some(123_456.0));
        assert_eq!(parse_total("events: Ir\n"), None);
    }
}
