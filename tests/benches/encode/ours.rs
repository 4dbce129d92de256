//! Our encoders: natively, one part after the other on one thread, and in the sandbox, through the very function that
//! serves responses.

use std::collections::HashMap;
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

/// Every encoder, in a sandbox with one worker and in one with two.
pub(crate) struct Ours {
    runtime: Runtime,
    guests: [HashMap<&'static str, Arc<Encoder>>; 2],
}

impl Ours {
    pub(crate) fn load() -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let guests = [1, 2].map(|threads| {
            let sandbox = Sandbox::new(&Config { limits: Limits::default(), cache: None }, Workers::new(threads)).unwrap();
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

    /// Seconds of one native encoding, the mean of `times`, and its output. Making its input is not counted.
    #[expect(clippy::unused_self, reason = "a contestant like the others")]
    pub(crate) fn native(&self, format: &str, tables: &Tables, times: usize) -> (f64, Vec<u8>) {
        match format {
            "csv" => native::<yearbook_csv::Csv>(tables, times),
            "json" => native::<yearbook_json::Json>(tables, times),
            "arrow" => native::<yearbook_arrow::Arrow>(tables, times),
            _ => native::<yearbook_parquet::Parquet>(tables, times),
        }
    }
}

fn native<E: yearbook_sdk::Encoder>(tables: &Tables, times: usize) -> (f64, Vec<u8>) {
    let description = E::describe();
    let table: &Table = &tables.of(description.part_rows);
    let separator = description.separator.unwrap_or_default();
    let inputs: Vec<(Schema, Vec<Batch>)> = (0..times)
        .map(|_| {
            let batches = testing::batches(table, description.dictionaries).unwrap();
            (batches[0].schema().clone(), batches)
        })
        .collect();
    let mut made = Vec::new();
    let start = Instant::now();
    for (schema, batches) in inputs {
        made = encoded::<E>(schema, batches, separator);
    }
    let seconds = start.elapsed().as_secs_f64() / times as f64;
    (seconds, made.concat())
}

/// Head, parts with their separators, tail.
fn encoded<E: yearbook_sdk::Encoder>(schema: Schema, batches: Vec<Batch>, separator: &[u8]) -> Vec<Vec<u8>> {
    let mut encoder = E::open(schema, &testing::chosen::<E>(&[])).unwrap();
    let (mut made, mut notes, mut offset) = (vec![Vec::new()], Vec::new(), 0);
    encoder.head(&mut made[0]).unwrap();
    for batch in batches {
        offset += made.last().map_or(0, Vec::len) as u64;
        if made.len() > 1 {
            made.push(separator.to_vec());
            offset += separator.len() as u64;
        }
        let mut out = Vec::new();
        encoder.part(batch, &mut out).unwrap();
        let bytes = encoder.note();
        if !bytes.is_empty() {
            notes.push(Note { offset, bytes });
        }
        made.push(out);
    }
    let mut tail = Vec::new();
    encoder.tail(&notes, &mut tail).unwrap();
    made.push(tail);
    made
}
