//! `cargo xtask bench`: measures the release build beside its peers. Owns the order of the parts
//! and where results go; the files beneath measure. Nothing here can fail for being slow, only for
//! wrong answers.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};
use askama::Template;
use clap::ValueEnum as _;
use yearbook_xtask::repository::{Profile, Repository};
use yearbook_xtask::{command, tools};

use crate::load;
use crate::machine::{self, CoreAssignment};
use crate::measurements::{Measurement, Measurements};
use crate::page::{self, PageHead};
use crate::product::{self, Product};

mod adapters;
mod cases;
mod clients;
mod equivalence;
mod exports;
mod features;
mod formats;
mod growth;
mod inputs;
mod peers;
mod requests;
mod selections;
mod statistics;
mod swaps;
mod tables;
mod targets;
mod transforms;

use growth::PUBLISH_MEMORY_BYTES;
use peers::{PeerServers, YEARBOOK};
use targets::PerformanceTarget;

/// Parts that can be measured alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum BenchPart {
    /// Every encoder without HTTP
    Encode,
    /// Fresh instances, the crossing into guests, loading, and how soon an installed release serves
    Plugins,
    /// Requests and exports, Yearbook and its peers
    Http,
    /// Series, newest rows, values and boxes, Yearbook and its peers
    Selections,
    /// Publications and exports of 0.1 to 10 million rows, and 32 exports at once
    Growth,
    /// A million rows published as CSV and as SDMX-CSV
    Inputs,
    /// An idle transform beside none, and the built-in ones beside pandas and DuckDB
    Transforms,
    /// Documents of adapters, from memory and made for each request
    Adapters,
    /// Features as GeoJSON, Yearbook beside pygeoapi and tipg over PostGIS
    Features,
    /// GeoJSON, GeoParquet, XLSX, NDJSON, SDMX-CSV and SVG, Yearbook beside writers of each
    Formats,
    /// A table as a data frame, by the clients in Python and R and without them
    Clients,
    /// Observations as SDMX-ML, Yearbook beside sdmx1 and pysdmx
    Statistics,
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
    fn cores(&self) -> CoreAssignment {
        if self.apart { machine::halves() } else { machine::shared() }
    }

    /// The command that was given.
    fn command(&self) -> String {
        let part = self.part.and_then(|part| part.to_possible_value());
        let part = part.map(|part| format!(" {}", part.get_name())).unwrap_or_default();
        let huge = if self.huge { " --huge" } else { "" };
        let apart = if self.apart { " --apart" } else { "" };
        let Self { seconds, runs, .. } = self;
        format!("cargo xtask bench{part} --seconds {seconds} --runs {runs}{huge}{apart}")
    }
}

/// Everything that the parts need.
struct Bench<'a> {
    repository: &'a Repository,
    args: &'a BenchArgs,
    /// An interpreter with the peers of [`peers`].
    python: PathBuf,
    /// For data, logs and results; emptied first.
    folder: PathBuf,
}

impl Bench<'_> {
    /// A script of `tests/lab/peers`, to be run to its end.
    fn script(&self, name: &str) -> Command {
        let mut python = Command::new(&self.python);
        python.arg(self.repository.root().join("tests/lab/peers").join(name));
        println!("-- {}", command::display(&python));
        python
    }
}

/// Measures a binary.
type MeasureBinary = fn(&Bench<'_>, &Path, &mut Measurements) -> Result<()>;

#[derive(Template)]
#[template(path = "benchmarks.txt")]
struct BenchPage<'a> {
    page: PageHead<'a>,
    targets: &'a [PerformanceTarget],
    /// Number of targets that are met.
    met: usize,
    cores: CoreAssignment,
}

/// Measures, and writes the figures as Markdown and as JSON.
pub(crate) fn run(repository: &Repository, args: &BenchArgs) -> Result<()> {
    load::ensure_installed()?;
    let machine = machine::describe(repository)?;
    let folder = repository.target().join("xtask").join("bench");
    product::empty(&folder)?;
    let python =
        tools::python_environment(repository, "peers", "tests/lab/peers/requirements.txt")?;
    let bench = Bench { repository, args, python, folder };
    let mut figures = Measurements::default();
    let of_guests = args.includes(BenchPart::Encode) || args.includes(BenchPart::Plugins);
    if of_guests || args.binary.is_none() {
        repository.build_plugins()?;
    }
    if args.includes(BenchPart::Encode) {
        run_cargo_bench(&bench, "encode", &mut figures)?;
    }
    if args.includes(BenchPart::Plugins) {
        run_cargo_bench(&bench, "plugins", &mut figures)?;
    }
    let of_binary: [(BenchPart, MeasureBinary); 11] = [
        (BenchPart::Plugins, swaps::measure),
        (BenchPart::Http, measure_http),
        (BenchPart::Selections, measure_selections),
        (BenchPart::Growth, growth::measure),
        (BenchPart::Inputs, inputs::measure),
        (BenchPart::Transforms, transforms::measure),
        (BenchPart::Adapters, adapters::measure),
        (BenchPart::Features, features::measure),
        (BenchPart::Formats, formats::measure),
        (BenchPart::Clients, clients::measure),
        (BenchPart::Statistics, statistics::measure),
    ];
    if args.part != Some(BenchPart::Encode) {
        let binary =
            args.binary.clone().map_or_else(|| repository.build_product(Profile::Release), Ok)?;
        for (_, measure) in of_binary.into_iter().filter(|(part, _)| args.includes(*part)) {
            measure(&bench, &binary, &mut figures)?;
        }
    }
    write_results(&bench, &machine, &figures)
}

