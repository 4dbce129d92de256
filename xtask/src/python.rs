//! A Python environment with pinned readers, for checks that need another implementation of the
//! formats than ours. Kept in the cache; made anew when the pins change.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::repository::Repository;
use crate::{command, debian};

/// The interpreter of the readers' environment.
pub(crate) fn interpreter(repository: &Repository) -> Result<PathBuf> {
    environment(repository, "readers", "tests/external/readers/requirements.txt")
}

/// The interpreter of the environment called `name`, with everything in the file `pins` (from the
/// top of the tree) installed.
pub(crate) fn environment(repository: &Repository, name: &str, pins: &str) -> Result<PathBuf> {
    let pins = repository.root().join(pins);
    let wanted =
        fs::read_to_string(&pins).with_context(|| format!("cannot read {}", pins.display()))?;
    let folder = repository.cache_dir().join(name);
    let python = folder.join("bin/python");
    let stamp = folder.join("requirements.txt");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(python);
    }
    ensure_python()?;
    command::run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder))?;
    command::run(
        Command::new(&python)
            .args([
                "-m",
                "pip",
                "install",
                "--quiet",
                "--disable-pip-version-check",
                "--requirement",
            ])
            .arg(&pins),
    )?;
    // Last, so that an installation that failed is tried again.
    fs::write(&stamp, wanted).with_context(|| format!("cannot write {}", stamp.display()))?;
    Ok(python)
}

/// Debian splits `venv` off.
fn ensure_python() -> Result<()> {
    let packages = ["python3", "python3-venv"];
    debian::ensure("checking with other tools", &packages, || {
        command::exists("python3", &["-c", "import venv, ensurepip"])
    })
}
