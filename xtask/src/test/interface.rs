//! Released interfaces stay as they are: plugins that are built against one must run for ever.

use std::fs;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::command;
use crate::repository::Repository;

/// Compares every folder of `wit` that `wit/SHA256SUMS` names with what was released, file by file.
pub(super) fn check(repository: &Repository) -> Result<()> {
    let wit = repository.root().join("wit");
    let sums = fs::read_to_string(wit.join("SHA256SUMS")).context("cannot read wit/SHA256SUMS")?;
    let released: Vec<&str> =
        sums.lines().filter_map(|line| line.split_once("  ").map(|(_, file)| file)).collect();
    ensure!(!released.is_empty(), "wit/SHA256SUMS names no file");
    for folder in released.iter().filter_map(|file| file.split_once('/').map(|(folder, _)| folder))
    {
        for entry in
            fs::read_dir(wit.join(folder)).with_context(|| format!("cannot read wit/{folder}"))?
        {
            let file = format!("{folder}/{}", entry?.file_name().to_string_lossy());
            ensure!(
                released.contains(&file.as_str()),
                "wit/{file} came after the release of {folder}: put what is new into a new folder"
            );
        }
    }
    command::run(
        Command::new("sha256sum").args(["--check", "--strict", "SHA256SUMS"]).current_dir(&wit),
    )
    .context("a released interface was changed: undo that, and put what is new into a new folder")
}
