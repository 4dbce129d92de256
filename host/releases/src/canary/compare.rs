//! One part of a response, made by both releases from the same input, and what tells them apart:
//! bytes first, then values, then cost.

use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use arrow::array::RecordBatch;
use arrow::compute::concat_batches;
use yearbook_catalog::CanaryTotals as Sum;
use yearbook_sandbox::{
    GuestError, PluginAdapter, PluginEncoder, PluginHead, PluginTransform, Trap, TrialError,
    TrialResponse, TrialTable,
};

use super::sample::{ReleasePair, SampledRows};
use super::{CanarySample, empty_totals, exchange};
use crate::check::distinct_values;
use crate::readback::{self, ValueComparison};

/// Cost of a part.
#[derive(Default)]
pub(super) struct Cost {
    pub(super) cpu: Duration,
    pub(super) memory_bytes: usize,
}

/// Likeness of two parts.
pub(super) enum Likeness {
    Same,
    /// The same values in other bytes.
    Rewritten,
    /// Nothing can be said: the releases do not need the same to answer.
    Incomparable,
    /// The difference.
    Different(String),
}

/// Compares both releases on one sample; `None` if the result says nothing of the canary. `warm`:
/// cost counts.
pub(super) fn run(sample: &CanarySample, turn: usize, warm: bool) -> Option<Sum> {
    match sample {
        CanarySample::Encoded(pair, rows) => {
            // Every other time each part by an instance of its own, as hosts make large responses
            // where parts are independent.
            let promised = |encoder: &PluginEncoder| encoder.description().separator.is_some();
            let apart = turn / 2 % 2 == 1 && promised(&pair.incumbent) && promised(&pair.waiting);
            let make = |encoder: &Arc<PluginEncoder>| {
                let made = encoder.trial(&rows.schema, &rows.options, &rows.batches, apart)?;
                let cost = Cost { cpu: made.cpu, memory_bytes: made.usage.memory_bytes };
                Ok((made, cost))
            };
            run_pair(pair, turn, warm, make, |one, other| compare_bytes(pair, rows, one, other))
        }
        CanarySample::Transformed(pair, rows) => {
            let whole = concat_batches(rows.batches.first()?.schema_ref(), &rows.batches).ok()?;
            let known = distinct_values(&whole);
            let make = |transform: &Arc<PluginTransform>| {
                let codes = |column: &str| known.get(column).cloned();
                let made = transform.trial(&rows.schema, &rows.options, codes, &rows.batches)?;
                let cost = Cost { cpu: made.cpu, memory_bytes: made.usage.memory_bytes };
                Ok((made, cost))
            };
            run_pair(pair, turn, warm, make, compare_tables)
        }
        CanarySample::Answered(pair, exchange) => {
            let make = |adapter: &Arc<PluginAdapter>| exchange::answer(adapter, exchange);
            run_pair(pair, turn, warm, make, |one, other| exchange::compare(one, other))
        }
    }
}

fn run_pair<P: Deref<Target = PluginHead>, T>(
    pair: &ReleasePair<P>,
    turn: usize,
    warm: bool,
    make: impl Fn(&Arc<P>) -> Result<(T, Cost), TrialError>,
    compare: impl FnOnce(&T, &T) -> Likeness,
) -> Option<Sum> {
    // The second of them finds the input in the processor's cache.
    let (one, other) = if turn.is_multiple_of(2) {
        let one = make(&pair.incumbent);
        (one, make(&pair.waiting))
    } else {
        let other = make(&pair.waiting);
        (make(&pair.incumbent), other)
    };
    // What the release that serves fails at is no measure.
    let (one, cost) = one.ok()?;
    let mut seen = Sum { samples: 1, ..empty_totals(&pair.key()) };
    let incumbent = pair.incumbent.digest().short();
    match other {
        Ok((other, other_cost)) => {
            match compare(&one, &other) {
                Likeness::Same => {}
                Likeness::Rewritten => seen.rewritten = 1,
                Likeness::Incomparable => return None,
                Likeness::Different(difference) => {
                    let fault =
                        format!("its response differs from that of {incumbent}: {difference}");
                    seen.fault = Some(fault);
                }
            }
            if warm {
                (seen.cpu_ns, seen.incumbent_ns) = (nanoseconds(&other_cost), nanoseconds(&cost));
            }
            (seen.memory, seen.incumbent_memory) =
                (other_cost.memory_bytes as u64, cost.memory_bytes as u64);
        }
        Err(failed) if is_host_fault(&failed) => return None,
        Err(failed) => {
            seen.fault = Some(format!("it failed where {incumbent} did not: {failed}"));
        }
    }
    Some(seen)
}

