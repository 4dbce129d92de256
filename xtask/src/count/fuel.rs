//! Instructions of the built-in encoders in the sandbox, counted as fuel by an engine made for it.
//! Owns that it is run.

use std::process::Command;

use anyhow::{Result, bail};

use super::Counts;
use crate::command;
use crate::repository::Repository;

/// Counts every encoder of the example `fuel`. The host's own profile does not matter: guests are
/// compiled the same in each.
pub(super) fn counts(repository: &Repository) -> Result<Counts> {
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
