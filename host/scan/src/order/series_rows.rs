//! The first or last rows of each series, as one bit a row. Reading begins at the end that is asked
//! for, and stops when each series has its rows.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::BooleanBufferBuilder;
use yearbook_domain::SeriesRows;

use super::series::{SeriesKeys, SeriesNumbers};
use super::wanted_rows::WantedRows;
use crate::StorageFailure;
use crate::decode::{FileSource, RowRange, task_ranges};

/// Rows of the first block; each further one is twice as large, up to [`MAX_BLOCK_ROWS`].
const FIRST_BLOCK_ROWS: u64 = 8 << 10;

/// Rows of a block at most: bounds the numbers that are held of one.
const MAX_BLOCK_ROWS: u64 = 64 << 10;

/// The first or last rows of each series among the wanted rows of `window`. `series` is their
/// number in the whole file.
pub(super) async fn select_series_rows(
    source: &FileSource,
    keys: &SeriesKeys,
    window: Range<u64>,
    wanted: &WantedRows,
    rows: SeriesRows,
    series: u64,
) -> Result<WantedRows, StorageFailure> {
    let backwards = matches!(rows, SeriesRows::Last(_));
    let length = usize::try_from(window.end - window.start).unwrap_or(usize::MAX);
    let mut selected = BooleanBufferBuilder::new(length);
    selected.append_n(length, false);
    let mut numbers = SeriesNumbers::default();
    let mut counts: Vec<u16> = Vec::new();
    let most = u16::try_from(rows.rows()).unwrap_or(u16::MAX);
    let mut open = series;
    for range in blocks(source, window.clone(), backwards) {
        if open == 0 {
            break;
        }
        let Some((range, mut rows)) = wanted.select(source, range).await? else { continue };
        let mut series_of_rows;
        (numbers, series_of_rows) = keys.number_rows(source, range, numbers).await?;
        counts.resize(numbers.len(), 0);
        if backwards {
            rows.reverse();
            series_of_rows.reverse();
        }
        for (row, series) in rows.into_iter().zip(series_of_rows) {
            let Some(count) = counts.get_mut(series).filter(|count| **count < most) else {
                continue;
            };
            *count += 1;
            open = open.saturating_sub(u64::from(*count == most));
            let bit = usize::try_from(row - window.start).unwrap_or(usize::MAX);
            selected.set_bit(bit, true);
        }
    }
    Ok(WantedRows::Known { from: window.start, rows: selected.finish() })
}

/// Blocks of `window` in the order in which they are read, each within one row group.
fn blocks(
    source: &FileSource,
    window: Range<u64>,
    backwards: bool,
) -> impl Iterator<Item = RowRange> + Send + 'static {
    let (limits, parquet) = (source.task_limits, Arc::clone(&source.parquet));
    let mut rest = window;
    let mut length = FIRST_BLOCK_ROWS;
    let blocks = std::iter::from_fn(move || {
        let rows = length.min(rest.end - rest.start);
        length = (length * 2).min(MAX_BLOCK_ROWS);
        let block =
            if backwards { rest.end - rows..rest.end } else { rest.start..rest.start + rows };
        (rest.start, rest.end) =
            if backwards { (rest.start, block.start) } else { (block.end, rest.end) };
        (rows > 0).then_some(block)
    });
    blocks.flat_map(move |block| {
        let ranges = task_ranges(limits, Arc::clone(&parquet), Vec::new(), block);
        let mut ranges: Vec<RowRange> = ranges.collect();
        if backwards {
            ranges.reverse();
        }
        ranges
    })
}