fn compare_bytes(
    pair: &ReleasePair<PluginEncoder>,
    rows: &SampledRows,
    one: &TrialResponse,
    other: &TrialResponse,
) -> Likeness {
    let response = |encoder: &PluginEncoder, trial: &TrialResponse| {
        trial.response(encoder.description().separator.as_deref())
    };
    let (one, other) = (response(&pair.incumbent, one), response(&pair.waiting, other));
    if one == other {
        return Likeness::Same;
    }
    let media_type = &pair.incumbent.description().media_type;
    // Readers are libraries, and what they read was made by a stranger.
    let read = catch_unwind(AssertUnwindSafe(|| {
        readback::compare(media_type, &rows.schema, &one, &other)
    }));
    match read
        .unwrap_or_else(|_| ValueComparison::Different("a reader panicked over it".to_owned()))
    {
        ValueComparison::Equal => Likeness::Rewritten,
        ValueComparison::Different(difference) => Likeness::Different(difference),
        ValueComparison::Unsupported(why) => {
            Likeness::Different(format!("{}; {why}", describe_bytes(&one, &other)))
        }
    }
}

/// Compares rows, wherever their batches end. Two NaN of other bits are other values.
fn compare_tables(one: &TrialTable, other: &TrialTable) -> Likeness {
    if one.schema != other.schema {
        return Likeness::Different("its columns or what it says of them are others".to_owned());
    }
    let whole = |table: &TrialTable| concat_batches(&table.schema, &table.batches).ok();
    let (Some(one), Some(other)) = (whole(one), whole(other)) else {
        return Likeness::Incomparable;
    };
    if one == other {
        return Likeness::Same;
    }
    let (rows, others) = (one.num_rows(), other.num_rows());
    if rows != others {
        return Likeness::Different(format!("{others} rows instead of {rows}"));
    }
    Likeness::Different(first_difference(&one, &other))
}

/// Names the first column that differs in two tables of as many rows, and the row.
fn first_difference(one: &RecordBatch, other: &RecordBatch) -> String {
    let is_other = |at: &usize| one.column(*at) != other.column(*at);
    let Some(column) = (0..one.num_columns()).find(is_other) else {
        return "other rows".to_owned();
    };
    let (left, right) = (one.column(column), other.column(column));
    let row = (0..one.num_rows()).find(|&row| left.slice(row, 1) != right.slice(row, 1));
    let name = one.schema_ref().field(column).name().clone();
    format!("other values in column {name:?} from row {} on", row.unwrap_or(0))
}

/// Sizes of both, and the place where they part.
pub(super) fn describe_bytes(one: &[u8], other: &[u8]) -> String {
    let at = one.iter().zip(other).position(|(a, b)| a != b);
    let at = at.unwrap_or(one.len().min(other.len()));
    format!("{} and {} bytes, other ones from byte {at} on", one.len(), other.len())
}

/// Returns whether a failure says nothing about the release: want of room, or a thread that had to
/// stand back too long.
fn is_host_fault(failed: &TrialError) -> bool {
    matches!(
        failed.error,
        GuestError::Busy { .. }
            | GuestError::ShareUsedUp
            | GuestError::Host(_)
            | GuestError::Input(_)
            | GuestError::Trapped { trap: Trap::Wall(_), .. }
    )
}

fn nanoseconds(cost: &Cost) -> u64 {
    u64::try_from(cost.cpu.as_nanos()).unwrap_or(u64::MAX)
}
