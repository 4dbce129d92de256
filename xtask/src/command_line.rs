//! The command line of `cargo xtask`: commands, arguments, and which module runs each. Owns no
//! command itself.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};
use yearbook_generate::TableShape;

use crate::repository::Repository;
use crate::{demo, fuzz, lab, release, spec, test, tidy};

/// Builds, shows, tests and measures Yearbook.
#[derive(Debug, Parser)]
#[command(
    name = "cargo xtask",
    bin_name = "cargo xtask",
    max_term_width = 100,
    arg_required_else_help = true
)]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Build all plugins, built in and to install, into plugins/dist
    Plugins,
    /// Publish the demo datasets, serve them and print requests to try
    Demo {
        /// Address to serve on
        #[arg(long, default_value = "127.0.0.1:8080")]
        listen: SocketAddr,
        /// Folder for the demo's database and files
        #[arg(long, default_value = "yearbook-data")]
        data_dir: PathBuf,
        /// Build, publish and make keys, but do not serve
        #[arg(long)]
        no_serve: bool,
        /// Use a debug build: minutes sooner, slower to answer
        #[arg(long)]
        debug: bool,
    },
    /// Check formatting, lints, licences, tests and what other readers make of the bytes
    Test {
        /// Only formatting, plugins and the workspace's tests
        #[arg(long)]
        quick: bool,
        /// Only one of the steps in which other programs use a running server
        #[arg(long, conflicts_with = "quick")]
        only: Option<test::ServedStep>,
    },
    /// Fuzz inputs for longer than the tests do, and keep those that fail for the tests
    Fuzz {
        /// Target; without one, each in turn
        target: Option<fuzz::FuzzTarget>,
        /// Seconds for each target
        #[arg(long, default_value_t = 60)]
        seconds: u64,
        /// Seed to begin with [default: the clock]
        #[arg(long)]
        seed: Option<u64>,
        /// Keep inputs that reach new code and vary those, with libFuzzer; for query, cursor,
        /// package and snapshot
        #[arg(long, conflicts_with = "seed")]
        guided: bool,
    },
    /// List the rules of the specification that no test proves yet; fail where docs/spec is
    /// wrong
    Spec,
    /// Check the house rules that no compiler checks: cited paths and rules, words, widths,
    /// dependencies
    Tidy {
        /// Bring the generated parts of pages up to date first
        #[arg(long)]
        write: bool,
    },
    /// Count instructions of encoders, planning and scanning, and compare them with the recorded
    /// ones
    #[command(disable_help_flag = true)]
    Count(LabArgs),
    /// Measure beside peers, and write docs/benchmarks.md and .json
    #[command(disable_help_flag = true)]
    Bench(LabArgs),
    /// Have a fleet go through every fault under load, and write docs/reliability.md
    #[command(disable_help_flag = true)]
    Fleet(LabArgs),
    /// Have one client attack while another reads, and write docs/hostile-clients.md
    #[command(disable_help_flag = true)]
    Hostile(LabArgs),
    /// Send mixed traffic for a while and see whether memory, descriptors and instances come back
    #[command(disable_help_flag = true)]
    Soak(LabArgs),
    /// Measure what requests and many datasets cost, and write docs/scale.md
    #[command(disable_help_flag = true)]
    Scale(LabArgs),
    /// Prepare a release: program, plugins, clients, bill of materials, digests and notes
    Release {
        /// Folder to make [default: one of cargo's]
        #[arg(long, value_name = "FOLDER")]
        out: Option<PathBuf>,
        /// Take what is not committed, and notes without a date
        #[arg(long)]
        draft: bool,
    },
    /// Make synthetic input
    #[command(subcommand)]
    Generate(Generate),
}

/// Arguments that the program of `tests/lab` reads.
#[derive(Debug, Args)]
struct LabArgs {
    /// As the command's own --help lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

#[derive(Debug, Subcommand)]
enum Generate {
    /// A data package with any number of made-up rows, the same at every run
    Rows {
        /// Number of rows
        rows: u64,
        /// Shape of the table
        #[arg(long, value_parser = shapes())]
        shape: TableShape,
        /// Compress the table with gzip
        #[arg(long)]
        gzip: bool,
        /// Folder to write datapackage.json and the table into
        directory: PathBuf,
    },
    /// Data packages with tables of their own, the same at every run
    Datasets {
        /// Number of datasets
        datasets: u64,
        /// Rows of each
        #[arg(long, default_value_t = 240)]
        rows: u64,
        /// Folder to write a folder for each into
        directory: PathBuf,
    },
}

/// Returns the parser of a shape's name.
fn shapes() -> impl TypedValueParser<Value = TableShape> {
    PossibleValuesParser::new(TableShape::NAMES).try_map(|name| name.parse::<TableShape>())
}

/// Reads the arguments of this process and runs the command.
pub(crate) fn run() -> ExitCode {
    let repository = Repository::discover();
    let result = match Arguments::parse().task {
        Task::Plugins => repository.build_plugins(),
        Task::Demo { listen, data_dir, no_serve, debug } => {
            demo::run(&repository, &demo::DemoArgs { listen, data_dir, no_serve, debug })
        }
        // Nothing is printed after the totals.
        Task::Test { quick, only } => {
            return if test::run(&repository, quick, only) {
                ExitCode::SUCCESS
            } else {
                ExitCode::FAILURE
            };
        }
        Task::Fuzz { target, seconds, guided: true, .. } => {
            fuzz::guided(&repository, target, seconds)
        }
        Task::Fuzz { target, seconds, seed, .. } => fuzz::run(&repository, target, seconds, seed),
        Task::Spec => spec::run(&repository),
        Task::Tidy { write } => {
            let written = if write { tidy::write(&repository) } else { Ok(()) };
            written.and_then(|()| tidy::run(&repository))
        }
        Task::Count(lab) => return run_lab(&repository, "count", &lab),
        Task::Bench(lab) => return run_lab(&repository, "bench", &lab),
        Task::Fleet(lab) => return run_lab(&repository, "fleet", &lab),
        Task::Hostile(lab) => return run_lab(&repository, "hostile", &lab),
        Task::Soak(lab) => return run_lab(&repository, "soak", &lab),
        Task::Scale(lab) => return run_lab(&repository, "scale", &lab),
        Task::Release { out, draft } => release::run(&repository, out, draft),
        Task::Generate(Generate::Datasets { datasets, rows, directory }) => {
            yearbook_generate::datasets(datasets, rows, &directory).map(|()| {
                println!("{datasets} synthetic datasets of {rows} rows: {}", directory.display())
            })
        }
        Task::Generate(Generate::Rows { rows, shape, gzip, directory }) => {
            yearbook_generate::package(rows, shape, gzip, &directory)
                .map(|descriptor| println!("{rows} synthetic rows: {}", descriptor.display()))
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failure(&error),
    }
}

fn run_lab(repository: &Repository, name: &str, lab: &LabArgs) -> ExitCode {
    lab::run(repository, name, &lab.arguments).unwrap_or_else(|error| failure(&error))
}

fn failure(error: &anyhow::Error) -> ExitCode {
    eprintln!("error: {error:#}");
    ExitCode::FAILURE
}
