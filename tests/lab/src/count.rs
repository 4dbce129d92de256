//! `cargo xtask count`: instructions a row of encoders, planning and scanning, compared with the
//! recorded ones. Unlike times, counts are the same on a busy machine, so a step that takes more is
//! seen at once. Owns the comparison; the counted work stands in `tests/lab/count` and in the
//! example `fuel` of this package.

mod baseline;
mod sources;

use std::collections::BTreeMap;

use anyhow::{Result, bail};
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

/// The same for encoders compiled for this machine: 20 % for one table under another cargo home.
/// Their code is judged more exactly in the sandbox, as it is released.
const NATIVE_TOLERANCE: f64 = 0.25;

/// Instructions of one unit (row, or request), by name of the work.
type Counts = BTreeMap<String, f64>;

/// Result of comparing one count.
#[derive(Debug, PartialEq)]
enum CountChange {
    Same,
    Moved(f64),
    New,
    Gone,
}

/// Counts, compares, prints; with `accept`, a reason, records what moved.
pub(crate) fn run(repository: &Repository, accept: Option<&str>) -> Result<()> {
    let Some(reason) = accept else {
        let CheckCounts { failed, .. } = check(repository)?;
        if failed > 0 {
            bail!("{failed} counts are not as recorded");
        }
        return Ok(());
    };
    let mut record = CountBaseline::read(repository)?;
    let counts = collect_counts(repository)?;
    for (name, verdict) in compare(&record, &counts) {
        match verdict {
            CountChange::Same => {}
            CountChange::Gone => {
                println!("{name}: gone");
                record.remove(&name);
            }
            CountChange::New | CountChange::Moved(_) => {
                println!("{name}: {}", describe_change(&record, &counts, &name));
                record.set(&name, counts[&name], reason);
            }
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
    for (name, verdict) in compare(&record, &counts) {
        let word = match verdict {
            CountChange::Same => "ok",
            _ if !comparable => "NOT COMPARED",
            _ => "FAILED",
        };
        println!("{word} {name}: {}", describe_change(&record, &counts, &name));
        if word == "FAILED" { tally.failed += 1 } else { tally.passed += 1 }
    }
    if !comparable {
        let CountBaseline { compiler, processor, .. } = record;
        println!(
            "recorded with {compiler} on a processor with {processor}, counted with others: differences are shown and not judged"
        );
    }
    if tally.failed > 0 {
        println!(
            "more than {:.0} % away (reads: {:.0} %, native: {:.0} %) from tests/lab/count/recorded.json: mend what became dearer, or say why it is so: cargo xtask count --accept \"the reason\"",
            SANDBOX_TOLERANCE * 100.0,
            READ_TOLERANCE * 100.0,
            NATIVE_TOLERANCE * 100.0
        );
    }
    Ok(tally)
}

fn collect_counts(repository: &Repository) -> Result<Counts> {
    let mut counts = sources::native(repository)?;
    counts.extend(sources::sandbox(repository)?);
    Ok(counts)
}

fn tolerance(name: &str) -> f64 {
    match name.split(' ').next() {
        Some("native") => NATIVE_TOLERANCE,
        Some("sandbox") => SANDBOX_TOLERANCE,
        _ => READ_TOLERANCE,
    }
}

fn compare(record: &CountBaseline, counts: &Counts) -> Vec<(String, CountChange)> {
    let known = record
        .names()
        .filter(|name| !counts.contains_key(*name))
        .map(|name| (name.to_owned(), CountChange::Gone));
    let counted = counts.iter().map(|(name, now)| {
        let verdict = match record.count(name) {
            None => CountChange::New,
            Some(before) if (now / before - 1.0).abs() <= tolerance(name) => CountChange::Same,
            Some(before) => CountChange::Moved(now / before),
        };
        (name.clone(), verdict)
    });
    known.chain(counted).collect()
}

fn describe_change(record: &CountBaseline, counts: &Counts, name: &str) -> String {
    match (record.count(name), counts.get(name)) {
        (Some(before), Some(now)) => format!(
            "{now:.1} instructions, recorded {before:.1} ({:+.1} %)",
            (now / before - 1.0) * 100.0
        ),
        (None, Some(now)) => format!("{now:.1} instructions, not recorded"),
        (before, None) => {
            format!("recorded {:.1}, not counted any more", before.unwrap_or_default())
        }
    }
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
        let recorded = [
            "sandbox a",
            "sandbox b",
            "sandbox c",
            "scan d",
            "scan e",
            "native f",
            "native g",
            "gone",
        ];
        let mut record = CountBaseline::default();
        recorded.iter().for_each(|name| record.set(name, 100.0, "first"));
        let counts = [
            ("sandbox a", 102.9),
            ("sandbox b", 103.1),
            ("sandbox c", 96.0),
            ("scan d", 109.0),
            ("scan e", 89.0),
            ("native f", 121.0),
            ("native g", 126.0),
            ("new", 5.0),
        ];
        let counts = counts.map(|(name, count)| (name.to_owned(), count));
        let verdicts: BTreeMap<_, _> = compare(&record, &counts.into()).into_iter().collect();
        assert_eq!(verdicts["sandbox a"], CountChange::Same);
        assert_eq!(verdicts["sandbox b"], CountChange::Moved(1.031));
        assert_eq!(
            verdicts["sandbox c"],
            CountChange::Moved(0.96),
            "cheaper is recorded too, or the next step up hides in it"
        );
        assert_eq!(verdicts["scan d"], CountChange::Same);
        assert_eq!(verdicts["scan e"], CountChange::Moved(0.89));
        assert_eq!(verdicts["native f"], CountChange::Same);
        assert_eq!(verdicts["native g"], CountChange::Moved(1.26));
        assert_eq!(verdicts["gone"], CountChange::Gone);
        assert_eq!(verdicts["new"], CountChange::New);
    }
}
