//! The programs that measure, behind `cargo xtask bench`, `scale`, `inputs`, `soak`, `count`,
//! `fleet` and `hostile`. Owns their command line; a module has each. Never linked into the
//! product.

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};
use yearbook_xtask::repository::Repository;

mod bench;
mod count;
mod http;
mod inputs;
mod machine;
mod measurements;
mod metrics;
mod page;
mod process;
mod process_suites;
mod scale;
mod soak;
mod suites;
mod wrk;

/// Measures Yearbook.
#[derive(Debug, Parser)]
#[command(
    name = "cargo xtask",
    bin_name = "cargo xtask",
    max_term_width = 100,
    arg_required_else_help = true
)]
struct Arguments {
    #[command(subcommand)]
    part: LabCommand,
}

#[derive(Debug, Subcommand)]
enum LabCommand {
    /// Count instructions of encoders, planning and scanning, and compare them with the recorded
    /// ones
    Count(count::CountArgs),
    /// Measure beside peers, and write docs/benchmarks.md and .json
    Bench(bench::BenchArgs),
    /// Have a fleet go through every fault under load, and write docs/reliability.md
    Fleet(suites::fleet::FleetArgs),
    /// Have one client attack while another reads, and write docs/hostile-clients.md
    Hostile(suites::hostile::HostileArgs),
    /// Send mixed traffic for a while and see whether memory, descriptors and instances come back
    Soak(soak::SoakArgs),
    /// Measure what requests and many datasets cost, and write docs/scale.md
    Scale(scale::ScaleArgs),
    /// Publish one table as SDMX-CSV and as CSV, and compare time and memory
    Inputs(inputs::InputsArgs),
}

impl LabCommand {
    fn run(self, repository: &Repository) -> Result<bool> {
        let checked = match self {
            Self::Count(args) if args.check => ("count", count::check(repository)?),
            Self::Soak(args) if args.check => ("soak", soak::check(repository)?),
            Self::Fleet(args) if args.check => ("fleet", suites::fleet::SUITE.check(repository)?),
            Self::Hostile(args) if args.check => {
                ("hostile", suites::hostile::SUITE.check(repository)?)
            }
            Self::Count(args) => {
                return count::run(repository, args.accept.as_deref()).map(|()| true);
            }
            Self::Soak(args) => return soak::run(repository, args).map(|()| true),
            Self::Fleet(args) => {
                return suites::fleet::SUITE
                    .measure(repository, args.seconds, args.debug)
                    .map(|()| true);
            }
            Self::Hostile(args) => {
                return suites::hostile::SUITE
                    .measure(repository, args.seconds, args.debug)
                    .map(|()| true);
            }
            Self::Bench(args) => return bench::run(repository, &args).map(|()| true),
            Self::Scale(args) => return scale::run(repository, &args).map(|()| true),
            Self::Inputs(args) => return inputs::run(repository, &args).map(|()| true),
        };
        // The last line, which `cargo xtask test` reads.
        let (name, counts) = checked;
        println!("{name}: {} passed, {} failed", counts.passed, counts.failed);
        Ok(counts.failed == 0)
    }
}

fn main() -> ExitCode {
    match Arguments::parse().part.run(&Repository::discover()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
