//! Work to be counted, instruction by instruction, by callgrind: `yearbook-count WORK ROUNDS`
//! prepares the work, does it `ROUNDS` times and ends at once. What one round costs is the
//! difference between two runs, so that neither preparation nor start-up counts. `yearbook-count
//! list` prints each work with its rows a round. Owns what is counted; `cargo xtask count` owns
//! counting and what was recorded.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a measuring program, not the product"
)]

mod encode;
mod read;
#[expect(
    dead_code,
    reason = "the native works take only one of the forms in which the benchmark makes its tables"
)]
#[path = "../../benches/encode/tables.rs"]
mod tables;

/// Something to count.
struct Workload {
    name: String,
    /// Divisor of one round: rows, or requests.
    units: u64,
    /// Prepares `prepared` rounds and does `rounds` of them.
    run: Box<dyn Fn(u64)>,
}

/// Rounds that every run prepares, so that runs differ only in what they do.
const ROUNDS: u64 = 4;

fn main() {
    let works: Vec<Workload> = encode::works().into_iter().chain(read::works()).collect();
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_default();
    if name == "list" {
        works.iter().for_each(|work| println!("{}\t{}\t{ROUNDS}", work.name, work.units));
        return;
    }
    let rounds: u64 = arguments.next().and_then(|rounds| rounds.parse().ok()).unwrap();
    assert!(rounds <= ROUNDS, "{ROUNDS} rounds are prepared");
    let work = works
        .iter()
        .find(|work| work.name == name)
        .unwrap_or_else(|| panic!("there is no work `{name}`"));
    (work.run)(rounds);
    // Without taking anything apart: that would differ with what the rounds used up.
    std::process::exit(0);
}
