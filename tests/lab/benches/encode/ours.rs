//! Our encoders: natively, one part after the other on one thread, and in the sandbox, through the
//! very function that serves responses.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use futures::StreamExt;
use tokio::runtime::Runtime;
use yearbook_sandbox::{EncodedBody, Limits, PluginEncoder, Sandbox, SandboxConfig};
use yearbook_sdk::Batch;
use yearbook_sdk::testing::{self, Table};
use yearbook_tests::components::component;
use yearbook_workers::Workers;

use super::client::ChunkSink;
use super::tables::{BenchBatches, BenchTable};

/// Every encoder, in a sandbox with one worker and in one whose responses may have two workers and
/// instances.
pub(crate) struct YearbookEncoders {
    runtime: Runtime,
    guests: [HashMap<&'static str, Arc<PluginEncoder>>; 2],
}

impl YearbookEncoders {
    pub(crate) fn load() -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let guests = [1, 2].map(|threads| {
            let limits = Limits { parallel_parts: threads, ..Limits::default() };
            let sandbox = Sandbox::new(
                &SandboxConfig { limits, ..SandboxConfig::default() },
                Workers::new(threads),
            )
            .unwrap();
            super::FORMATS
                .into_iter()
                .map(|name| (name, sandbox.load_encoder(&component(name)).unwrap()))
                .collect()
        });
        Self { runtime, guests }
    }

    /// One response with so many worker threads; each chunk goes to the client as it comes.
    pub(crate) fn sandboxed(
        &self,
        format: &str,
        input: &BenchTable,
        threads: usize,
        client: &mut impl ChunkSink,
    ) {
        let batches: Vec<_> = input.batches.iter().cloned().map(Ok).collect();
        let guest = &self.guests[threads - 1][format];
        self.runtime.block_on(async {
            match guest
                .encode(Arc::clone(&input.schema), &[], futures::stream::iter(batches).boxed())
                .await
                .unwrap()
            {
                EncodedBody::Whole(bytes) => client.take(bytes),
                EncodedBody::Stream(mut chunks) => {
                    while let Some(chunk) = chunks.next().await {
                        client.take(chunk.unwrap());
                    }
                }
            }
        });
    }
}

/// Seconds of one native encoding, the mean of `times`. Making its input is not counted.
pub(crate) fn native(
    format: &str,
    tables: &BenchBatches,
    times: usize,
    client: &mut impl ChunkSink,
) -> f64 {
    match format {
        "csv" => timed::<yearbook_csv::CsvEncoder>(tables, times, client),
        "json" => timed::<yearbook_json::JsonEncoder>(tables, times, client),
        "arrow" => timed::<yearbook_arrow::ArrowEncoder>(tables, times, client),
        _ => timed::<yearbook_parquet::ParquetEncoder>(tables, times, client),
    }
}

fn timed<E: yearbook_sdk::Encoder>(
    tables: &BenchBatches,
    times: usize,
    client: &mut impl ChunkSink,
) -> f64 {
    let description = E::describe();
    let table: &Table = &tables.with_part_rows(description.part_rows);
    let inputs: Vec<Vec<Batch>> =
        (0..times).map(|_| testing::batches_for::<E>(table).unwrap()).collect();
    let start = Instant::now();
    for batches in inputs {
        testing::respond::<E>(batches, |chunk| client.take(chunk.into())).unwrap();
    }
    start.elapsed().as_secs_f64() / times as f64
}
