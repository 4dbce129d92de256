//! Encoding alone: every format and table, by arrow-rs's own writers, by our encoders natively and
//! in the sandbox, and by pyarrow, polars and DuckDB, in one run and in turn, so that a noisy
//! machine disturbs all alike. Prints a measurement for each peer, format and table, after a line
//! of dashes; `cargo xtask bench encode` makes a table of them. Every output is read back and
//! compared once. What is timed leaves as a response does, in chunks that the client owns and lets
//! go: memory that grows with the output would be most of what is measured. Not a test: it cannot
//! fail for being slow.
//!
//! Arguments that name formats or tables leave the others out (`cargo bench --package
//! yearbook-lab --bench encode -- csv long`). Variables: `YEARBOOK_PEERS_PYTHON`, an interpreter
//! that has the peers (without it they are left out), and `YEARBOOK_BENCH_RUNS`, counted runs of
//! each (default 5, after one that is not counted).

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark's own program")]

use std::time::Instant;

use serde_json::{Value, json};

#[path = "encode/arrow_rs.rs"]
mod arrow_rs;
#[path = "encode/client.rs"]
mod client;
#[path = "encode/ours.rs"]
mod ours;
#[path = "encode/peers.rs"]
mod peers;
#[path = "encode/tables.rs"]
mod tables;

use client::{ChunkSink, ChunkedWriter, SocketSink};
use ours::YearbookEncoders;
use peers::PeerEncoders;
use tables::{BenchTable, DICTIONARIES};

/// The allocator of the product.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Formats, each with an option where it is not the format as it comes: `FORMAT.OPTION=VALUE`.
const FORMATS: [&str; 6] = ["csv", "json", "arrow", DICTIONARIES, "parquet", "geojson"];

/// The encoders, in the order of the columns; the first four are in this process.
const CONTESTANTS: [&str; 7] =
    ["arrow-rs", "native", "sandbox", "sandbox x2", "pyarrow", "polars", "duckdb"];

/// Bytes that one timed run makes at least, so that a table of 100 rows is not lost in the clock's
/// noise.
const RUN_BYTES: usize = 4 << 20;

/// Seconds and bytes of one encoding, or why there is none.
type Measured = Result<(f64, usize), String>;

fn main() {
    // `cargo bench` says so; `cargo test --all-targets` only wants to know that this compiles.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let runs: usize = std::env::var("YEARBOOK_BENCH_RUNS").map_or(5, |runs| runs.parse().unwrap());
    let python = std::env::var_os("YEARBOOK_PEERS_PYTHON");
    let contestants = if python.is_some() { &CONTESTANTS[..] } else { &CONTESTANTS[..4] };
    let ours = YearbookEncoders::load();
    println!("---");
    for (name, make) in selected(&tables::ALL, |(name, _)| *name) {
        let input = make();
        let mut peers = python.as_ref().map(|python| PeerEncoders::start(python, &input));
        for format in selected(&FORMATS, |format| *format) {
            if !input.is_encoded_as(format) {
                continue;
            }
            let mut contest =
                Contest { format, input: &input, ours: &ours, peers: peers.as_mut(), times: 1 };
            for (who, results) in contestants.iter().zip(contest.run(contestants, runs)) {
                println!("{}", report(&format!("{format} {name}"), input.rows, who, results));
            }
        }
    }
}

/// Returns the ones that arguments name, or all if they name none.
fn selected<T: Copy>(all: &[T], name: impl Fn(&T) -> &'static str) -> Vec<T> {
    let is_named = |one: &&T| std::env::args().any(|argument| argument == name(one));
    let named: Vec<T> = all.iter().filter(is_named).copied().collect();
    if named.is_empty() { all.to_vec() } else { named }
}

struct Contest<'a> {
    format: &'static str,
    input: &'a BenchTable,
    ours: &'a YearbookEncoders,
    peers: Option<&'a mut PeerEncoders>,
    /// Encodings a run.
    times: usize,
}

impl Contest<'_> {
    /// Results of each contestant; they take turns.
    fn run(&mut self, contestants: &[&str], runs: usize) -> Vec<Vec<Measured>> {
        for who in contestants {
            self.check(who);
        }
        let mut results: Vec<Vec<Measured>> = contestants.iter().map(|_| Vec::new()).collect();
        for run in 0..=runs {
            for (who, results) in contestants.iter().zip(&mut results) {
                let measured = self.once(who);
                if run > 0 {
                    results.push(measured);
                }
            }
        }
        results
    }

    /// One run, not timed, whose output is read back. Says how many encodings a run needs.
    fn check(&mut self, who: &str) {
        if self.lacks_format(who) {
            return;
        }
        let is_ours = CONTESTANTS[..4].contains(&who);
        let output = if is_ours { self.encode(who, 1, Vec::new()).1 } else { Vec::new() };
        if who == "arrow-rs" {
            self.times = (RUN_BYTES / output.len()).max(1);
        }
        if let Some(peers) = &mut self.peers {
            peers.check(self.format, who, &output);
        }
    }

    fn once(&mut self, who: &str) -> Measured {
        if self.lacks_format(who) {
            return Err("writes no GeoJSON".to_owned());
        }
        if !CONTESTANTS[..4].contains(&who) {
            return self.peers.as_mut().unwrap().measured(self.format, who, self.times);
        }
        let (seconds, socket) = self.encode(who, self.times, SocketSink::default());
        Ok((seconds, socket.bytes / self.times))
    }

    /// Returns true for arrow-rs where it has no writer. The other peers say so themselves.
    fn lacks_format(&self, who: &str) -> bool {
        who == "arrow-rs" && self.format == "geojson"
    }

    /// Encodes so many times to `client`, and gives it back, after the seconds of one encoding.
    fn encode<C: ChunkSink + 'static>(&self, who: &str, times: usize, mut client: C) -> (f64, C) {
        if who == "native" {
            let seconds = ours::native(self.format, &self.input.tables, times, &mut client);
            return (seconds, client);
        }
        let start = Instant::now();
        for _ in 0..times {
            client = match who {
                "arrow-rs" => {
                    let mut chunks = ChunkedWriter::new(&mut client);
                    arrow_rs::encode(self.format, &self.input.plain, &mut chunks);
                    chunks.finish();
                    client
                }
                "sandbox" => self.ours.sandboxed(self.format, self.input, 1, client),
                _ => self.ours.sandboxed(self.format, self.input, 2, client),
            };
        }
        (start.elapsed().as_secs_f64() / times as f64, client)
    }
}

/// A measurement as the lab reads it.
fn report(case: &str, rows: usize, who: &str, results: Vec<Measured>) -> Value {
    let results: Result<Vec<(f64, usize)>, String> = results.into_iter().collect();
    match results {
        Err(reason) => json!({ "part": "encode", "case": case, "who": who, "cannot": reason }),
        Ok(mut results) => {
            results.sort_by(|a, b| a.0.total_cmp(&b.0));
            let (seconds, bytes) = results[results.len() / 2];
            let values = json!({
                "rows": rows,
                "seconds": seconds,
                "least_seconds": results[0].0,
                "most_seconds": results[results.len() - 1].0,
                "megabytes": bytes as f64 / 1e6,
                "million_rows_a_second": rows as f64 / seconds / 1e6,
            });
            json!({ "part": "encode", "case": case, "who": who, "values": values })
        }
    }
}
