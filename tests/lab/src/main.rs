//! The programs that measure, behind `cargo xtask bench`, `scale`, `soak`, `count`,
//! `fleet` and `hostile`. Owns their command line; a module has each. Never linked into the
//! product.

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};
use yearbook_xtask::checks::report::CheckCounts;
use yearbook_xtask::repository::Repository;

mod bench;
mod count;
mod http;
mod load;
mod machine;
mod measurements;
mod page;
mod process;
mod product;
mod scale;
mod soak;
mod suite;

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
    Fleet(suite::SuiteArgs),
    /// Have one client attack while another reads, and write docs/hostile-clients.md
    Hostile(suite::SuiteArgs),
    /// Send mixed traffic for a while and see whether memory, descriptors and instances come back
    Soak(soak::SoakArgs),
    /// Measure what requests and many datasets cost, and write docs/scale.md
    Scale(scale::ScaleArgs),
}

impl LabCommand {
    fn run(self, repository: &Repository) -> Result<bool> {
        match self {
            Self::Count(args) if args.check => Ok(report("count", count::check(repository)?)),
            Self::Soak(args) if args.check => Ok(report("soak", soak::check(repository)?)),
            Self::Fleet(args) if args.check => Ok(report("fleet", suite::FLEET.check(repository)?)),
            Self::Hostile(args) if args.check => {
                Ok(report("hostile", suite::HOSTILE.check(repository)?))
            }
            Self::Count(args) => count::run(repository, args.accept.as_deref()).map(|()| true),
            Self::Soak(args) => soak::run(repository, args).map(|()| true),
            Self::Fleet(args) => suite::FLEET.measure(repository, args).map(|()| true),
            Self::Hostile(args) => suite::HOSTILE.measure(repository, args).map(|()| true),
            Self::Bench(args) => bench::run(repository, &args).map(|()| true),
            Self::Scale(args) => scale::run(repository, &args).map(|()| true),
        }
    }
}

/// Prints the last line, which `cargo xtask test` reads; whether nothing failed.
fn report(name: &str, CheckCounts { passed, failed }: CheckCounts) -> bool {
    println!("{name}: {passed} passed, {failed} failed");
    failed == 0
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
