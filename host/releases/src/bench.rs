//! `yearbook plugin bench`: the speed of an output format beside others, over the same tables, in
//! one interleaved run (contract-14-bench). Owns the tables, the order of the runs and the
//! figures; checks nothing. Blocking; takes seconds of a core.
//!
//! All of it runs on one thread, through the calls that `plugin check` makes: what a host adds by
//! encoding in parallel, compressing and sending is not in the figures.

mod tables;

use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow::array::{ArrayRef, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Schema};
use serde::Serialize;
use yearbook_sandbox::{GuestError, PluginEncoder, ResourceUsage, TrialError, TrialResponse};
use yearbook_workers::with_stack;

use tables::{BenchTable, FRESH_ROWS};

/// An encoder with the name that its figures bear.
#[derive(Clone)]
pub struct BenchPeer {
    /// Name in the figures.
    pub name: String,
    /// The encoder.
    pub encoder: Arc<PluginEncoder>,
}

/// Figures of one plugin on one table: medians of the runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BenchFigure {
    /// Name of the plugin.
    pub plugin: String,
    /// Name of the table.
    pub table: String,
    /// Rows that are written in a second.
    pub rows_per_second: u64,
    /// Bytes that are written in a second, before compression.
    pub bytes_per_second: u64,
    /// Time of a response of 100 rows by a fresh instance, microseconds.
    pub fresh_response_us: f64,
    /// Largest linear memory of an instance, bytes.
    pub memory_bytes: usize,
    /// Part of the time that the crossing of rows into the guest takes, 0 to 1: the time of a guest
    /// that looks at no cell, over the plugin's.
    pub crossing_share: f64,
}

/// A plugin that could not be measured.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// It fails at a table.
    #[error("{plugin} fails at the table {table:?} ({error}); `yearbook plugin check` says more")]
    Failed {
        /// Name of the plugin.
        plugin: String,
        /// Name of the table.
        table: String,
        /// The call and its error.
        error: Box<TrialError>,
    },
    /// A table cannot be made, which is a fault of this program.
    #[error("the table {0:?} cannot be made: {1}")]
    Table(String, String),
}

/// Times of one plugin on one table.
#[derive(Default)]
struct Samples {
    whole: Vec<Duration>,
    fresh: Vec<Duration>,
    bytes: usize,
    usage: ResourceUsage,
}

/// Measures `peers` in `runs` counted runs after one that is not counted, all of them in turn in
/// each run. `idle` is an encoder that looks at no cell. `stack`: bytes that its thread has.
///
/// # Errors
/// [`BenchError`] of the first plugin that fails.
pub fn bench(
    peers: &[BenchPeer],
    idle: &Arc<PluginEncoder>,
    runs: usize,
    stack: usize,
) -> Result<Vec<BenchFigure>, BenchError> {
    with_stack(stack, || {
        let mut figures = Vec::new();
        for table in tables::all(&|table| declined(peers, table))? {
            figures.extend(measure(peers, idle, &table, runs.max(1))?);
        }
        Ok(figures)
    })
}

/// True where one of the peers wants columns that a table does not have.
fn declined(peers: &[BenchPeer], table: &BenchTable) -> bool {
    let wants_more = |peer: &BenchPeer| {
        let tried = peer.encoder.trial(&table.schema, &[], &table.fresh, false);
        matches!(tried, Err(TrialError { error: GuestError::Declined(_), .. }))
    };
    peers.iter().any(wants_more)
}

