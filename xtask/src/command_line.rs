//! `cargo xtask`: everything that is automated here, in Rust. Owns the command line; each command
//! stands in a file of its name. Never linked into the product.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

mod bench;
mod command;
mod count;
mod debian;
mod demo;
mod fleet;
mod fuzz;
mod generate;
mod hostile;
mod metrics;
mod node;
mod packages;
mod plugins;
mod process_suites;
mod python;
mod repository;
mod scale;
mod server;
mod soak;
mod spec;
mod test;
mod toolchain;

use repository::Repository;

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
    /// Build the built-in plugins into plugins/dist
    Plugins,
    /// Publish the demo datasets, serve them and print requests to try
    Demo {
        /// Address to serve on
        #[arg(long, default_value = "127.0.0.1:8080")]
        listen: SocketAddr,
        /// Where the demo keeps its database and files
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
    /// Damage what strangers may hand us, longer than the tests do; what fails is kept for them
    Fuzz {
        /// What to fuzz; each in turn when none is named
        target: Option<fuzz::FuzzTarget>,
        /// How long, for each
        #[arg(long, default_value_t = 60)]
        seconds: u64,
        /// Where to begin [default: the clock]
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
    /// Count instructions of encoders, planning and scanning, and compare them with the recorded
    /// ones
    Count {
        /// Record what moved, for this reason
        #[arg(long, value_name = "REASON")]
        accept: Option<String>,
    },
    /// Measure beside peers, and write docs/benchmarks.md and .json
    Bench(bench::BenchArgs),
    /// Have a fleet go through every fault under load, and write docs/reliability.md
    Fleet(fleet::FleetArgs),
    /// Have one client attack while another reads, and write docs/hostile-clients.md
    Hostile(hostile::HostileArgs),
    /// Send mixed traffic for a while and see whether memory, descriptors and instances come back
    Soak(soak::SoakArgs),
    /// Measure what requests and many datasets cost, and write docs/scale.md
    Scale(scale::ScaleArgs),
    /// Make synthetic input
    #[command(subcommand)]
    Generate(Generate),
}

#[derive(Debug, Subcommand)]
enum Generate {
    /// A data package with any number of made-up rows, the same at every run
    Rows {
        /// Number of rows
        rows: u64,
        /// What the table looks like
        #[arg(long)]
        shape: generate::TableShape,
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

fn main() -> ExitCode {
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
        Task::Count { accept } => count::run(&repository, accept.as_deref()),
        Task::Bench(wanted) => bench::run(&repository, &wanted),
        Task::Soak(wanted) => soak::run(&repository, wanted),
        Task::Hostile(wanted) => hostile::run(&repository, wanted),
        Task::Fleet(wanted) => fleet::run(&repository, wanted),
        Task::Scale(wanted) => scale::run(&repository, &wanted),
        Task::Generate(Generate::Datasets { datasets, rows, directory }) => {
            generate::datasets(datasets, rows, &directory)
        }
        Task::Generate(Generate::Rows { rows, shape, gzip, directory }) => {
            generate::rows(rows, shape, gzip, &directory)
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
