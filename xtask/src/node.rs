//! Packages of npm with pinned versions, for checks by tools that are written in JavaScript. Kept
//! in the cache; installed anew when the pins change.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::command;
use crate::repository::Repository;

/// What pins packages: what is wanted, and everything that it needs with digests.
const PINS: [&str; 2] = ["package.json", "package-lock.json"];

/// The `node_modules` of the environment called `name`, with what the folder `pins` (from the top
/// of the tree) asks for.
pub(crate) fn modules(repository: &Repository, name: &str, pins: &str) -> Result<PathBuf> {
    let folder = repository.cache_dir().join(name);
    let modules = folder.join("node_modules");
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let mut wanted = String::new();
    for file in PINS {
        let path = repository.root().join(pins).join(file);
        let text =
            fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        fs::write(folder.join(file), &text)
            .with_context(|| format!("cannot write into {}", folder.display()))?;
        wanted += &text;
    }
    let stamp = folder.join("installed");
    if modules.is_dir() && fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(modules);
    }
    command::run(
        Command::new("npm")
            .args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"])
            .current_dir(&folder),
    )?;
    // Last, so that an installation that failed is tried again.
    fs::write(&stamp, wanted).with_context(|| format!("cannot write {}", stamp.display()))?;
    Ok(modules)
}
