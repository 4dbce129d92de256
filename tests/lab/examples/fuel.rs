//! Instructions a row that each built-in encoder takes in the sandbox, counted as fuel: one line of
//! name, tab and number for each encoder and table. `cargo xtask count` compares them with what was
//! recorded. Not a test: it checks nothing.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a measuring program, not the product"
)]

use std::sync::Arc;

use arrow::compute::concat_batches;
use yearbook_sandbox::{Limits, PluginEncoder, Sandbox};
use yearbook_tests::components::component;
use yearbook_workers::Workers;

#[expect(
    dead_code,
    reason = "the sandbox takes only one of the forms in which the benchmark makes its tables"
)]
#[path = "../benches/encode/tables.rs"]
mod tables;

/// Time is no limit here: an engine that counts is slower, and this program need not be optimised.
const CPU_MS: u64 = 600_000;

fn main() {
    let limits = Limits { cpu_ms_per_call: CPU_MS, wall_ms_per_call: CPU_MS, ..Limits::default() };
    let sandbox = Sandbox::new_counting_instructions(limits, Workers::new(1)).unwrap();
    let guests: Vec<Arc<PluginEncoder>> = ["csv", "json", "arrow", "parquet"]
        .into_iter()
        .map(|name| sandbox.load_encoder(&component(name)).unwrap())
        .collect();
    for (name, input) in [
        ("long", tables::long(65_536)),
        ("wide", tables::wide(8_192)),
        ("spatial", tables::spatial(800)),
        ("small", tables::long(100)),
    ] {
        for guest in &guests {
            // A trial hands over what it is given; a response joins what an encoder wants joined.
            let joined = guest
                .description()
                .part_rows
                .map(|_| concat_batches(&input.schema, &input.batches).unwrap());
            let batches = joined.as_ref().map_or(input.batches.as_slice(), std::slice::from_ref);
            let trial = guest.trial(&input.schema, &[], batches, false).unwrap();
            println!(
                "sandbox {} {name}\t{:.3}",
                guest.description().format,
                trial.usage.instructions as f64 / input.rows as f64
            );
        }
    }
}
