//! `cargo xtask bench`: measures the release build beside its peers. Owns the order of the parts
//! and where results go; the files beneath measure. Nothing here can fail for being slow, only for
//! wrong answers.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};
use serde_json::Value;

use yearbook_xtask::repository::{Profile, Repository};
use yearbook_xtask::{command, tools};

use crate::http::HttpRequest;
use crate::machine;
use crate::measurements::Measurements;
use crate::wrk;

mod encode;
mod equivalence;
mod exports;
mod growth;
mod http;
mod page;
mod peers;
mod plugins;
mod requests;
mod tables;
mod targets;

/// Parts that can be measured alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum BenchPart {
    /// Every encoder without HTTP
    Encode,
    /// Fresh instances, the crossing into guests, loading, and how soon an installed release serves
    Plugins,
    /// Requests and exports, Yearbook and its peers
    Http,
    /// Publications and exports of 0.1 to 10 million rows, and 32 exports at once
    Growth,
}

/// Arguments of `cargo xtask bench`.
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
    /// Let tables grow to 100 million rows; takes a quarter of an hour and 20 GB of disk more
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

    /// Cores on which requests under load are served and sent.
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

/// A request and the rows that it should bring.
#[derive(Clone, Debug)]
pub(super) struct BenchCase {
    pub(super) name: &'static str,
    /// Rows of an answer.
    pub(super) rows: u64,
    /// The question, for the check that all answers hold the same rows; null where an answer has no
    /// rows.
    pub(super) question: Value,
    /// `json`, `csv`, `arrow` or `parquet`.
    pub(super) format: &'static str,
    /// The request of each peer, or the reason why there is none.
    pub(super) ways: Vec<(&'static str, Result<HttpRequest, &'static str>)>,
}

/// Input of every part.
struct Bench<'a> {
    repository: &'a Repository,
    args: &'a BenchArgs,
    /// Interpreter with the peers.
    python: PathBuf,
    /// For data, logs and results; emptied first.
    folder: PathBuf,
}

/// Measures, and writes the figures as Markdown and as JSON.
pub(crate) fn run(repository: &Repository, args: &BenchArgs) -> Result<()> {
    wrk::ensure_installed()?;
    let start = machine::MachineState::now(repository)?;
    let folder = repository.target().join("xtask").join("bench");
    if folder.exists() {
        fs::remove_dir_all(&folder)
            .with_context(|| format!("cannot empty {}", folder.display()))?;
    }
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let python =
        tools::python_environment(repository, "peers", "tests/lab/peers/requirements.txt")?;
    let bench = Bench { repository, args, python, folder };
    let mut figures = Measurements::default();
    if args.includes(BenchPart::Encode)
        || args.includes(BenchPart::Plugins)
        || args.binary.is_none()
    {
        repository.build_plugins()?;
    }
    if args.includes(BenchPart::Encode) {
        encode::measure(&bench, &mut figures)?;
    }
    if args.includes(BenchPart::Plugins) {
        plugins::measure(&bench, &mut figures)?;
    }
    if args.includes(BenchPart::Plugins)
        || args.includes(BenchPart::Http)
        || args.includes(BenchPart::Growth)
    {
        let binary =
            args.binary.clone().map_or_else(|| repository.build_product(Profile::Release), Ok)?;
        if args.includes(BenchPart::Plugins) {
            plugins::measure_swaps(&bench, &binary, &mut figures)?;
        }
        if args.includes(BenchPart::Http) {
            http::measure(&bench, &binary, &mut figures)?;
        }
        if args.includes(BenchPart::Growth) {
            growth::measure(&bench, &binary, &mut figures)?;
        }
    }
    let targets = targets::evaluate(&figures);
    let machine = machine::line(&start);
    let into =
        if args.part.is_none() { repository.root().join("docs") } else { bench.folder.clone() };
    let page = page::render(&args.command(), &machine, &args.cores(), &figures, &targets);
    let json = serde_json::json!({ "command": args.command(), "machine": machine, "targets": targets, "figures": figures });
    write(&into.join("benchmarks.md"), &page)?;
    write(
        &into.join("benchmarks.json"),
        &(serde_json::to_string_pretty(&json).context("cannot print the figures")? + "\n"),
    )?;
    println!("\n{page}\nwritten to {} as benchmarks.md and benchmarks.json", into.display());
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
