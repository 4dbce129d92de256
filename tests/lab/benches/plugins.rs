//! The cost of plugins beside encoding: a fresh instance, the crossing of rows into a guest, and
//! loading. Prints a measurement a case after a line of dashes; `cargo xtask bench plugins` makes
//! a table of them. Not a test: it cannot fail for being slow.
//!
//! Variable: `YEARBOOK_BENCH_RUNS`, counted runs of each (default 5, after one that is not
//! counted).

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark's own program")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow::array::{ArrayRef, DictionaryArray, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::Int32Type;
use futures::StreamExt;
use futures::future::join_all;
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use yearbook_sandbox::{EncodedBody, Limits, PluginEncoder, Sandbox, SandboxConfig};
use yearbook_shares::CallerShare;
use yearbook_tests::components::component;
use yearbook_workers::Workers;

const FORMATS: [&str; 4] = ["csv", "json", "arrow", "parquet"];

/// Responses that a percentile is taken of, in each run.
const RESPONSES: usize = 1_024;

/// Rows of a batch, as the store makes them, and batches.
const ROWS: usize = 8_192;
const BATCHES: usize = 24;

fn main() {
    // `cargo bench` says so; `cargo test --all-targets` only wants to know that this compiles.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let runs: usize = std::env::var("YEARBOOK_BENCH_RUNS").map_or(5, |runs| runs.parse().unwrap());
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    println!("---");
    for format in FORMATS {
        instances(&runtime, format, runs);
    }
    crossing(&runtime, runs);
    for format in FORMATS {
        loading(format, runs);
    }
}

/// Prints a measurement as the lab reads it.
fn print(case: &str, values: &Value) {
    println!("{}", json!({"part": "plugins", "case": case, "who": "Yearbook", "values": values}));
}

/// Responses without a row: an instance, its calls, and clearing it away.
fn instances(runtime: &Runtime, format: &str, runs: usize) {
    let guest = sandbox(None).load_encoder(&component(format)).unwrap();
    let schema = batch(0).schema();
    for together in [1, 32] {
        let mut times: Vec<Duration> = Vec::new();
        for run in 0..=runs {
            let one = || async {
                let mut times = Vec::with_capacity(RESPONSES / together);
                for _ in 0..RESPONSES / together {
                    let begun = Instant::now();
                    let encoded = guest
                        .encode(
                            &CallerShare::default(),
                            Arc::clone(&schema),
                            &[],
                            futures::stream::empty().boxed(),
                        )
                        .await
                        .unwrap();
                    assert!(matches!(encoded, EncodedBody::Whole(_)));
                    times.push(begun.elapsed());
                }
                times
            };
            let all = runtime.block_on(join_all((0..together).map(|_| one())));
            if run > 0 {
                times.extend(all.into_iter().flatten());
            }
        }
        times.sort_unstable();
        let at = |share: usize| times[times.len() * share / 100].as_secs_f64() * 1e6;
        let case = format!("fresh instance, {format}, {together} at once");
        print(&case, &json!({"p50_us": at(50), "p99_us": at(99)}));
    }
}

/// The crossing alone, by a guest that looks at no cell: converting, copying into its memory, and
/// the calls.
fn crossing(runtime: &Runtime, runs: usize) {
    // One worker, so that times are processor time.
    let limits = Limits { parallel_parts: 1, cpu_ms_per_call: 60_000, ..Limits::default() };
    let sandbox =
        Sandbox::new(&SandboxConfig { limits, ..SandboxConfig::default() }, Workers::new(1))
            .unwrap();
    // The first looks at no cell.
    let names = ["evil"].into_iter().chain(FORMATS);
    let guests = names.map(|name| (name, sandbox.load_encoder(&component(name)).unwrap()));
    let mut guests: Vec<_> = guests.map(|(name, guest)| (name, guest, Vec::new())).collect();
    let batches: Vec<RecordBatch> = (0..BATCHES).map(|_| batch(ROWS)).collect();
    for run in 0..=runs {
        for (_, guest, times) in &mut guests {
            let time = encode(runtime, guest, &batches);
            if run > 0 {
                times.push(time);
            }
        }
    }
    let mut alone = None;
    for (name, _, mut times) in guests {
        times.sort_by(f64::total_cmp);
        let seconds = times[times.len() / 2];
        let rate = (ROWS * BATCHES) as f64 / seconds / 1e6;
        if let Some(alone) = alone {
            let values =
                json!({"million_rows_a_second": rate, "crossing_percent": 100.0 * alone / seconds});
            print(&format!("crossing in {name}"), &values);
        } else {
            print("crossing alone", &json!({"million_rows_a_second": rate}));
            alone = Some(seconds);
        }
    }
}

