//! The machine and the commit of a measurement, without which its numbers mean nothing.

use std::process::Command;
use std::thread::available_parallelism;

use anyhow::{Context as _, Result};
use procfs::{CpuInfo, Current as _, LoadAverage, Meminfo};

use yearbook_xtask::command;
use yearbook_xtask::repository::Repository;
use yearbook_xtask::{CHANGED, DRAFT};

/// Cores that this process may use.
pub(crate) fn cores() -> usize {
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

/// The line of a page about the machine and the commit, as of now: a commit or a load that comes
/// later was not measured. Prints at once that the page can only be a draft, if that is so.
///
/// # Errors
/// Fails when git or `/proc` does not answer.
pub(crate) fn describe(repository: &Repository) -> Result<String> {
    let git = |arguments: &[&str]| {
        command::output(Command::new("git").current_dir(repository.root()).args(arguments))
    };
    let commit = git(&["rev-parse", "--short", "HEAD"])?;
    let changed = !git(&["status", "--porcelain"])?.is_empty();
    if changed {
        println!(
            "the tree has uncommitted changes: what is measured now is a draft; commit first for a page that says what it is of"
        );
    }
    let load = LoadAverage::current().context("cannot read how busy the machine is")?.one;
    Ok(line(commit.trim(), changed, load))
}

/// Processor, cores, commit, and the load average of the minute before.
fn line(commit: &str, changed: bool, load: f32) -> String {
    let processors = CpuInfo::current().ok();
    let model = processors.as_ref().and_then(|processors| processors.model_name(0));
    let model = model.unwrap_or("an unnamed processor");
    let (cores, memory) = (cores(), Meminfo::current().map_or(0, |memory| memory.mem_total >> 30));
    let draft = if changed {
        format!(
            "{CHANGED}. {DRAFT} no commit holds what was measured; measure again on a clean tree.**"
        )
    } else {
        ".".to_owned()
    };
    let busy = if load > 0.5 {
        " **The machine was busy with other things: believe ratios at most, and measure again.**"
    } else {
        ""
    };
    format!(
        "Machine: {model}, {cores} cores, {memory} GiB. Commit {commit}{draft} Load average when it began: {load:.2}.{busy}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_with_changes_makes_a_draft() {
        let clean = line("abcdef1", false, 0.1);
        assert!(clean.contains(" Commit abcdef1. Load average when it began: 0.10."), "{clean}");
        assert!(!clean.contains(DRAFT), "{clean}");
        let draft = line("abcdef1", true, 0.1);
        assert!(draft.contains(" Commit abcdef1 with uncommitted changes. **Draft: "), "{draft}");
    }
}
