//! Native instructions, counted by callgrind over `yearbook-count`. Owns how two runs become one
//! number.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use super::Counts;
use crate::repository::Repository;
use crate::{command, debian};

/// Counts every work of `yearbook-count`.
pub(super) fn counts(repository: &Repository) -> Result<Counts> {
    debian::ensure("counting instructions", &["valgrind"], || {
        command::exists("valgrind", &["--version"])
    })?;
    // As a part of the whole workspace, like the product.
    command::run(repository.cargo().args([
        "build",
        "--release",
        "--workspace",
        "--bin",
        "yearbook-count",
    ]))?;
    let program = repository.target().join("release/yearbook-count");
    let mut counts = Counts::new();
    for work in super::lines(Command::new(&program).arg("list"))? {
        let [name, units, rounds] = work.as_slice() else {
            bail!("cannot understand what yearbook-count lists: {work:?}")
        };
        let (units, rounds): (f64, f64) = (units.parse()?, rounds.parse()?);
        let idle = run_callgrind(&program, name, "0")?;
        let busy = run_callgrind(&program, name, &rounds.to_string())?;
        counts.insert(name.clone(), (busy - idle) / rounds / units);
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
