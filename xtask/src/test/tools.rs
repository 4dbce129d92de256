//! Programs that only Debian's archive has, for checks that use them; a check without its program is said not to have run.

use std::process::Command;

use crate::command;

/// Whether R is here, with what the examples in the guide and the checks of readers need.
pub(super) fn r() -> bool {
    let load = ["-e", "library(httr2); library(jsonlite)"];
    has("R as a reader and in examples", &["r-base-core", "r-cran-httr2", "r-cran-jsonlite"], "Rscript", &load)
}

/// Whether a browser is here, and a font for what it shows.
pub(super) fn chromium() -> bool {
    has("/docs in a browser", &["chromium", "fonts-dejavu-core"], "chromium", &["--version"])
}

/// Whether `program` succeeds with `arguments`, if need be after installing `packages`.
fn has(what: &str, packages: &[&str], program: &str, arguments: &[&str]) -> bool {
    let there = || Command::new(program).args(arguments).output().is_ok_and(|output| output.status.success());
    if there() {
        return true;
    }
    println!("{what} needs Debian's {}: installing", packages.join(" "));
    let root = rustix::process::geteuid().is_root();
    let mut install = Command::new(if root { "apt-get" } else { "sudo" });
    if !root {
        install.args(["-n", "apt-get"]);
    }
    let installed = command::run(install.args(["install", "--yes", "--quiet", "--no-install-recommends"]).args(packages));
    let found = installed.is_ok() && there();
    if !found {
        println!("{what}: NOT CHECKED; run `apt-get install {}` and try again", packages.join(" "));
    }
    found
}
