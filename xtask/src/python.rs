//! A Python environment with pinned readers, for checks that need another implementation of the
//! formats than ours. Kept in the cache; made anew when the pins change.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::command;
use crate::repository::Repository;

/// The interpreter of the readers' environment.
pub(crate) fn interpreter(repository: &Repository) -> Result<PathBuf> {
    environment(repository, "readers", "tests/readers/requirements.txt")
}

/// The interpreter of the environment called `name`, with everything in the file `pins` (from the top
/// of the tree) installed.
pub(crate) fn environment(repository: &Repository, name: &str, pins: &str) -> Result<PathBuf> {
    let pins = repository.root().join(pins);
    let wanted = fs::read_to_string(&pins).with_context(|| format!("cannot read {}", pins.display()))?;
    let folder = repository.cache().join(name);
    let python = folder.join("bin/python");
    let stamp = folder.join("requirements.txt");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(python);
    }
    ensure_python()?;
    command::run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder))?;
    command::run(
        Command::new(&python).args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"]).arg(&pins),
    )?;
    // Last, so that an installation that failed is tried again.
    fs::write(&stamp, wanted).with_context(|| format!("cannot write {}", stamp.display()))?;
    Ok(python)
}

/// Debian splits `venv` off; on a fresh machine it is fetched as the person at the keyboard would.
fn ensure_python() -> Result<()> {
    let complete = || Command::new("python3").args(["-c", "import venv, ensurepip"]).output().is_ok_and(|output| output.status.success());
    if complete() {
        return Ok(());
    }
    let mut install = if rustix::process::geteuid().is_root() { Command::new("apt-get") } else { Command::new("sudo") };
    if !rustix::process::geteuid().is_root() {
        install.args(["-n", "apt-get"]);
    }
    let installed = command::run(install.args(["install", "--yes", "--no-install-recommends", "python3", "python3-venv"]));
    if installed.is_err() || !complete() {
        bail!("checks with other tools need Python with venv: run `apt-get install python3 python3-venv` and try again");
    }
    Ok(())
}
