//! One sentence about where numbers were measured.

use std::fs;
use std::process::Command;
use std::thread::available_parallelism;

use anyhow::Result;

use crate::command;
use crate::repository::Repository;

/// Processor, cores and commit; a number without them means nothing.
pub(super) fn line(repository: &Repository) -> Result<String> {
    let processors = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = processors.lines().find_map(|line| line.strip_prefix("model name")).and_then(|rest| rest.split(':').nth(1));
    let model = model.map_or("an unnamed processor", str::trim);
    let cores = available_parallelism().map_or(1, usize::from);
    let commit = command::output(Command::new("git").current_dir(repository.root()).args(["rev-parse", "--short", "HEAD"]))?;
    let changed = command::output(Command::new("git").current_dir(repository.root()).args(["status", "--porcelain"]))?;
    let changed = if changed.is_empty() { "" } else { " with uncommitted changes" };
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split_whitespace().next().unwrap_or("unknown").to_owned();
    Ok(format!("Machine: {model}, {cores} cores. Commit {}{changed}. Load average when done: {load}.", commit.trim()))
}
