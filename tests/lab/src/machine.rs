//! The machine and the commit of a measurement, without which its numbers mean nothing.

use std::fs;
use std::process::Command;
use std::thread::available_parallelism;

use anyhow::Result;

use yearbook_xtask::command;
use yearbook_xtask::repository::Repository;
use yearbook_xtask::{CHANGED, DRAFT};

/// Cores that this process may use.
fn cores() -> usize {
    available_parallelism().map_or(1, usize::from)
}

/// Cores for requests under load, as `taskset` wants them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CoreAssignment {
    pub(crate) server: String,
    pub(crate) generator: String,
}

/// Half each, so that neither slows the other.
pub(crate) fn halves() -> CoreAssignment {
    let (half, last) = (cores() / 2, cores() - 1);
    if half == 0 {
        shared()
    } else {
        CoreAssignment { server: core_range(0, half - 1), generator: core_range(half, last) }
    }
}

/// The server has all, the load generator stays on the last: how services of one machine are
/// usually measured.
pub(crate) fn shared() -> CoreAssignment {
    CoreAssignment { server: all(), generator: core_range(cores() - 1, cores() - 1) }
}

/// Every core.
pub(crate) fn all() -> String {
    core_range(0, cores() - 1)
}

fn core_range(first: usize, last: usize) -> String {
    if first == last { first.to_string() } else { format!("{first}-{last}") }
}

/// Load average of the last minute.
fn load() -> String {
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    load.split_whitespace().next().unwrap_or("unknown").to_owned()
}

/// The tree and the machine when measuring began: a commit or a load that comes later was not
/// measured.
#[derive(Debug)]
pub(crate) struct MachineState {
    load: String,
    commit: String,
    changed: bool,
}

impl MachineState {
    /// As of now. Prints at once that the page can only be a draft, if that is so.
    pub(crate) fn now(repository: &Repository) -> Result<Self> {
        let git = |arguments: &[&str]| {
            command::output(Command::new("git").current_dir(repository.root()).args(arguments))
        };
        let commit = git(&["rev-parse", "--short", "HEAD"])?.trim().to_owned();
        let changed = !git(&["status", "--porcelain"])?.is_empty();
        if changed {
            println!(
                "the tree has uncommitted changes: what is measured now is a draft; commit first for a page that says what it is of"
            );
        }
        Ok(Self { load: load(), commit, changed })
    }

    /// The commit, and a remark if the tree differed from it.
    fn commit(&self) -> String {
        if self.changed {
            format!(
                "{}{CHANGED}. {DRAFT} no commit holds what was measured; measure again on a clean tree.**",
                self.commit
            )
        } else {
            format!("{}.", self.commit)
        }
    }
}

/// Processor, cores, commit and how busy the machine was when the benchmark began.
pub(crate) fn line(start: &MachineState) -> String {
    let processors = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = processors
        .lines()
        .find_map(|line| line.strip_prefix("model name"))
        .and_then(|rest| rest.split(':').nth(1));
    let model = model.map_or("an unnamed processor", str::trim);
    let memory = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let memory = memory
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))
        .and_then(|rest| rest.split_whitespace().next());
    let gigabytes = memory.and_then(|kilobytes| kilobytes.parse::<u64>().ok()).unwrap_or(0) >> 20;
    let before = &start.load;
    let busy = if before.parse().is_ok_and(|load: f64| load > 0.5) {
        " **The machine was busy with other things: believe ratios at most, and measure again.**"
    } else {
        ""
    };
    format!(
        "Machine: {model}, {} cores, {gigabytes} GiB. Commit {} Load average when it began: {before}.{busy}",
        cores(),
        start.commit()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_with_changes_makes_a_draft() {
        let line = |changed| {
            line(&MachineState { load: "0.10".to_owned(), commit: "abcdef1".to_owned(), changed })
        };
        assert!(
            line(false).contains(" Commit abcdef1. Load average when it began: 0.10.")
                && !line(false).contains(DRAFT)
        );
        assert!(line(true).contains(" Commit abcdef1 with uncommitted changes. **Draft: "));
    }
}
