//! Our encoders: natively, one part after the other on one thread, and in the sandbox, through the
//! very function that serves responses.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use futures::StreamExt;
use tokio::runtime::Runtime;
use yearbook_arrow::ArrowEncoder;
use yearbook_sandbox::{EncodedBody, Limits, OptionValue, PluginEncoder, Sandbox, SandboxConfig};
use yearbook_sdk::{Batch, Encoder, Value, testing};
use yearbook_shares::CallerShare;
use yearbook_tests::components::component;
use yearbook_workers::Workers;

use super::client::ChunkSink;
use super::tables::{BenchBatches, BenchTable};

/// Plugins that are measured.
const PLUGINS: [&str; 5] = ["csv", "json", "arrow", "parquet", "geojson"];

/// Every encoder, in a sandbox with one worker and in one whose responses may have two workers and
/// instances.
pub(crate) struct YearbookEncoders {
    runtime: Runtime,
    makers: [ResponseMakers; 2],
}

/// Every encoder, and the threads that it runs on.
struct ResponseMakers {
    workers: Arc<Workers>,
    guests: HashMap<&'static str, Arc<PluginEncoder>>,
}

impl YearbookEncoders {
    pub(crate) fn load() -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let makers = [1, 2].map(|threads| {
            let workers = Workers::new(threads);
            let limits = Limits { parallel_parts: threads, ..Limits::default() };
            let config = SandboxConfig { limits, ..SandboxConfig::default() };
            let sandbox = Sandbox::new(&config, Arc::clone(&workers)).unwrap();
            let guests = PLUGINS
                .into_iter()
                .map(|name| (name, sandbox.load_encoder(&component(name)).unwrap()))
                .collect();
            ResponseMakers { workers, guests }
        });
        Self { runtime, makers }
    }

    /// One response with so many worker threads. Its client is on a worker too, and gets each chunk
    /// as it comes: with one worker, everything happens on one thread, as with a native writer, and
    /// no time is lost in waking another.
    pub(crate) fn sandboxed<C: ChunkSink + 'static>(
        &self,
        format: &'static str,
        input: &BenchTable,
        threads: usize,
        mut client: C,
    ) -> C {
        let batches: Vec<_> = input.batches.iter().cloned().map(Ok).collect();
        let schema = Arc::clone(&input.schema);
        let (plugin, option) = format.split_once('.').unwrap_or((format, ""));
        let ResponseMakers { workers, guests } = &self.makers[threads - 1];
        let guest = Arc::clone(&guests[plugin]);
        let response = async move {
            let options: Vec<_> = option.split_once('=').map(chosen(&guest)).into_iter().collect();
            let batches = futures::stream::iter(batches).boxed();
            match guest.encode(&CallerShare::default(), schema, &options, batches).await.unwrap() {
                EncodedBody::Whole(bytes) => client.take(bytes),
                EncodedBody::Stream(mut chunks) => {
                    while let Some(chunk) = chunks.next().await {
                        chunk.unwrap().for_each(|segment| client.take(segment));
                    }
                }
            }
            client
        };
        self.runtime.block_on(workers.drive(CallerShare::default(), response)).unwrap()
    }
}

/// Reads a name and a value as an option that the plugin declares.
fn chosen(guest: &PluginEncoder) -> impl Fn((&str, &str)) -> OptionValue {
    |(name, value)| {
        let mut declared = guest.description().parameters.iter();
        let parameter = declared.find(|parameter| parameter.name == name).unwrap();
        OptionValue { name: name.to_owned(), value: parameter.parse(value).unwrap() }
    }
}

/// Seconds of one native encoding, the mean of `times`. Making its input is not counted.
pub(crate) fn native(
    format: &str,
    tables: &BenchBatches,
    times: usize,
    client: &mut impl ChunkSink,
) -> f64 {
    let dictionaries: &[_] = &[("dictionaries", Value::Boolean(true))];
    match format {
        "csv" => timed::<yearbook_csv::CsvEncoder>(tables, &[], times, client),
        "json" => timed::<yearbook_json::JsonEncoder>(tables, &[], times, client),
        "arrow" => timed::<ArrowEncoder>(tables, &[], times, client),
        super::tables::DICTIONARIES => timed::<ArrowEncoder>(tables, dictionaries, times, client),
        "geojson" => timed::<yearbook_geojson::GeoJsonEncoder>(tables, &[], times, client),
        _ => timed::<yearbook_parquet::ParquetEncoder>(tables, &[], times, client),
    }
}

fn timed<E: Encoder>(
    tables: &BenchBatches,
    options: &[(&str, Value)],
    times: usize,
    client: &mut impl ChunkSink,
) -> f64 {
    let table = &tables.with_part_rows(E::describe().part_rows);
    let inputs: Vec<Vec<Batch>> =
        (0..times).map(|_| testing::batches_for::<E>(table).unwrap()).collect();
    let start = Instant::now();
    for batches in inputs {
        testing::respond::<E>(batches, options, |chunk| client.take(chunk.into())).unwrap();
    }
    start.elapsed().as_secs_f64() / times as f64
}
