//! Rows that contain a pattern, found by reading the dimension columns alone.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::BooleanBufferBuilder;
use arrow::buffer::BooleanBuffer;
use parquet::arrow::ProjectionMask;

use super::dimension_search::DimensionSearch;
use crate::StorageFailure;
use crate::decode::{FileSource, RowRange, task_ranges};
use crate::search_pattern::SearchPattern;

/// Rows decoded at a time while a pattern is looked for.
const SEARCH_BATCH_ROWS: usize = 8192;

/// Rows looked at before whole steps are: a common pattern with a small maximum is found in these.
const INITIAL_SEARCH_ROWS: u64 = 16 << 10;

/// Rows that contain a pattern.
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
    pattern: SearchPattern,
    max_rows: u64,
) -> Result<Matches, StorageFailure> {
    let parquet = &source.parquet;
    let search = Arc::new(DimensionSearch::new(pattern));
    let mut from = window.start;
    let mut rows = BooleanBufferBuilder::new(0);
    let mut left = usize::try_from(max_rows).unwrap_or(usize::MAX);
    let first = window.end.min(window.start.saturating_add(INITIAL_SEARCH_ROWS));
    let parts = [window.start..first, first..window.end];
    let ranges = parts.into_iter().flat_map(|part| {
        task_ranges(source.task_limits, Arc::clone(parquet), parquet.dimensions.clone(), part)
    });
    for range in ranges {
        let at = parquet.start(range.group) + range.rows.start as u64;
        let found = match_rows(source, range.clone(), &search, left).await?;
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
    range: RowRange,
    search: &Arc<DimensionSearch>,
    enough: usize,
) -> Result<Option<BooleanBuffer>, StorageFailure> {
    let (group, length) = (range.group, range.rows.len());
    let predicates = search.prune_row_group(source, group).await?;
    if predicates.is_empty() {
        return Ok(None);
    }
    let schema = source.parquet.metadata.file_metadata().schema_descr();
    let columns = ProjectionMask::leaves(schema, predicates.iter().map(|predicate| predicate.leaf));
    let Some(mut reader) =
        source.reader(&source.parquet.filter, columns, range, SEARCH_BATCH_ROWS).await?
    else {
        return Ok(None);
    };
    let mut found = BooleanBufferBuilder::new(length);
    let mut matches = 0;
    // One job a batch, so that long searches take turns with other responses.
    while found.len() < length && matches <= enough {
        let (search, predicates) = (Arc::clone(search), Arc::clone(&predicates));
        let rows =
            source.batch(group, reader, move |batch| search.rows(&batch, &predicates)).await?;
        let Some((rest, rows)) = rows else { break };
        source.cache.metrics.rows_searched.add(rows.len() as u64);
        found.append_buffer(&rows);
        matches += rows.count_set_bits();
        reader = rest;
    }
    found.append_n(length.saturating_sub(found.len()), false);
    Ok((matches > 0).then(|| found.finish()))
}
