//! The reader checks: a server with every demo dataset and a million synthetic rows, and
//! `tests/readers`, which downloads them in every format and compares them with the source tables.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};

use super::report::Tally;
use super::suites;
use crate::repository::{Profile, Repository};
use crate::server::{self, Server};
use crate::{command, demo, packages, python};

pub(super) fn check(repository: &Repository) -> Result<Tally> {
    let python = python::interpreter(repository)?;
    let binary = repository.build_product(Profile::Debug)?;
    let folder = repository.target().join("xtask").join("readers");
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("cannot empty {}", folder.display()))?;
    }
    let data_dir = folder.join("data");
    fs::create_dir_all(&data_dir).with_context(|| format!("cannot make {}", data_dir.display()))?;

    let mut descriptors = packages::descriptors(&repository.root().join("datasets"))?;
    let generated = demo::million_rows(repository)?;
    descriptors.push(generated.clone());
    command::run(Command::new(&binary).arg("--data-dir").arg(&data_dir).arg("publish").args(&descriptors))?;
    let key = demo::enterprise_key(&binary, &data_dir)?;

    // Many requests from one address in a row are the point here, so no burst limit.
    let unlimited = [("YEARBOOK_LIMITS__BURST_PER_SECOND", "0")];
    let log = folder.join("server.log");
    let mut server = Server::start(&binary, &data_dir, server::free_address()?, Some(&log), &unlimited)?;
    let mut run = Command::new(python);
    run.arg(repository.root().join("tests/readers/main.py"));
    run.args(["--base", &server.base(), "--process", &server.id().to_string(), "--large"]).arg(&generated);
    run.arg("--downloads").arg(folder.join("downloads")).args(packages::newest(&descriptors));
    let tally = suites::count(run.env("YEARBOOK_KEY", key));
    server.stop()?;
    if tally.as_ref().is_ok_and(|tally| tally.failed > 0) {
        print_end_of(&log);
    }
    tally
}

/// The last lines of the server's log, where a failed check is explained.
fn print_end_of(log: &Path) {
    let text = fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    println!("-- end of {}", log.display());
    for line in lines.iter().skip(lines.len().saturating_sub(40)) {
        println!("{line}");
    }
}
