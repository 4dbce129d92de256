//! The two sources of counts: native instructions, by callgrind over `yearbook-count`, and fuel of
//! the built-in encoders in the sandbox, by the example `fuel`. Owns how two runs become one
//! number.

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
    // Alone: the features that others want of what it depends on are a database and a store behind
    // a network, which take longer to build than everything that is counted.
    command::run(repository.cargo().args(["build", "--release", "--package", "yearbook-count"]))?;
    let program = repository.target().join("release/yearbook-count");
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

/// Counts one work of the list of `yearbook-count`: its name, units and rounds.
fn count_work(program: &Path, work: &[String]) -> Result<(String, f64)> {
    let [name, units, rounds] = work else {
        bail!("cannot understand what yearbook-count lists: {work:?}")
    };
    let (units, rounds): (f64, f64) = (units.parse()?, rounds.parse()?);
    let idle = run_callgrind(program, name, "0")?;
    let busy = run_callgrind(program, name, &rounds.to_string())?;
    Ok((name.clone(), (busy - idle) / rounds / units))
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

/// Instructions of a whole run.
fn run_callgrind(program: &Path, name: &str, rounds: &str) -> Result<f64> {
    let mut run = Command::new("valgrind");
    // Threads that look for work take instructions that depend on nothing but chance.
    run.env("RAYON_NUM_THREADS", "1");
    run.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .args([name, rounds]);
    let output = run.output().with_context(|| format!("cannot run {}", command::display(&run)))?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        bail!("{} ended with {}: {said}", command::display(&run), output.status);
    }
    parse_total(&said).with_context(|| format!("callgrind printed no total: {said}"))
}

/// The number in callgrind's last lines, `==1234== Collected : 5678`.
fn parse_total(said: &str) -> Option<f64> {
    let line = said.lines().rev().find(|line| line.contains("Collected :"))?;
    line.rsplit(' ').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_is_read_from_what_callgrind_prints() {
        assert_eq!(
            parse_total("==7== Events    : Ir\n==7== Collected : 123456\n==7== \n"),
            Some(123_456.0)
        );
        assert_eq!(parse_total("==7== \n"), None);
    }
}
