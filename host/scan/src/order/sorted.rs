//! Rows by number in the order of sort keys. Holds the keys of the rows of one page.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::RecordBatch;

use super::best_rows::BestRows;
use super::budget::{SelectionBudget, SelectionPermit};
use super::sort_keys::SortKeys;
use super::wanted_rows::WantedRows;
use crate::StorageFailure;
use crate::decode::{FileSource, RowRange, task_ranges};

/// Part of all room, one in so many, that is waited for at most: keys that turn out to be longer
/// take of what is free then, and few matching rows of long keys are not refused for those of all.
const WAITED_SHARE: u64 = 4;

/// Finds rows in the order of their keys.
pub(super) struct SortedSearch<'a> {
    pub(super) source: &'a FileSource,
    pub(super) budget: &'a SelectionBudget,
    pub(super) keys: Arc<SortKeys>,
}

/// Rows that were found.
pub(super) struct SortedNumbers {
    /// Their numbers, in order.
    pub(super) rows: Vec<u64>,
    /// The row behind them; `None` if there is none.
    pub(super) next: Option<u64>,
}

impl SortedSearch<'_> {
    /// Finds the first `most` wanted rows of a window, from row `first` on.
    pub(super) async fn find(
        &self,
        window: Range<u64>,
        wanted: &WantedRows,
        first: Option<u64>,
        most: u64,
    ) -> Result<SortedNumbers, StorageFailure> {
        let from = match first {
            Some(first) => match self.key_of(first).await? {
                Some(from) => Some(from),
                None => return Ok(SortedNumbers { rows: Vec::new(), next: None }),
            },
            None => None,
        };
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let rows = most.saturating_add(1);
        let mut best = BestRows::new(rows, from, self.room(rows as u64).await?);
        for range in self.ranges(window) {
            if let Some((range, numbers)) = wanted.select(self.source, range).await? {
                best = self.offer(best, range, numbers).await?;
            }
        }
        let (mut rows, _room) = best.into_sorted();
        let next = if rows.len() > most { rows.pop() } else { None };
        let rows = rows.into_iter().map(|(_, row)| row).collect();
        Ok(SortedNumbers { rows, next: next.map(|(_, row)| row) })
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
        let (best, _) = self.keys.reader().fold(self.source, range, (best, 0), step).await?;
        best.check()
    }

    fn ranges(&self, window: Range<u64>) -> impl Iterator<Item = RowRange> + Send + 'static {
        let (limits, parquet) = (self.source.task_limits, Arc::clone(&self.source.parquet));
        task_ranges(limits, parquet, self.keys.reader().leaves().to_vec(), window)
    }
}
