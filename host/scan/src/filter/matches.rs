//! Rows that match a predicate, found by reading its columns alone.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::BooleanBufferBuilder;
use arrow::buffer::BooleanBuffer;
use parquet::arrow::ProjectionMask;

use super::row_predicate::RowPredicate;
use crate::StorageFailure;
use crate::decode::{FileSource, RowRange, task_ranges};

/// Rows decoded at a time while matches are looked for.
const FILTER_BATCH_ROWS: usize = 8192;

/// Rows looked at before whole steps are: common matches with a small maximum are found in these.
const INITIAL_ROWS: u64 = 16 << 10;

/// Rows that match.
pub(crate) struct Matches {
    /// The row of the file that the first bit of `rows` stands for.
    pub(crate) from: u64,
    /// One bit a row looked at, the only thing kept of it: an eighth of a byte a row.
    pub(crate) rows: BooleanBuffer,
    /// The first match past `max_rows`.
    pub(crate) next: Option<u64>,
}

/// The first `max_rows` matches in `window`, and where the next one is.
pub(crate) async fn find(
    source: &FileSource,
    window: Range<u64>,
    predicate: &Arc<RowPredicate>,
    max_rows: u64,
) -> Result<Matches, StorageFailure> {
    let parquet = &source.parquet;
    let mut from = window.start;
    let mut rows = BooleanBufferBuilder::new(0);
    let mut left = usize::try_from(max_rows).unwrap_or(usize::MAX);
    let first = window.end.min(window.start.saturating_add(INITIAL_ROWS));
    let parts = [window.start..first, first..window.end];
    let ranges = parts.into_iter().flat_map(|part| {
        let leaves = predicate.leaves().to_vec();
        task_ranges(source.task_limits, Arc::clone(parquet), leaves, part)
    });
    for range in ranges {
        let at = parquet.start(range.group) + range.rows.start as u64;
        let found = match_rows(source, range.clone(), predicate, left).await?;
        match found
            .as_ref()
            .and_then(|mask| mask.set_indices().nth(left).map(|index| (mask, index)))
        {
            None => left -= found.as_ref().map_or(0, BooleanBuffer::count_set_bits),
            Some((mask, index)) => {
                rows.append_buffer(&mask.slice(0, index));
                return Ok(Matches { from, rows: rows.finish(), next: Some(at + index as u64) });
            }
        }
        match found {
            Some(mask) => rows.append_buffer(&mask),
            // Rows before the first match need not be remembered.
            None if rows.is_empty() => from = at + range.rows.len() as u64,
            None => rows.append_n(range.rows.len(), false),
        }
    }
    Ok(Matches { from, rows: rows.finish(), next: None })
}

/// Rows of `range` that match; `None` if no row does. It must have no selection. Once more than
/// `enough` have been found, rows further on are left unset.
pub(crate) async fn match_rows(
    source: &FileSource,
    mut range: RowRange,
    predicate: &Arc<RowPredicate>,
    enough: usize,
) -> Result<Option<BooleanBuffer>, StorageFailure> {
    let (group, length) = (range.group, range.rows.len());
    let Some(left) = predicate.prune_row_group(source, group).await? else { return Ok(None) };
    let candidates = left.candidates.as_ref().map(|rows| rows.slice(range.rows.start, length));
    if candidates.as_ref().is_some_and(|rows| !rows.has_true()) {
        return Ok(None);
    }
    if left.leaves.is_empty() {
        return Ok(Some(candidates.unwrap_or_else(|| BooleanBuffer::new_set(length))));
    }
    range.wanted = candidates.clone().filter(BooleanBuffer::has_false);
    let schema = source.parquet.metadata.file_metadata().schema_descr();
    let columns = ProjectionMask::leaves(schema, left.leaves.iter().copied());
    let decoded = candidates.as_ref().map_or(length, BooleanBuffer::count_set_bits);
    let Some(mut reader) =
        source.reader(&source.parquet.filter, columns, range, FILTER_BATCH_ROWS).await?
    else {
        return Ok(None);
    };
    let mut found = BooleanBufferBuilder::new(decoded);
    let mut matches = 0;
    // One job a batch, so that long searches take turns with other responses.
    while found.len() < decoded && matches <= enough {
        let (predicate, left) = (Arc::clone(predicate), Arc::clone(&left));
        let rows = source.batch(group, reader, move |batch| predicate.rows(&batch, &left)).await?;
        let Some((rest, rows)) = rows else { break };
        source.cache.metrics.rows_searched.add(rows.len() as u64);
        found.append_buffer(&rows);
        matches += rows.count_set_bits();
        reader = rest;
    }
    if matches == 0 {
        return Ok(None);
    }
    found.append_n(decoded.saturating_sub(found.len()), false);
    let found = found.finish();
    Ok(Some(candidates.map_or_else(|| found.clone(), |rows| spread(&found, &rows))))
}

/// The bits of `found`, one for each set bit of `candidates`, in the places of those.
fn spread(found: &BooleanBuffer, candidates: &BooleanBuffer) -> BooleanBuffer {
    let mut rows = BooleanBufferBuilder::new(candidates.len());
    let mut taken = 0;
    for (start, end) in candidates.set_slices() {
        rows.append_n(start - rows.len(), false);
        rows.append_buffer(&found.slice(taken, end - start));
        taken += end - start;
    }
    rows.append_n(candidates.len() - rows.len(), false);
    rows.finish()
}
