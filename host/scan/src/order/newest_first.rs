//! Rows by number, the newest date first and rows of one date as they are stored. Holds the numbers
//! of one block.

use std::collections::VecDeque;
use std::ops::Range;

use arrow::array::BooleanBufferBuilder;

use super::date_runs::DateRuns;
use super::wanted_rows::WantedRows;
use crate::StorageFailure;
use crate::decode::FileSource;

/// Rows of a block.
const BLOCK_ROWS: u64 = 8 << 10;

/// Wanted rows that have not been handed out.
#[derive(Clone)]
pub(super) struct NewestFirst {
    source: FileSource,
    runs: DateRuns,
    /// Runs that were found, newest first.
    found: VecDeque<Range<u64>>,
    wanted: WantedRows,
    left: u64,
}

/// The first wanted rows.
pub(super) struct NewestMatches {
    /// One bit a row of the window.
    pub(super) wanted: WantedRows,
    /// Number of them.
    pub(super) rows: u64,
    /// The wanted row behind them.
    pub(super) next: Option<u64>,
}

impl NewestFirst {
    /// The first `most` rows of `runs` that are `wanted`.
    pub(super) fn new(source: FileSource, runs: DateRuns, wanted: WantedRows, most: u64) -> Self {
        Self { source, runs, found: VecDeque::new(), wanted, left: most }
    }

    /// Numbers of the next rows; `None` at the end.
    pub(super) async fn next(&mut self) -> Result<Option<Vec<u64>>, StorageFailure> {
        while self.left > 0 {
            let runs = self.next_runs().await?;
            let (Some(newest), Some(oldest)) = (runs.first(), runs.last()) else { break };
            // Runs of a block are neighbours.
            let block = oldest.start..newest.end;
            let ascending = self.wanted.numbers(&self.source, block).await?;
            let of_run = |run: &Range<u64>| {
                let [start, end] = [run.start, run.end]
                    .map(|bound| ascending.partition_point(|&number| number < bound));
                ascending.get(start..end).unwrap_or_default().iter().copied()
            };
            let left = usize::try_from(self.left).unwrap_or(usize::MAX);
            let numbers: Vec<u64> = runs.iter().flat_map(of_run).take(left).collect();
            if !numbers.is_empty() {
                self.left -= numbers.len() as u64;
                return Ok(Some(numbers));
            }
        }
        Ok(None)
    }

    /// Finds the rows now, all but the last one, which is the row behind them. Holds one bit for
    /// each row of `window`.
    pub(super) async fn find(
        mut self,
        window: Range<u64>,
    ) -> Result<NewestMatches, StorageFailure> {
        let most = self.left.saturating_sub(1);
        let length = usize::try_from(window.end - window.start).unwrap_or(usize::MAX);
        let mut mask = BooleanBufferBuilder::new(length);
        mask.append_n(length, false);
        let mut rows = 0;
        while let Some(numbers) = self.next().await? {
            for number in numbers {
                if rows == most {
                    let wanted = WantedRows::Known { from: window.start, rows: mask.finish() };
                    return Ok(NewestMatches { wanted, rows, next: Some(number) });
                }
                mask.set_bit(usize::try_from(number - window.start).unwrap_or(usize::MAX), true);
                rows += 1;
            }
        }
        let wanted = WantedRows::Known { from: window.start, rows: mask.finish() };
        Ok(NewestMatches { wanted, rows, next: None })
    }

    /// The next runs: a block of them, or a block of a longer one.
    async fn next_runs(&mut self) -> Result<Vec<Range<u64>>, StorageFailure> {
        if self.found.is_empty() {
            self.found = self.runs.next().await?.into();
        }
        if let Some(run) = self.found.front_mut()
            && run.end - run.start > BLOCK_ROWS
        {
            let block = run.start..run.start + BLOCK_ROWS;
            run.start = block.end;
            return Ok(vec![block]);
        }
        Ok(std::mem::take(&mut self.found).into())
    }
}
