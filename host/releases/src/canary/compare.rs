//! One response, made by both releases from the same batches, and what tells them apart: bytes
//! first, then values, then cost.

use std::panic::{AssertUnwindSafe, catch_unwind};

use yearbook_catalog::{CanaryTotals as Sum, ReleaseId};
use yearbook_domain::PluginKind;
use yearbook_sandbox::{GuestError, PluginEncoder, Trap, TrialError, TrialResponse};

use super::{CanarySample, empty_totals};
use crate::readback::{self, ValueComparison};

/// Compares both releases on one sample; `None` if the result says nothing of the canary. `warm`:
/// cost counts.
pub(super) fn run(sample: &CanarySample, turn: usize, warm: bool) -> Option<Sum> {
    // Every other time each part by an instance of its own, as hosts make large responses where
    // parts are independent.
    let promised = |encoder: &PluginEncoder| encoder.description().separator.is_some();
    let apart = turn / 2 % 2 == 1 && promised(&sample.incumbent) && promised(&sample.waiting);
    let make = |encoder: &PluginEncoder| {
        encoder.trial(&sample.schema, &sample.options, &sample.batches, apart)
    };
    // The second of them finds the batches in the processor's cache.
    let (one, other) = if turn.is_multiple_of(2) {
        let one = make(&sample.incumbent);
        (one, make(&sample.waiting))
    } else {
        let other = make(&sample.waiting);
        (make(&sample.incumbent), other)
    };
    // What the release that serves fails at is no measure.
    let one = one.ok()?;
    let mut seen = totals_of(sample);
    match other {
        Ok(other) => {
            match compare_responses(sample, &one, &other) {
                Ok(rewritten) => seen.rewritten = u64::from(rewritten),
                Err(difference) => {
                    seen.fault = Some(format!(
                        "its response differs from that of {}: {difference}",
                        sample.incumbent.digest().short()
                    ))
                }
            }
            if warm {
                (seen.cpu_ns, seen.incumbent_ns) = (nanoseconds(&other), nanoseconds(&one));
            }
            (seen.memory, seen.incumbent_memory) =
                (other.usage.memory_bytes as u64, one.usage.memory_bytes as u64);
        }
        Err(failed) if is_host_fault(&failed) => return None,
        Err(failed) => {
            seen.fault = Some(format!(
                "it failed where {} did not: {failed}",
                sample.incumbent.digest().short()
            ))
        }
    }
    Some(seen)
}

/// Compares both responses. True: the same values in other bytes.
fn compare_responses(
    sample: &CanarySample,
    one: &TrialResponse,
    other: &TrialResponse,
) -> Result<bool, String> {
    let response = |encoder: &PluginEncoder, trial: &TrialResponse| {
        trial.response(encoder.description().separator.as_deref())
    };
    let (one, other) = (response(&sample.incumbent, one), response(&sample.waiting, other));
    if one == other {
        return Ok(false);
    }
    let media_type = &sample.incumbent.description().media_type;
    // Readers are libraries, and what they read was made by a stranger.
    let read = catch_unwind(AssertUnwindSafe(|| {
        readback::compare(media_type, &sample.schema, &one, &other)
    }));
    match read
        .unwrap_or_else(|_| ValueComparison::Different("a reader panicked over it".to_owned()))
    {
        ValueComparison::Equal => Ok(true),
        ValueComparison::Different(difference) => Err(difference),
        ValueComparison::Unsupported(why) => {
            let at = one
                .iter()
                .zip(&other)
                .position(|(a, b)| a != b)
                .unwrap_or(one.len().min(other.len()));
            Err(format!(
                "{} and {} bytes, other ones from byte {at} on; {why}",
                one.len(),
                other.len()
            ))
        }
    }
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

/// One sample, of which nothing is known yet.
fn totals_of(sample: &CanarySample) -> Sum {
    let id = ReleaseId {
        kind: PluginKind::Encoder,
        name: sample.waiting.description().format.clone(),
        digest: *sample.waiting.digest(),
    };
    Sum { samples: 1, ..empty_totals(&(id, *sample.incumbent.digest())) }
}

fn nanoseconds(trial: &TrialResponse) -> u64 {
    u64::try_from(trial.cpu.as_nanos()).unwrap_or(u64::MAX)
}
