//! `cargo xtask bench`: measures the release build beside its peers. Owns the order of the parts
//! and where results go; what is measured stands in the files beneath. Nothing here can fail for
//! being slow, only for wrong answers.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::repository::{Profile, Repository};
use crate::{command, debian, python};

mod encode;
mod equivalence;
mod exports;
mod growth;
mod http;
pub(crate) mod http_client;
pub(crate) mod machine;
pub(crate) mod measurements;
pub(crate) mod page;
mod peers;
mod plugins;
pub(crate) mod process;
pub(crate) mod request;
mod requests;
mod tables;
mod targets;
pub(crate) mod wrk;

use measurements::Measurements;

/// What can be measured alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum BenchPart {
    /// Every encoder without HTTP
    Encode,
    /// Fresh instances, the crossing into guests, loading, and how soon an installed release serves
    Plugins,
    /// Requests and exports, Yearbook and its peers
    Http,
    /// Exports of 0.1 to 10 million rows, and 32 at once
    Growth,
}

/// What the caller asked for.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct BenchArgs {
    /// Measure this part only, and leave docs/benchmarks.md as it is
    #[arg(value_enum)]
    part: Option<BenchPart>,
    /// Seconds that each run of requests lasts
    #[arg(long, default_value_t = 2)]
    seconds: u32,
    /// Counted runs of everything, after one that is not counted
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// Let the exports grow to 50 million rows; takes minutes more and 20 GB of memory to publish
    #[arg(long)]
    huge: bool,
    /// Give servers and load generator a half of the cores each instead of letting them share all
    #[arg(long)]
    apart: bool,
    /// Measure this binary over HTTP instead of building one
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
}

impl BenchArgs {
    fn includes(&self, part: BenchPart) -> bool {
        self.part.is_none_or(|only| only == part)
    }

    /// Which cores requests under load are served and sent on.
    fn cores(&self) -> machine::CoreAssignment {
        if self.apart { machine::halves() } else { machine::shared() }
    }

    /// The command that was given.
    fn command(&self) -> String {
        let part = match self.part {
            Some(BenchPart::Encode) => " encode",
            Some(BenchPart::Plugins) => " plugins",
            Some(BenchPart::Http) => " http",
            Some(BenchPart::Growth) => " growth",
            None => "",
        };
        let huge = if self.huge { " --huge" } else { "" };
        let apart = if self.apart { " --apart" } else { "" };
        format!(
            "cargo xtask bench{part} --seconds {} --runs {}{huge}{apart}",
            self.seconds, self.runs
        )
    }
}

/// What every part is given.
struct Bench<'a> {
    repository: &'a Repository,
    wanted: &'a BenchArgs,
    /// Interpreter with the peers.
    python: PathBuf,
    /// For data, logs and results; emptied first.
    folder: PathBuf,
}

/// Measures, and writes what came out as Markdown and as JSON.
pub(crate) fn run(repository: &Repository, wanted: &BenchArgs) -> Result<()> {
    ensure_tools()?;
    let start = machine::MachineState::now(repository)?;
    let folder = repository.target().join("xtask").join("bench");
    if folder.exists() {
        fs::remove_dir_all(&folder)
            .with_context(|| format!("cannot empty {}", folder.display()))?;
    }
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let python = python::environment(repository, "peers", "tests/lab/peers/requirements.txt")?;
    let bench = Bench { repository, wanted, python, folder };
    let mut figures = Measurements::default();
    if wanted.includes(BenchPart::Encode)
        || wanted.includes(BenchPart::Plugins)
        || wanted.binary.is_none()
    {
        repository.build_plugins()?;
    }
    if wanted.includes(BenchPart::Encode) {
        encode::measure(&bench, &mut figures)?;
    }
    if wanted.includes(BenchPart::Plugins) {
        plugins::measure(&bench, &mut figures)?;
    }
    if wanted.includes(BenchPart::Plugins)
        || wanted.includes(BenchPart::Http)
        || wanted.includes(BenchPart::Growth)
    {
        let binary =
            wanted.binary.clone().map_or_else(|| repository.build_product(Profile::Release), Ok)?;
        if wanted.includes(BenchPart::Plugins) {
            plugins::measure_swaps(&bench, &binary, &mut figures)?;
        }
        if wanted.includes(BenchPart::Http) {
            http::measure(&bench, &binary, &mut figures)?;
        }
        if wanted.includes(BenchPart::Growth) {
            growth::measure(&bench, &binary, &mut figures)?;
        }
    }
    let targets = targets::evaluate(&figures);
    let machine = machine::line(&start);
    let into =
        if wanted.part.is_none() { repository.root().join("docs") } else { bench.folder.clone() };
    let page = page::render(&wanted.command(), &machine, &wanted.cores(), &figures, &targets);
    let json = serde_json::json!({ "command": wanted.command(), "machine": machine, "targets": targets, "figures": figures });
    write(&into.join("benchmarks.md"), &page)?;
    write(
        &into.join("benchmarks.json"),
        &(serde_json::to_string_pretty(&json).context("cannot print the figures")? + "\n"),
    )?;
    println!("\n{page}\nwritten to {} as benchmarks.md and benchmarks.json", into.display());
    Ok(())
}

/// What measuring needs besides cargo.
pub(crate) fn ensure_tools() -> Result<()> {
    for (tool, package) in [("wrk", "wrk"), ("taskset", "util-linux")] {
        // `wrk --version` ends with 1, so look whether it starts at all.
        debian::ensure("the benchmark", &[package], || {
            Command::new(tool).arg("--version").output().is_ok()
        })?;
    }
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// Runs a script of `tests/lab/peers` to its end.
fn script(bench: &Bench<'_>, name: &str) -> Command {
    let mut python = Command::new(&bench.python);
    python.arg(bench.repository.root().join("tests/lab/peers").join(name));
    println!("-- {}", command::display(&python));
    python
}
