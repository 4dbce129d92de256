//! Our clients beside what people write without them: a table of a million rows as a data frame in
//! Python and in R, all from one server, each in a process of its own.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;
use yearbook_xtask::{command, demo, tools};

use super::Bench;
use super::peers::YEARBOOK;
use super::tables::{LONG_ROWS, copy_renamed};
use crate::machine;
use crate::measurements::Measurements;
use crate::process::MeasuredRun;
use crate::product::{self, Product};

/// Part of the figures.
const PART: &str = "clients";

const TABLE: &str = "long";

/// Ways to the rows in each language; ours first.
const PYTHON: [&str; 3] = [YEARBOOK, "pandas.read_csv", "pages of JSON"];
const R: [&str; 2] = [YEARBOOK, "readr"];

pub(super) fn measure(bench: &Bench<'_>, binary: &Path, figures: &mut Measurements) -> Result<()> {
    let clients = bench.repository.root().join("clients");
    let folder = bench.folder.join(PART);
    let product = Product::new(binary, folder.join("data"))?;
    let long = demo::million_rows(bench.repository)?;
    product.publish(&[copy_renamed(&long, &long.with_file_name("long.json"), TABLE, |_| ())?])?;
    let library = r_library(bench)?;
    let key = product.key("enterprise")?;
    let server = product.serve(&machine::all(), false)?;
    let scripts = bench.repository.root().join("tests/lab/peers");
    for (name, program, script, (variable, own), ways) in [
        (
            "a million rows in Python",
            bench.python.as_path(),
            "clients.py",
            ("PYTHONPATH", clients.join("python/src")),
            &PYTHON[..],
        ),
        ("a million rows in R", Path::new("Rscript"), "clients.R", ("R_LIBS", library), &R[..]),
    ] {
        for who in ways {
            let mut run = Command::new(program);
            run.arg(scripts.join(script)).env(variable, &own);
            run.args([who, TABLE, &LONG_ROWS.to_string(), &bench.args.runs.to_string()]);
            run.env("SERVICE_BASE_URL", &server.process.base).env("SERVICE_API_KEY", &key);
            let run = MeasuredRun::run_to_end(&mut run, &folder)?;
            figures.add(PART, name, who, run.speed(LONG_ROWS)?);
        }
    }
    product::empty(&folder)
}

/// A library of R with our client, installed anew.
fn r_library(bench: &Bench<'_>) -> Result<PathBuf> {
    let packages = ["r-base-core", "r-cran-httr2", "r-cran-jsonlite", "r-cran-readr"];
    let load = "library(httr2); library(jsonlite); library(readr)";
    let are_there = || command::output(Command::new("Rscript").args(["-e", load])).is_ok();
    tools::ensure_packages("readr beside the client in R", &packages, are_there)?;
    let library = bench.folder.join("r");
    product::empty(&library)?;
    let mut install = Command::new("R");
    install.args(["CMD", "INSTALL", "--no-docs", "--library"]).arg(&library);
    command::output(install.arg(bench.repository.root().join("clients/r")))?;
    Ok(library)
}
