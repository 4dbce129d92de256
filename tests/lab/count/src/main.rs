//! Work to be counted, instruction by instruction, by callgrind: `yearbook-count WORK` prepares the
//! work, does it once, and then once more between [`counting_begins`] and [`counting_ends`], at
//! which callgrind forgets and writes down what it counted. So neither preparation nor what is done
//! at first need counts. `yearbook-count list` prints each work with its units. Owns what is
//! counted; `cargo xtask count` owns counting and what was recorded.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a measuring program, not the product"
)]

mod read;

/// Something to count.
struct Workload {
    name: &'static str,
    /// Divisor of the count: rows, or requests.
    units: u64,
    run: Box<dyn Fn()>,
}

/// A place at which callgrind forgets what it counted. What stands in it keeps it apart from the
/// other place in the program.
#[inline(never)]
fn counting_begins() {
    std::hint::black_box("begins");
}

/// A place at which callgrind writes down what it counted.
#[inline(never)]
fn counting_ends() {
    std::hint::black_box("ends");
}

/// Does `work` so that it counts.
fn count<T>(work: impl FnOnce() -> T) {
    counting_begins();
    std::hint::black_box(work());
    counting_ends();
}

fn main() {
    let works = read::works();
    let name = std::env::args().nth(1).unwrap_or_default();
    if name == "list" {
        works.iter().for_each(|work| println!("{}\t{}", work.name, work.units));
        return;
    }
    let work = works.iter().find(|work| work.name == name);
    (work.unwrap_or_else(|| panic!("there is no work `{name}`")).run)();
}
