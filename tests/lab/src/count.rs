//! `cargo xtask count`: instructions a row of encoders in the sandbox, of planning and of scanning,
//! compared with the recorded ones. Unlike times, counts are the same on a busy machine, so a step
//! that takes more is seen at once. Owns the comparison; the counted work stands in
//! `tests/lab/count` and in the example `fuel` of this package.

mod baseline;
mod sources;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use anyhow::{Result, ensure};
use clap::Args;

use yearbook_xtask::checks::report::CheckCounts;
use yearbook_xtask::command;
use yearbook_xtask::repository::Repository;

use baseline::CountBaseline;

/// Arguments of `cargo xtask count`.
#[derive(Clone, Debug, Args)]
pub(crate) struct CountArgs {
    /// Record what moved, for this reason
    #[arg(long, value_name = "REASON")]
    pub(crate) accept: Option<String>,
    /// Compare as `cargo xtask test` does
    #[arg(long, hide = true, conflicts_with = "accept")]
    pub(crate) check: bool,
}

/// Largest change of a count in the sandbox that needs no reason, as a share. Guests are the same
/// bytes wherever they are built.
const SANDBOX_TOLERANCE: f64 = 0.03;

/// The same for planning and scanning. They are compiled for this machine, and what a compiler
/// inlines there moves with the folders of sources and dependencies: up to 3 % for a late search,
/// with nothing changed.
const READ_TOLERANCE: f64 = 0.10;

/// Instructions of one unit (row, or request), by name of the work.
type Counts = BTreeMap<String, f64>;

/// One work, as it was recorded and as it is.
#[derive(Debug, PartialEq)]
struct CountChange {
    name: String,
    before: Option<f64>,
    now: Option<f64>,
}

impl CountChange {
    /// Returns true if it needs no reason. What became cheaper needs one too, or the next step up
    /// hides in it.
    fn is_same(&self) -> bool {
        let tolerance =
            if self.name.starts_with("sandbox") { SANDBOX_TOLERANCE } else { READ_TOLERANCE };
        let ratio = self.now.zip(self.before).map(|(now, before)| now / before);
        ratio.is_some_and(|ratio| (ratio - 1.0).abs() <= tolerance)
    }
}

impl fmt::Display for CountChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.name)?;
        match (self.before, self.now) {
            (Some(before), Some(now)) => {
                let percent = (now / before - 1.0) * 100.0;
                write!(f, "{now:.1} instructions, recorded {before:.1} ({percent:+.1} %)")
            }
            (None, Some(now)) => write!(f, "{now:.1} instructions, not recorded"),
            _ => write!(f, "recorded, not counted any more"),
        }
    }
}

/// Counts, compares, prints; with `accept`, a reason, records what moved.
pub(crate) fn run(repository: &Repository, accept: Option<&str>) -> Result<()> {
    let Some(reason) = accept else {
        let CheckCounts { failed, .. } = check(repository)?;
        ensure!(failed == 0, "{failed} counts are not as recorded");
        return Ok(());
    };
    let mut record = CountBaseline::read(repository)?;
    let changes = compare(&record, &collect_counts(repository)?);
    for change in changes.iter().filter(|change| !change.is_same()) {
        println!("{change}");
        match change.now {
            Some(now) => record.set(&change.name, now, reason),
            None => drop(record.works.remove(&change.name)),
        }
    }
    (record.compiler, record.processor) = (baseline::compiler()?, baseline::processor()?);
    record.write(repository)
}

/// Counts, and compares with the recorded counts.
pub(crate) fn check(repository: &Repository) -> Result<CheckCounts> {
    let record = CountBaseline::read(repository)?;
    let counts = collect_counts(repository)?;
    let comparable =
        record.compiler == baseline::compiler()? && record.processor == baseline::processor()?;
    let mut tally = CheckCounts::default();
    for change in compare(&record, &counts) {
        let word = match change.is_same() {
            true => "ok",
            false if !comparable => "NOT COMPARED",
            false => "FAILED",
        };
        println!("{word} {change}");
        if word == "FAILED" { tally.failed += 1 } else { tally.passed += 1 }
    }
    if !comparable {
        let CountBaseline { compiler, processor, .. } = record;
        println!(
            "recorded with {compiler} on a processor with {processor}, counted with others: differences are shown and fail nothing"
        );
    }
    if tally.failed > 0 {
        println!(
            "more than {:.0} % away (reads: {:.0} %) from tests/lab/count/recorded.json: mend what became dearer, or say why it is so: cargo xtask count --accept \"the reason\"",
            SANDBOX_TOLERANCE * 100.0,
            READ_TOLERANCE * 100.0
        );
    }
    Ok(tally)
}

fn collect_counts(repository: &Repository) -> Result<Counts> {
    let mut counts = sources::native(repository)?;
    counts.extend(sources::sandbox(repository)?);
    Ok(counts)
}

/// Every work that was recorded or counted.
fn compare(record: &CountBaseline, counts: &Counts) -> Vec<CountChange> {
    let names: BTreeSet<&String> = record.works.keys().chain(counts.keys()).collect();
    let change = |name: &String| CountChange {
        name: name.clone(),
        before: record.works.get(name).map(|entry| entry.instructions),
        now: counts.get(name).copied(),
    };
    names.into_iter().map(change).collect()
}

/// Runs a command of ours and reads lines of `name<TAB>number…`.
fn lines(command: &mut std::process::Command) -> Result<Vec<Vec<String>>> {
    let printed = command::output(command)?;
    Ok(printed.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_moves_further_than_its_kind_may_either_way_is_told() {
        let change = |name: &str, before: Option<f64>, now: Option<f64>| {
            let (mut record, mut counts) = (CountBaseline::default(), Counts::new());
            before.into_iter().for_each(|count| record.set(name, count, "first"));
            counts.extend(now.map(|count| (name.to_owned(), count)));
            let mut changes = compare(&record, &counts);
            assert_eq!(changes.len(), 1);
            changes.remove(0)
        };
        let moved = |name: &str, now| change(name, Some(100.0), Some(now));
        assert!(moved("sandbox a", 102.9).is_same() && !moved("sandbox b", 103.1).is_same());
        assert!(!moved("sandbox c", 96.0).is_same(), "what is cheaper is recorded too");
        assert!(moved("scan d", 109.0).is_same() && !moved("scan e", 89.0).is_same());
        assert!(!change("gone", Some(100.0), None).is_same());
        let new = change("new", None, Some(5.0));
        assert!(!new.is_same());
        assert_eq!(new.to_string(), "new: 5.0 instructions, not recorded");
        let moved = moved("scan f", 125.0).to_string();
        assert_eq!(moved, "scan f: 125.0 instructions, recorded 100.0 (+25.0 %)");
    }
}
