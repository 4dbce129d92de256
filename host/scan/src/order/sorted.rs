//! Rows by number in the order of sort keys. Holds the keys of the rows that are handed out at
//! once; each further time reads the sort columns again.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::RecordBatch;
use yearbook_domain::read_plan::MAX_SORTED_ROWS;

use super::best_rows::BestRows;
use super::budget::{SelectionBudget, SelectionPermit};
use super::sort_keys::SortKeys;
use super::wanted_rows::WantedRows;
use crate::StorageFailure;
use crate::decode::{FileSource, RowRange, task_ranges};

/// Part of all room, one in so many, that is waited for at most: keys that turn out to be longer
/// take of what is free then, and few matching rows of long keys are not refused for those of all.
const WAITED_SHARE: u64 = 4;

/// Wanted rows of a window that have not been handed out.
pub(super) struct Sorted {
    source: FileSource,
    budget: SelectionBudget,
    keys: Arc<SortKeys>,
    window: Range<u64>,
    wanted: WantedRows,
    /// The row that comes first of those that have not been handed out.
    from: Option<(Box<[u8]>, u64)>,
    /// Rows that were found and not handed out.
    found: Option<Vec<u64>>,
    /// Rows that may still be found.
    left: u64,
}

impl Sorted {
    /// Finds the first of `most` rows, from row `first` on, as many as are held at once.
    pub(super) async fn start(
        source: FileSource,
        budget: &SelectionBudget,
        keys: SortKeys,
        window: Range<u64>,
        wanted: WantedRows,
        first: Option<u64>,
        most: u64,
    ) -> Result<Self, StorageFailure> {
        let mut sorted = Self {
            source,
            budget: budget.clone(),
            keys: Arc::new(keys),
            window,
            wanted,
            from: None,
            found: None,
            left: most,
        };
        if let Some(first) = first {
            sorted.from = sorted.key_of(first).await?;
            if sorted.from.is_none() {
                sorted.left = 0;
                return Ok(sorted);
            }
        }
        sorted.found = Some(sorted.find().await?);
        Ok(sorted)
    }

    /// Number of rows that were found first.
    pub(super) fn found_rows(&self) -> u64 {
        self.found.as_ref().map_or(0, Vec::len) as u64
    }

    /// The row behind those that were found; `None` if there is none.
    pub(super) fn next_row(&self) -> Option<u64> {
        self.from.as_ref().map(|(_, row)| *row)
    }

    /// Returns true where no more than the rows that were found are handed out.
    pub(super) fn is_whole(&self) -> bool {
        self.left == 0 || self.from.is_none()
    }

    /// Numbers of the next rows; `None` at the end.
    pub(super) async fn next(&mut self) -> Result<Option<Vec<u64>>, StorageFailure> {
        let rows = match self.found.take() {
            Some(found) => found,
            None if self.is_whole() => Vec::new(),
            None => self.find().await?,
        };
        Ok((!rows.is_empty()).then_some(rows))
    }

    /// The next rows; leaves the row behind them in `from`.
    async fn find(&mut self) -> Result<Vec<u64>, StorageFailure> {
        let most = usize::try_from(self.left.min(MAX_SORTED_ROWS)).unwrap_or(usize::MAX);
        let rows = most.saturating_add(1);
        let mut best = BestRows::new(rows, self.from.take(), self.room(rows as u64).await?);
        for range in self.ranges(self.window.clone()) {
            if let Some((range, numbers)) = self.wanted.select(&self.source, range).await? {
                best = self.offer(best, range, numbers).await?;
            }
        }
        let (mut rows, _room) = best.into_sorted();
        self.from = if rows.len() > most { rows.pop() } else { None };
        self.left -= rows.len() as u64;
        Ok(rows.into_iter().map(|(_, row)| row).collect())
    }

    /// The key of `row`; `None` if the file has no such row.
    async fn key_of(&self, row: u64) -> Result<Option<(Box<[u8]>, u64)>, StorageFailure> {
        let Some(range) = self.ranges(row..row.saturating_add(1)).next() else { return Ok(None) };
        let best = BestRows::new(1, None, self.room(1).await?);
        let best = self.offer(best, range, vec![row]).await?;
        Ok(best.into_sorted().0.pop())
    }

    /// Room for the keys of `rows` rows, by the averages of the file.
    async fn room(&self, rows: u64) -> Result<SelectionPermit, StorageFailure> {
        let parquet = &self.source.parquet;
        let bytes = self.keys.held_bytes(parquet, rows.min(parquet.rows()));
        self.budget.take(bytes.min(self.budget.total() / WAITED_SHARE)).await
    }

    async fn offer(
        &self,
        best: BestRows,
        range: RowRange,
        numbers: Vec<u64>,
    ) -> Result<BestRows, StorageFailure> {
        let keys = Arc::clone(&self.keys);
        let numbers: Arc<[u64]> = numbers.into();
        let step = move |(mut best, seen): (BestRows, usize), batch: &RecordBatch| {
            best.offer_all(&keys.encode(batch)?, numbers.get(seen..).unwrap_or_default());
            Ok((best, seen + batch.num_rows()))
        };
        let (best, _) = self.keys.reader().fold(&self.source, range, (best, 0), step).await?;
        best.check()
    }

    fn ranges(&self, window: Range<u64>) -> impl Iterator<Item = RowRange> + Send + 'static {
        let (limits, parquet) = (self.source.task_limits, Arc::clone(&self.source.parquet));
        task_ranges(limits, parquet, self.keys.reader().leaves().to_vec(), window)
    }
}