/// Compiling, and loading what was compiled.
fn loading(format: &str, runs: usize) {
    let folder = tempfile::tempdir().unwrap();
    let bytes = component(format);
    let mut cached = Vec::new();
    let mut compiled = Duration::ZERO;
    for run in 0..=runs {
        let sandbox = sandbox(Some(folder.path().join("cache")));
        let counts = sandbox.load(&bytes).unwrap().metrics().counts();
        if run == 0 {
            compiled = counts.compiled.time;
        } else {
            assert_eq!(counts.cached.count, 1);
            cached.push(counts.cached.time.as_secs_f64() * 1e3);
        }
    }
    cached.sort_by(f64::total_cmp);
    let (case, compiled) = (format!("load {format}"), compiled.as_secs_f64() * 1e3);
    print(&case, &json!({"compiled_ms": compiled, "cached_ms": cached[cached.len() / 2]}));
}

fn sandbox(cache: Option<std::path::PathBuf>) -> Arc<Sandbox> {
    Sandbox::new(
        &SandboxConfig { limits: Limits::default(), cache, ..SandboxConfig::default() },
        Workers::new(0),
    )
    .unwrap()
}

/// Seconds of one encoding; each chunk is let go as it comes.
fn encode(runtime: &Runtime, guest: &Arc<PluginEncoder>, batches: &[RecordBatch]) -> f64 {
    let rows: Vec<_> = batches.iter().cloned().map(Ok).collect();
    let begun = Instant::now();
    runtime.block_on(async {
        match guest
            .encode(
                &CallerShare::default(),
                batches[0].schema(),
                &[],
                futures::stream::iter(rows).boxed(),
            )
            .await
            .unwrap()
        {
            EncodedBody::Whole(bytes) => drop(bytes),
            EncodedBody::Stream(mut chunks) => {
                while let Some(chunk) = chunks.next().await {
                    std::hint::black_box(chunk.unwrap());
                }
            }
        }
    });
    begun.elapsed().as_secs_f64()
}

/// A date, a dimension of few values, a note, a number and a count.
fn batch(rows: usize) -> RecordBatch {
    let dates: StringArray = (0..rows)
        .map(|row| Some(format!("{}-{:02}-01", 1960 + row / 12 % 60, row % 12 + 1)))
        .collect();
    let regions: DictionaryArray<Int32Type> = (0..rows)
        .map(|row| Some(["Northland", "Auckland", "Otago", "Southland"][row % 4]))
        .collect();
    let notes: StringArray =
        (0..rows).map(|row| (row % 5 != 1).then(|| format!("revised \"{row}\""))).collect();
    let values: Float64Array =
        (0..rows).map(|row| (row % 7 != 1).then_some(row as f64 * 1.7)).collect();
    let counts = Int64Array::from_iter_values((0_i64..).take(rows));
    let columns: [(&str, ArrayRef, bool); 5] = [
        ("date", Arc::new(dates), false),
        ("region", Arc::new(regions), true),
        ("note", Arc::new(notes), true),
        ("value", Arc::new(values), true),
        ("count", Arc::new(counts), false),
    ];
    RecordBatch::try_from_iter_with_nullable(columns).unwrap()
}
