//! Our encoders: natively, one part after the other on one thread, and in the sandbox, through the very function that
//! serves responses.

use std::collections::HashMap;
use std::io::Write;
use std::sync::Arc;
use std::time::Instant;

use futures::StreamExt;
use tokio::runtime::Runtime;
use yearbook_sandbox::{Config, Encoded, Encoder, Limits, Sandbox};
use yearbook_sdk::testing::{self, Table};
use yearbook_sdk::{Batch, Note, Schema};
use yearbook_tests::components::component;
use yearbook_workers::Workers;

use super::tables::{Input, Tables};

/// Every encoder, in a sandbox with one worker and in one whose responses may have two workers and instances.
pub(crate) struct Ours {
    runtime: Runtime,
    guests: [HashMap<&'static str, Arc<Encoder>>; 2],
}

impl Ours {
    pub(crate) fn load() -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let guests = [1, 2].map(|threads| {
            let limits = Limits { parallel_parts: threads, ..Limits::default() };
            let sandbox = Sandbox::new(&Config { limits, cache: None }, Workers::new(threads)).unwrap();
            super::FORMATS.into_iter().map(|name| (name, sandbox.load_encoder(&component(name)).unwrap())).collect()
        });
        Self { runtime, guests }
    }

    /// The whole output with so many worker threads.
    pub(crate) fn sandboxed(&self, format: &str, input: &Input, threads: usize) -> Vec<u8> {
        let mut out = Vec::new();
        self.each_chunk(format, input, threads, |chunk| out.extend_from_slice(chunk));
        out
    }

    /// The output's size; each chunk is let go as it comes, as a response does.
    pub(crate) fn streamed(&self, format: &str, input: &Input, threads: usize) -> usize {
        let mut bytes = 0;
        self.each_chunk(format, input, threads, |chunk| bytes += std::hint::black_box(chunk).len());
        bytes
    }

    fn each_chunk(&self, format: &str, input: &Input, threads: usize, mut take: impl FnMut(&[u8])) {
        let batches: Vec<_> = input.batches.iter().cloned().map(Ok).collect();
        let guest = &self.guests[threads - 1][format];
        self.runtime.block_on(async {
            match guest.encode(Arc::clone(&input.schema), &[], futures::stream::iter(batches).boxed()).await.unwrap() {
                Encoded::Whole(bytes) => take(&bytes),
                Encoded::Stream(mut chunks) => {
                    while let Some(chunk) = chunks.next().await {
                        take(&chunk.unwrap());
                    }
                }
            }
        });
    }
}

/// Seconds of one native encoding, the mean of `times`. Making its input is not counted.
pub(crate) fn native(format: &str, tables: &Tables, times: usize, out: &mut impl Write) -> f64 {
    match format {
        "csv" => timed::<yearbook_csv::Csv>(tables, times, out),
        "json" => timed::<yearbook_json::Json>(tables, times, out),
        "arrow" => timed::<yearbook_arrow::Arrow>(tables, times, out),
        _ => timed::<yearbook_parquet::Parquet>(tables, times, out),
    }
}

fn timed<E: yearbook_sdk::Encoder>(tables: &Tables, times: usize, out: &mut impl Write) -> f64 {
    let description = E::describe();
    let table: &Table = &tables.of(description.part_rows);
    let separator = description.separator.unwrap_or_default();
    let inputs: Vec<(Schema, Vec<Batch>)> = (0..times)
        .map(|_| {
            let batches = testing::batches(table, description.dictionaries).unwrap();
            (batches[0].schema().clone(), batches)
        })
        .collect();
    let start = Instant::now();
    for (schema, batches) in inputs {
        encode::<E>(schema, batches, separator, out);
    }
    start.elapsed().as_secs_f64() / times as f64
}

/// Head, parts with their separators, tail; one buffer serves all.
fn encode<E: yearbook_sdk::Encoder>(schema: Schema, batches: Vec<Batch>, separator: &[u8], out: &mut impl Write) {
    let mut encoder = E::open(schema, &testing::chosen::<E>(&[])).unwrap();
    let (mut made, mut notes, mut offset) = (Vec::new(), Vec::new(), 0);
    let mut send = |made: &mut Vec<u8>, offset: &mut u64| {
        *offset += made.len() as u64;
        out.write_all(made).unwrap();
        made.clear();
    };
    encoder.head(&mut made).unwrap();
    send(&mut made, &mut offset);
    for (position, batch) in batches.into_iter().enumerate() {
        if position > 0 {
            made.extend_from_slice(separator);
            send(&mut made, &mut offset);
        }
        encoder.part(batch, &mut made).unwrap();
        let bytes = encoder.note();
        if !bytes.is_empty() {
            notes.push(Note { offset, bytes });
        }
        send(&mut made, &mut offset);
    }
    encoder.tail(&notes, &mut made).unwrap();
    send(&mut made, &mut offset);
}
