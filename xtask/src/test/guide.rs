//! The guide's examples: a server with the demo datasets, and `tests/guide`, which runs what `docs/api.md` shows and compares what
//! it prints. Fetches R from Debian where that is possible, and says so where it is not.

use std::fs;
use std::process::Command;

use anyhow::{Context as _, Result};

use super::report::Tally;
use super::suites;
use crate::repository::{Profile, Repository};
use crate::server::{self, Server};
use crate::{command, demo, packages, python};

/// Debian's packages with what the examples in R need.
const R: [&str; 3] = ["r-base-core", "r-cran-httr2", "r-cran-jsonlite"];

pub(super) fn check(repository: &Repository) -> Result<Tally> {
    let python = python::interpreter(repository)?;
    let with_r = ensure_r();
    let binary = repository.build_product(Profile::Debug)?;
    let folder = repository.target().join("xtask").join("guide");
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("cannot empty {}", folder.display()))?;
    }
    let data_dir = folder.join("data");
    fs::create_dir_all(&data_dir).with_context(|| format!("cannot make {}", data_dir.display()))?;

    let descriptors = packages::descriptors(&repository.root().join("datasets"))?;
    command::run(Command::new(&binary).arg("--data-dir").arg(&data_dir).arg("publish").args(&descriptors))?;
    let (enterprise, free) = (demo::enterprise_key(&binary, &data_dir)?, demo::key(&binary, &data_dir, "free")?);

    let log = folder.join("server.log");
    let mut server = Server::start(&binary, &data_dir, server::free_address()?, Some(&log), &[])?;
    let mut run = Command::new(python);
    run.arg(repository.root().join("tests/guide/main.py")).arg(repository.root().join("docs/api.md"));
    if !with_r {
        run.args(["--without", "r"]);
    }
    // Compiled Python belongs into no source tree.
    run.env("PYTHONDONTWRITEBYTECODE", "1").env("YEARBOOK", server.base()).env("KEY", enterprise).env("FREE", free);
    let tally = suites::count(&mut run);
    server.stop()?;
    tally
}

/// Whether R and its packages are there, if need be after installing them (seconds, some 60 MB).
fn ensure_r() -> bool {
    let complete = || {
        let load = ["-e", "library(httr2); library(jsonlite)"];
        Command::new("Rscript").args(load).output().is_ok_and(|output| output.status.success())
    };
    if complete() {
        return true;
    }
    println!("R with httr2 and jsonlite is not there yet: installing Debian's packages");
    let root = rustix::process::geteuid().is_root();
    let mut install = Command::new(if root { "apt-get" } else { "sudo" });
    if !root {
        install.args(["-n", "apt-get"]);
    }
    let installed = command::run(install.args(["install", "--yes", "--quiet", "--no-install-recommends"]).args(R));
    let complete = installed.is_ok() && complete();
    if !complete {
        println!("examples in R: NOT RUN; run `apt-get install {}` and try again", R.join(" "));
    }
    complete
}
