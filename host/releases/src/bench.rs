//! `yearbook plugin bench`: the speed of an output format or a transform beside others of its
//! kind, over the same tables, in one interleaved run (contract-14-bench). Owns the tables, the
//! order of the runs and the figures; checks nothing. An adapter is measured by its examples
//! (`adapter`). Blocking; takes seconds of a core.
//!
//! All of it runs on one thread, through the calls that `plugin check` makes: what a host adds by
//! encoding in parallel, compressing and sending is not in the figures.

mod adapter;
mod peer;
mod tables;

use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow::array::{ArrayRef, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Schema};
use serde::Serialize;
use yearbook_sandbox::{GuestError, ResourceUsage, TrialError};
use yearbook_workers::with_stack;

pub use adapter::{ExampleFigure, bench_adapter};
pub use peer::{BenchPeer, BenchPlugin};
use peer::{Contestant, is_declined};
use tables::{BenchTable, FRESH_ROWS};

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
    /// Part of the time that a guest which looks at no cell takes, over the plugin's, 0 to 1.
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
    /// It fails at an example of its own.
    #[error("{plugin} fails at the example {example} ({error}); `yearbook plugin check` says more")]
    Example {
        /// Name of the adapter.
        plugin: String,
        /// Path and query of the example.
        example: String,
        /// The call and its error.
        error: Box<TrialError>,
    },
    /// It has no example that a host would answer.
    #[error("{0} has no example that can be asked; `yearbook plugin check` says more")]
    NoExample(String),
    /// It takes none of the tables.
    #[error("{0} declines every table: {1}; `yearbook plugin check` says more")]
    Declined(String, GuestError),
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
/// each run. The first is the plugin that was asked for; `idle` is one of its kind that looks at no
/// cell. `stack`: bytes that its thread has.
///
/// # Errors
/// [`BenchError`] of the first plugin that fails.
pub fn bench(
    peers: &[BenchPeer],
    idle: &BenchPeer,
    runs: usize,
    stack: usize,
) -> Result<Vec<BenchFigure>, BenchError> {
    with_stack(stack, || {
        let (mut figures, mut declined) = (Vec::new(), None);
        for table in tables::all(&|table| encoders_decline(peers, table))? {
            let taken = takers(peers, &table, &mut declined)?;
            if !taken.is_empty() {
                let failed = |error| BenchError::failed(idle, &table, error);
                let idle = idle.suited(&table).map_err(failed)?;
                figures.extend(measure(&taken, &idle, &table, runs.max(1))?);
            }
        }
        match (declined, peers.first()) {
            (Some(error), Some(peer)) if figures.is_empty() => {
                Err(BenchError::Declined(peer.name.clone(), error))
            }
            _ => Ok(figures),
        }
    })
}

/// True where one of the formats wants columns that a table does not have.
fn encoders_decline(peers: &[BenchPeer], table: &BenchTable) -> bool {
    let encoders = peers.iter().filter(|peer| matches!(peer.plugin, BenchPlugin::Encoder(_)));
    encoders.map(|peer| peer.suited(table)).any(|suited| suited.is_err_and(|e| is_declined(&e)))
}

/// Returns the peers that take a table; none where the first does not.
fn takers<'a>(
    peers: &'a [BenchPeer],
    table: &BenchTable,
    declined: &mut Option<GuestError>,
) -> Result<Vec<Contestant<'a>>, BenchError> {
    let mut takers = Vec::new();
    for (position, peer) in peers.iter().enumerate() {
        match peer.suited(table) {
            Ok(taker) => takers.push(taker),
            Err(failed) if is_declined(&failed) && position > 0 => {}
            Err(failed) if is_declined(&failed) => {
                declined.get_or_insert(failed.error);
                return Ok(Vec::new());
            }
            Err(failed) => return Err(BenchError::failed(peer, table, failed)),
        }
    }
    Ok(takers)
}

impl BenchError {
    fn failed(peer: &BenchPeer, table: &BenchTable, error: TrialError) -> Self {
        let (plugin, table) = (peer.name.clone(), table.name.clone());
        Self::Failed { plugin, table, error: Box::new(error) }
    }
}

fn measure(
    contestants: &[Contestant<'_>],
    idle: &Contestant<'_>,
    table: &BenchTable,
    runs: usize,
) -> Result<Vec<BenchFigure>, BenchError> {
    let mut samples: Vec<Samples> = contestants.iter().map(|_| Samples::default()).collect();
    let (mut shared, mut flat) = (Vec::new(), Vec::new());
    let flattens = contestants.iter().any(Contestant::is_flat);
    let time = |contestant: &Contestant<'_>, table: &BenchTable, batches: &[RecordBatch]| {
        let begun = Instant::now();
        let made = contestant.trial(table, batches);
        let made = made.map_err(|error| BenchError::failed(contestant.peer, table, error))?;
        Ok((begun.elapsed(), made))
    };
    debug_assert_eq!(table.fresh.iter().map(RecordBatch::num_rows).sum::<usize>(), FRESH_ROWS);
    for run in 0..=runs {
        for (contestant, samples) in contestants.iter().zip(&mut samples) {
            let (whole, made) = time(contestant, table, &table.batches)?;
            let (fresh, _) = time(contestant, table, &table.fresh)?;
            samples.bytes = made.bytes;
            samples.usage = samples.usage.and(made.usage);
            if run > 0 {
                samples.whole.push(whole);
                samples.fresh.push(fresh);
            }
        }
        let (crossed, _) = time(idle, table, &table.batches)?;
        if run > 0 {
            shared.push(crossed);
        }
        // Without dictionaries a plugin gets plain text, and unpacking is part of its crossing.
        if flattens {
            let begun = Instant::now();
            let plain = unpack(table)?;
            let unpacked = begun.elapsed();
            let (crossed, _) = time(idle, &plain, &plain.batches)?;
            if run > 0 {
                flat.push(unpacked + crossed);
            }
        }
    }
    let (shared, flat) = (median(&mut shared), median(&mut flat));
    let figure = |(contestant, mut samples): (&Contestant<'_>, Samples)| {
        let seconds = median(&mut samples.whole).max(f64::MIN_POSITIVE);
        let crossing = if contestant.is_flat() { flat } else { shared };
        BenchFigure {
            plugin: contestant.peer.name.clone(),
            table: table.name.clone(),
            rows_per_second: whole(table.rows() as f64 / seconds),
            bytes_per_second: whole(samples.bytes as f64 / seconds),
            fresh_response_us: (median(&mut samples.fresh) * 1e7).round() / 10.0,
            memory_bytes: samples.usage.memory_bytes,
            crossing_share: ((crossing / seconds).min(1.0) * 1e3).round() / 1e3,
        }
    };
    Ok(contestants.iter().zip(samples).map(figure).collect())
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
    let (name, codes) = (table.name.clone(), table.codes.clone());
    Ok(BenchTable { name, schema, batches, fresh: Vec::new(), codes })
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
