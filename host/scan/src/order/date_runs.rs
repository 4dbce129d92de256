//! Runs of rows of one date, the newest first. Dates are read from the end in blocks, out of pages
//! that stay in memory for the next request; a run longer than a block is found by its boundaries,
//! whatever its length.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef};
use arrow::error::ArrowError;

use crate::StorageFailure;
use crate::date_window::partition_row;
use crate::decode::{FileSource, task_ranges};
use crate::texts::Texts;

/// Rows whose dates are read at a time.
const BLOCK_ROWS: u64 = 8 << 10;

/// Runs of the rows of a window that have not been handed out, and where the runs are found.
#[derive(Clone)]
pub(super) struct DateRuns {
    source: FileSource,
    /// Name of the date column.
    column: Arc<str>,
    /// The same column in the file.
    leaf: usize,
    /// Rest of a run in which reading begins.
    head: Option<Range<u64>>,
    /// Rows behind it, in natural order.
    rest: Range<u64>,
}

/// The runs of a block: the row at which each date begins, and the date of the first row.
#[derive(Default)]
struct BlockRuns {
    first: Option<String>,
    last: Option<String>,
    starts: Vec<u64>,
    rows: u64,
}

impl DateRuns {
    /// The runs of `window`, whose bounds do not cut a run.
    pub(super) fn new(
        source: FileSource,
        column: &str,
        window: Range<u64>,
    ) -> Result<Self, StorageFailure> {
        let leaf = source.parquet.column_index_by_name(column)?;
        Ok(Self { source, column: column.into(), leaf, head: None, rest: window })
    }

    /// Number of rows that have not been handed out.
    pub(super) fn rows(&self) -> u64 {
        let head = self.head.as_ref().map_or(0, |head| head.end - head.start);
        head + (self.rest.end - self.rest.start)
    }

    /// Begins at `row` of the window; nothing is left where `row` is not in it.
    pub(super) async fn skip_to(&mut self, row: u64) -> Result<(), StorageFailure> {
        if !self.rest.contains(&row) {
            self.rest.end = self.rest.start;
            return Ok(());
        }
        let run = self.run_of(row).await?;
        (self.head, self.rest.end) = (Some(row..run.end), run.start);
        Ok(())
    }

    /// Returns the row that comes behind the next `skipped` rows; `None` if there are no more.
    pub(super) async fn row_behind(&self, skipped: u64) -> Result<Option<u64>, StorageFailure> {
        if skipped >= self.rows() {
            return Ok(None);
        }
        let head = self.head.clone().unwrap_or(0..0);
        let Some(skipped) = skipped.checked_sub(head.end - head.start) else {
            return Ok(Some(head.start + skipped));
        };
        // A run has the same place from the end in either order, so this row is in the right run.
        let run = self.run_of(self.rest.end - 1 - skipped).await?;
        Ok(Some(run.start + (skipped - (self.rest.end - run.end))))
    }

    /// The next runs, newest first, which are neighbours: some thousand rows, or one longer run.
    /// Empty at the end.
    pub(super) async fn next(&mut self) -> Result<Vec<Range<u64>>, StorageFailure> {
        if let Some(head) = self.head.take() {
            return Ok(vec![head]);
        }
        let Range { start, end } = self.rest;
        let from = start.max(end.saturating_sub(BLOCK_ROWS));
        if from == end {
            return Ok(Vec::new());
        }
        let block = self.read_block(from..end).await?;
        // The first run of the block may have begun before it.
        let whole =
            if from == start { &*block.starts } else { block.starts.get(1..).unwrap_or(&[]) };
        let Some(&first) = whole.first() else {
            let run = self.run_from(block.first.as_deref().unwrap_or_default(), end).await?;
            self.rest.end = run.start;
            return Ok(vec![run]);
        };
        let ends = whole.iter().skip(1).copied().chain([end]);
        let mut runs: Vec<_> = whole.iter().zip(ends).map(|(&start, end)| start..end).collect();
        runs.reverse();
        self.rest.end = first;
        Ok(runs)
    }

    /// The run of the date of `row`.
    async fn run_of(&self, row: u64) -> Result<Range<u64>, StorageFailure> {
        let date = self.read_block(row..row + 1).await?.first.unwrap_or_default();
        let end = self.boundary(|other| other <= date.as_bytes()).await?;
        self.run_from(&date, end.min(self.rest.end)).await
    }

    /// The run of `date`, which ends at `end`.
    async fn run_from(&self, date: &str, end: u64) -> Result<Range<u64>, StorageFailure> {
        let start = self.boundary(|other| other < date.as_bytes()).await?.max(self.rest.start);
        // Progress, even where the file is not sorted by date.
        Ok(start.min(end.saturating_sub(1))..end)
    }

    async fn boundary(&self, before: impl Fn(&[u8]) -> bool) -> Result<u64, StorageFailure> {
        partition_row(&self.source, &self.column, before).await
    }

    async fn read_block(&self, block: Range<u64>) -> Result<BlockRuns, StorageFailure> {
        let (parquet, limits) = (&self.source.parquet, self.source.task_limits);
        let mut runs = BlockRuns { rows: block.start, ..BlockRuns::default() };
        for range in task_ranges(limits, Arc::clone(parquet), vec![self.leaf], block) {
            let group = range.group;
            let columns = self.source.columns(group, &[self.leaf], range.rows).await?;
            for dates in &columns {
                dates.whole().and_then(|dates| runs.append(&dates)).map_err(|why| {
                    StorageFailure::damaged(&parquet.key, format!("row group {group}: {why}"))
                })?;
            }
        }
        Ok(runs)
    }
}

impl BlockRuns {
    fn append(&mut self, dates: &ArrayRef) -> Result<(), ArrowError> {
        let texts = Texts::new(dates)?;
        match texts {
            // Most dates are compared by their keys.
            Texts::Keyed(keys, _) if keys.null_count() == 0 => {
                let mut first = 0;
                for run in keys.values().chunk_by(|left, right| left == right) {
                    self.push(texts.get(first), run.len() as u64);
                    first += run.len();
                }
            }
            _ => (0..dates.len()).for_each(|row| self.push(texts.get(row), 1)),
        }
        Ok(())
    }

    /// Appends `rows` rows of one date.
    fn push(&mut self, date: Option<&str>, rows: u64) {
        let date = date.unwrap_or_default();
        if self.last.as_deref() != Some(date) {
            self.first.get_or_insert_with(|| date.to_owned());
            self.last = Some(date.to_owned());
            self.starts.push(self.rows);
        }
        self.rows += rows;
    }
}