/// Yearbook and its peers over HTTP: the same tables for all, the same rows from all, then requests
/// under load and whole tables.
fn measure_http(bench: &Bench<'_>, binary: &Path, figures: &mut Measurements) -> Result<()> {
    let served =
        ServedTables::new(bench, binary, "data", &tables::packages(bench)?, &tables::NAMES)?;
    {
        let all = served.start(bench, &bench.args.cores().server)?;
        let mut cases = cases::requests(&all)?;
        let found = equivalence::check(bench, &served.exported, &cases)?;
        cases.extend(cases::minimal_requests(&all)?);
        requests::measure(bench, "requests", &all, &cases, &found, figures)?;
    }
    let all = served.start(bench, &machine::all())?;
    let cases = cases::exports(&all)?;
    let found = equivalence::check(bench, &served.exported, &cases)?;
    exports::measure(bench.args.runs, &all, &cases, &found, figures)
}

/// Yearbook and its peers, asked for selections.
fn measure_selections(bench: &Bench<'_>, binary: &Path, figures: &mut Measurements) -> Result<()> {
    let packages = tables::selected_packages(bench)?;
    let served = ServedTables::new(bench, binary, "selecting", &packages, &tables::SELECTED)?;
    let all = served.start(bench, &bench.args.cores().server)?;
    let cases = selections::cases(&all)?;
    let found = equivalence::check(bench, &served.exported, &cases)?;
    requests::measure(bench, "selections", &all, &cases, &found, figures)
}

/// Tables that Yearbook has published and its peers have copies of.
struct ServedTables<'a> {
    product: Product,
    key: String,
    exported: PathBuf,
    names: &'a [&'a str],
}

impl<'a> ServedTables<'a> {
    /// Publishes `packages` into `folder`, and exports the tables called `names` for the peers.
    fn new(
        bench: &Bench<'_>,
        binary: &Path,
        folder: &str,
        packages: &[PathBuf],
        names: &'a [&'a str],
    ) -> Result<Self> {
        let exported = bench.folder.join("tables").join(folder);
        let product = Product::new(binary, bench.folder.join(folder))?;
        product.publish(packages)?;
        let key = product.key("enterprise")?;
        product::empty(&exported)?;
        {
            let server = product.serve(&machine::all(), true)?;
            let mut prepare = bench.script("prepare.py");
            prepare.args(["--base", &server.process.base]).arg("--out").arg(&exported).args(names);
            command::run(prepare.env("YEARBOOK_KEY", &key))?;
        }
        Ok(Self { product, key, exported, names })
    }

    fn start(&self, bench: &Bench<'_>, cores: &str) -> Result<PeerServers> {
        PeerServers::start(bench, &self.product, &self.key, &self.exported, self.names, cores)
    }
}

/// Runs a benchmark of this package, which prints a line of dashes and then a measurement a line.
fn run_cargo_bench(bench: &Bench<'_>, name: &str, figures: &mut Measurements) -> Result<()> {
    let mut run = bench.repository.cargo();
    run.args(["bench", "--workspace", "--bench", name]);
    run.env("YEARBOOK_PEERS_PYTHON", &bench.python)
        .env("YEARBOOK_BENCH_RUNS", bench.args.runs.to_string());
    println!("-- {name}: some minutes; nothing is printed until it is done");
    let printed = command::output(&mut run)?;
    let (_, lines) = printed
        .split_once("---\n")
        .with_context(|| format!("the benchmark `{name}` printed no results"))?;
    for line in lines.lines() {
        let measurement: Measurement = serde_json::from_str(line)
            .with_context(|| format!("the benchmark `{name}` printed {line:?}"))?;
        figures.push(measurement);
    }
    Ok(())
}

fn write_results(bench: &Bench<'_>, machine: &str, figures: &Measurements) -> Result<()> {
    let targets = targets::evaluate(figures)?;
    let command = bench.args.command();
    let json = serde_json::json!({
        "command": command, "machine": machine, "targets": targets, "figures": figures,
    });
    let page = BenchPage {
        page: PageHead { command: &command, machine, figures },
        targets: &targets,
        met: targets.iter().filter(|target| target.met).count(),
        cores: bench.args.cores(),
    };
    println!("\n{}", page::render(&page)?);
    let into = match bench.args.part {
        None => bench.repository.root().join("docs"),
        Some(_) => bench.folder.clone(),
    };
    page::replace(&into.join("benchmarks.md"), &page)?;
    let path = into.join("benchmarks.json");
    let json = serde_json::to_string_pretty(&json).context("cannot print the figures")?;
    fs::write(&path, json + "\n").with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn a_cell_says_what_a_peer_cannot_do_and_a_part_that_was_not_measured_has_no_section() {
        let mut figures = Measurements::default();
        figures.add("exports", "long, JSON", YEARBOOK, [("seconds", 1.0)]);
        figures.add_unsupported("exports", "long, JSON", "abacus", "has no memory");
        let page = BenchPage {
            page: PageHead { command: "bench", machine: "", figures: &figures },
            targets: &[],
            met: 0,
            cores: machine::shared(),
        };
        let page = page::render(&page).unwrap();
        assert!(page.contains("| long, JSON | Yearbook | 1.00 |  |"), "{page}");
        assert!(page.contains("| long, JSON | abacus | has no memory |  |"), "{page}");
        assert!(page.contains("\n\n## Whole tables\n") && !page.contains("## Encoding"), "{page}");
    }
}
