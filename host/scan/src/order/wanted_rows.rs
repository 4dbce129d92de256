//! Rows that everything but order and `limit` leaves, found range by range.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::BooleanBufferBuilder;
use arrow::buffer::BooleanBuffer;

use crate::StorageFailure;
use crate::decode::{FileSource, RowRange, task_ranges};
use crate::filter::{RowPredicate, match_rows};

/// Rows of a window that are wanted. Cheap to clone.
#[derive(Clone)]
pub(crate) enum WantedRows {
    /// All of them.
    All,
    /// Rows that pass, to be found range by range.
    Tested(Arc<RowPredicate>),
    /// Rows whose bit is set; the first bit stands for row `from` of the file.
    Known {
        /// A row of the file.
        from: u64,
        /// One bit a row.
        rows: BooleanBuffer,
    },
}

impl WantedRows {
    /// Returns one bit for each row of `range`, which has no selection; `None` if no row is wanted.
    /// Once more than `enough` have been found, rows further on may be left unset.
    pub(super) async fn mask(
        &self,
        source: &FileSource,
        range: &RowRange,
        enough: usize,
    ) -> Result<Option<BooleanBuffer>, StorageFailure> {
        let length = range.rows.len();
        match self {
            Self::All => Ok(Some(BooleanBuffer::new_set(length))),
            Self::Tested(predicate) => match_rows(source, range.clone(), predicate, enough).await,
            Self::Known { from, rows } => {
                let first = source.parquet.start(range.group) + range.rows.start as u64;
                let first = usize::try_from(first.saturating_sub(*from)).unwrap_or(usize::MAX);
                let known = rows.len().saturating_sub(first).min(length);
                if known == 0 {
                    return Ok(None);
                }
                let mut mask = BooleanBufferBuilder::new(length);
                mask.append_buffer(&rows.slice(first, known));
                mask.append_n(length - known, false);
                let mask = mask.finish();
                Ok(mask.has_true().then_some(mask))
            }
        }
    }

    /// Returns the numbers of the wanted rows in `window`, ascending.
    pub(super) async fn numbers(
        &self,
        source: &FileSource,
        window: Range<u64>,
    ) -> Result<Vec<u64>, StorageFailure> {
        if matches!(self, Self::All) {
            return Ok(window.collect());
        }
        let mut numbers = Vec::new();
        let limits = source.task_limits;
        for range in task_ranges(limits, Arc::clone(&source.parquet), Vec::new(), window) {
            let first = source.parquet.start(range.group) + range.rows.start as u64;
            if let Some(mask) = self.mask(source, &range, usize::MAX).await? {
                numbers.extend(mask.set_indices().map(|index| first + index as u64));
            }
        }
        Ok(numbers)
    }

    /// Returns the wanted rows of `range`, and their numbers; `None` if there are none.
    pub(super) async fn select(
        &self,
        source: &FileSource,
        mut range: RowRange,
    ) -> Result<Option<(RowRange, Vec<u64>)>, StorageFailure> {
        let Some(mask) = self.mask(source, &range, usize::MAX).await? else { return Ok(None) };
        let first = source.parquet.start(range.group) + range.rows.start as u64;
        let numbers: Vec<u64> = mask.set_indices().map(|index| first + index as u64).collect();
        range.wanted = (numbers.len() < range.rows.len()).then_some(mask);
        Ok(Some((range, numbers)))
    }
}