fn measure(
    peers: &[BenchPeer],
    idle: &Arc<PluginEncoder>,
    table: &BenchTable,
    runs: usize,
) -> Result<Vec<BenchFigure>, BenchError> {
    let mut samples: Vec<Samples> = peers.iter().map(|_| Samples::default()).collect();
    let (mut shared, mut flat) = (Vec::new(), Vec::new());
    let flattens = peers.iter().any(|peer| !peer.encoder.description().dictionaries);
    let failed = |plugin: &str, error: TrialError| BenchError::Failed {
        plugin: plugin.to_owned(),
        table: table.name.clone(),
        error: Box::new(error),
    };
    for run in 0..=runs {
        for (peer, samples) in peers.iter().zip(&mut samples) {
            let (time, made) = time(&peer.encoder, table, &table.batches)
                .map_err(|error| failed(&peer.name, error))?;
            let (fresh, _) =
                time_fresh(&peer.encoder, table).map_err(|error| failed(&peer.name, error))?;
            samples.bytes = made.bytes();
            samples.usage = samples.usage.and(made.usage);
            if run > 0 {
                samples.whole.push(time);
                samples.fresh.push(fresh);
            }
        }
        let (crossed, _) =
            time(idle, table, &table.batches).map_err(|error| failed("idle", error))?;
        if run > 0 {
            shared.push(crossed);
        }
        // Without dictionaries a plugin gets plain text, and unpacking is part of its crossing.
        if flattens {
            let begun = Instant::now();
            let plain = unpack(table)?;
            let unpacked = begun.elapsed();
            let (crossed, _) =
                time(idle, &plain, &plain.batches).map_err(|error| failed("idle", error))?;
            if run > 0 {
                flat.push(unpacked + crossed);
            }
        }
    }
    let (shared, flat) = (median(&mut shared), median(&mut flat));
    let figure = |(peer, mut samples): (&BenchPeer, Samples)| {
        let seconds = median(&mut samples.whole).max(f64::MIN_POSITIVE);
        let crossing = if peer.encoder.description().dictionaries { shared } else { flat };
        BenchFigure {
            plugin: peer.name.clone(),
            table: table.name.clone(),
            rows_per_second: whole(table.rows() as f64 / seconds),
            bytes_per_second: whole(samples.bytes as f64 / seconds),
            fresh_response_us: (median(&mut samples.fresh) * 1e7).round() / 10.0,
            memory_bytes: samples.usage.memory_bytes,
            crossing_share: ((crossing / seconds).min(1.0) * 1e3).round() / 1e3,
        }
    };
    Ok(peers.iter().zip(samples).map(figure).collect())
}

/// Time of all batches, an instance included.
fn time(
    encoder: &PluginEncoder,
    table: &BenchTable,
    batches: &[RecordBatch],
) -> Result<(Duration, TrialResponse), TrialError> {
    let begun = Instant::now();
    let made = encoder.trial(&table.schema, &[], batches, false)?;
    Ok((begun.elapsed(), made))
}

/// Time of the first rows alone.
fn time_fresh(
    encoder: &PluginEncoder,
    table: &BenchTable,
) -> Result<(Duration, TrialResponse), TrialError> {
    debug_assert_eq!(table.fresh.iter().map(RecordBatch::num_rows).sum::<usize>(), FRESH_ROWS);
    time(encoder, table, &table.fresh)
}

/// The table with plain text in the place of dictionaries.
fn unpack(table: &BenchTable) -> Result<BenchTable, BenchError> {
    let plain = |column: &ArrayRef| match column.data_type() {
        DataType::Dictionary(_, values) => cast(column, values),
        _ => Ok(Arc::clone(column)),
    };
    let field = |field: &Arc<Field>| match field.data_type() {
        DataType::Dictionary(_, values) => {
            field.as_ref().clone().with_data_type(values.as_ref().clone())
        }
        _ => field.as_ref().clone(),
    };
    let fields: Vec<Field> = table.schema.fields().iter().map(field).collect();
    let schema = Arc::new(Schema::new_with_metadata(fields, table.schema.metadata().clone()));
    let batch = |batch: &RecordBatch| {
        let columns = batch.columns().iter().map(plain).collect::<Result<Vec<_>, _>>()?;
        RecordBatch::try_new(Arc::clone(&schema), columns)
    };
    let batches = table.batches.iter().map(batch).collect::<Result<Vec<_>, _>>();
    let batches =
        batches.map_err(|error| BenchError::Table(table.name.clone(), error.to_string()))?;
    Ok(BenchTable { name: table.name.clone(), schema, batches, fresh: Vec::new() })
}

/// Seconds in the middle of all; 0 where there are none.
fn median(times: &mut [Duration]) -> f64 {
    times.sort_unstable();
    times.get(times.len() / 2).map_or(0.0, Duration::as_secs_f64)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a rate is positive, and `as` saturates"
)]
fn whole(rate: f64) -> u64 {
    rate.round() as u64
}
