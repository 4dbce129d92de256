//! Programs from Debian's packages: installed, saying so, as the person at the keyboard would. Owns
//! how.

use std::process::Command;

use anyhow::{Result, bail};

use crate::command;

/// Makes sure that `there` holds, if need be by installing `packages`. `what` needs them.
///
/// # Errors
/// When it does not hold after that; the message says what to run.
pub(crate) fn ensure(what: &str, packages: &[&str], there: impl Fn() -> bool) -> Result<()> {
    if there() {
        return Ok(());
    }
    println!("{what} needs Debian's {}: installing", packages.join(" "));
    let root = rustix::process::geteuid().is_root();
    let mut install = Command::new(if root { "apt-get" } else { "sudo" });
    if !root {
        install.args(["-n", "apt-get"]);
    }
    let installed = command::run(
        install.args(["install", "--yes", "--quiet", "--no-install-recommends"]).args(packages),
    );
    if installed.is_err() || !there() {
        bail!(
            "{what} needs {}: run `apt-get install {}` and try again",
            packages.join(" "),
            packages.join(" ")
        );
    }
    Ok(())
}
