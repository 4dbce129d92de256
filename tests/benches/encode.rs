//! Encoding alone: arrow-rs's own writers, our encoders natively, and our encoders in the sandbox,
//! one thread each, in one run and in turn, so that a noisy machine disturbs all alike. Prints a
//! Markdown table after a line of dashes. Not a test: it cannot fail for being slow.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark's own program")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use futures::StreamExt;
use yearbook_sandbox::{Config, Encoded, Encoder, Limits, Sandbox};
use yearbook_sdk::testing::{self, Table};
use yearbook_tests::components::component;
use yearbook_workers::Workers;

#[path = "encode/tables.rs"]
mod tables;

use tables::Input;

/// Counted runs of each cell, after one that is not counted.
const RUNS: usize = 5;

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let config = Config { limits: Limits::default(), cache: None };
    let sandbox = Sandbox::new(&config, Workers::new(1)).unwrap();
    let guests: Vec<Arc<Encoder>> =
        ["csv", "json", "arrow", "parquet"].map(|name| sandbox.load_encoder(&component(name)).unwrap()).into_iter().collect();

    println!("---");
    println!(
        "One thread. Median of {RUNS} runs after a warm-up, the three columns in turn. `arrow-rs` is arrow-csv, arrow-json, arrow-ipc or"
    );
    println!("parquet, native, given plain text; ours get few-valued text as dictionaries where they take them, as in the product.\n");
    println!(
        "| format | table | rows | output MB | arrow-rs, M rows/s | ours native | ours in the sandbox | sandbox : arrow-rs | sandbox : native |"
    );
    println!("|---|---|--:|--:|--:|--:|--:|--:|--:|");
    for input in [tables::long(1_000_000), tables::wide(200_000), tables::spatial(20_000), tables::long(100)] {
        for guest in &guests {
            row(&runtime, guest, &input);
        }
    }
}

fn row(runtime: &tokio::runtime::Runtime, guest: &Arc<Encoder>, input: &Input) {
    let format = guest.description().format.as_str();
    let mut times: [Vec<Duration>; 3] = Default::default();
    let mut bytes = 0;
    for run in 0..=RUNS {
        let (_, peer) = timed(|| arrow_rs(format, &input.plain));
        let native = ours(format, &input.table);
        let (made, sandboxed) = timed(|| runtime.block_on(in_sandbox(guest, &input.schema, &input.batches)));
        bytes = made;
        if run > 0 {
            for (times, time) in times.iter_mut().zip([peer, native, sandboxed]) {
                times.push(time);
            }
        }
    }
    let [peer, native, sandboxed] = times.map(|mut times| {
        times.sort_unstable();
        times[RUNS / 2].as_secs_f64()
    });
    let speed = |seconds: f64| input.rows as f64 / seconds / 1e6;
    println!(
        "| {format} | {} | {} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} |",
        input.name,
        input.rows,
        bytes as f64 / 1e6,
        speed(peer),
        speed(native),
        speed(sandboxed),
        peer / sandboxed,
        native / sandboxed
    );
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    (work(), start.elapsed())
}

async fn in_sandbox(guest: &Arc<Encoder>, schema: &SchemaRef, batches: &[RecordBatch]) -> usize {
    let batches: Vec<_> = batches.iter().cloned().map(Ok).collect();
    match guest.encode(Arc::clone(schema), &[], futures::stream::iter(batches).boxed()).await.unwrap() {
        Encoded::Whole(bytes) => bytes.len(),
        Encoded::Stream(chunks) => chunks.fold(0, |sum, chunk| async move { sum + chunk.unwrap().len() }).await,
    }
}

/// Native time of our encoder; making its input is not counted.
fn ours(format: &str, table: &Table) -> Duration {
    match format {
        "csv" => native::<yearbook_csv::Csv>(table),
        "json" => native::<yearbook_json::Json>(table),
        "arrow" => native::<yearbook_arrow::Arrow>(table),
        _ => native::<yearbook_parquet::Parquet>(table),
    }
}

fn native<E: yearbook_sdk::Encoder>(table: &Table) -> Duration {
    let batches = testing::batches(table, E::describe().dictionaries).unwrap();
    let schema = batches[0].schema().clone();
    let start = Instant::now();
    let mut encoder = E::open(schema, &testing::chosen::<E>(&[])).unwrap();
    encoder.head(&mut Vec::new()).unwrap();
    for batch in batches {
        let mut out = Vec::new();
        encoder.part(batch, &mut out).unwrap();
        std::hint::black_box(out);
    }
    encoder.tail(&[], &mut Vec::new()).unwrap();
    start.elapsed()
}

fn arrow_rs(format: &str, batches: &[RecordBatch]) -> usize {
    let mut out = Vec::new();
    match format {
        "csv" => {
            let mut writer = arrow_csv::Writer::new(&mut out);
            batches.iter().for_each(|batch| writer.write(batch).unwrap());
        }
        "json" => {
            let builder = arrow_json::WriterBuilder::new().with_explicit_nulls(true);
            let mut writer = builder.build::<_, arrow_json::writer::JsonArray>(&mut out);
            batches.iter().for_each(|batch| writer.write(batch).unwrap());
            writer.finish().unwrap();
        }
        "arrow" => {
            let mut writer = arrow::ipc::writer::StreamWriter::try_new(&mut out, &batches[0].schema()).unwrap();
            batches.iter().for_each(|batch| writer.write(batch).unwrap());
            writer.finish().unwrap();
        }
        _ => {
            let properties =
                parquet::file::properties::WriterProperties::builder().set_compression(parquet::basic::Compression::SNAPPY).build();
            let mut writer = parquet::arrow::ArrowWriter::try_new(&mut out, batches[0].schema(), Some(properties)).unwrap();
            batches.iter().for_each(|batch| writer.write(batch).unwrap());
            writer.close().unwrap();
        }
    }
    std::hint::black_box(out).len()
}
