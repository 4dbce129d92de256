//! The machine and the commit of a measurement, without which its numbers mean nothing.

use std::process::Command;
use std::thread::available_parallelism;

use anyhow::{Context as _, Result};
use procfs::{CpuInfo, Current as _, LoadAverage, Meminfo};

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

/// The tree and the machine when measuring began: a commit or a load that comes later was not
/// measured.
#[derive(Debug)]
pub(crate) struct MachineState {
    /// Load average of the last minute.
    load: f32,
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
        let load = LoadAverage::current().context("cannot read how busy the machine is")?.one;
        Ok(Self { load, commit, changed })
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
    let processors = CpuInfo::current().ok();
    let model = processors.as_ref().and_then(|processors| processors.model_name(0));
    let memory = Meminfo::current().map_or(0, |memory| memory.mem_total);
    let busy = if start.load > 0.5 {
        " **The machine was busy with other things: believe ratios at most, and measure again.**"
    } else {
        ""
    };
    format!(
        "Machine: {}, {} cores, {} GiB. Commit {} Load average when it began: {:.2}.{busy}",
        model.unwrap_or("an unnamed processor"),
        cores(),
        memory >> 30,
        start.commit(),
        start.load
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_with_changes_makes_a_draft() {
        let line =
            |changed| line(&MachineState { load: 0.1, commit: "abcdef1".to_owned(), changed });
        assert!(
            line(false).contains(" Commit abcdef1. Load average when it began: 0.10.")
                && !line(false).contains(DRAFT)
        );
        assert!(line(true).contains(" Commit abcdef1 with uncommitted changes. **Draft: "));
    }
}
