//! Batches of chosen rows, one range after another.

use std::sync::Arc;

use arrow::array::RecordBatch;

use super::batching::batch_rows;
use super::read_task::{ReadTask, RowFilter, SMALL_SCAN_ROWS, ScanContext};
use crate::StorageFailure;
use crate::decode::{FileSource, Projection, RowRange};

/// Reads ranges of rows whole.
pub(crate) struct RowBatches {
    context: Arc<ScanContext>,
    batch_rows: usize,
}

impl RowBatches {
    /// Reader of the columns of `projection`, for about `rows` rows in all.
    pub(crate) fn new(mut source: FileSource, projection: Projection, rows: u64) -> Self {
        let small = rows <= SMALL_SCAN_ROWS as u64;
        if small {
            source.task_limits = source.task_limits.for_small_scan();
        }
        let groups = 0..source.parquet.metadata.num_row_groups();
        let of_group = |group| batch_rows(&source.parquet, &projection, group);
        let batch_rows = groups.map(of_group).min().unwrap_or(1);
        let context = ScanContext {
            source,
            projection,
            from: 0,
            filter: RowFilter::All,
            small,
            long_text: false,
        };
        Self { context: Arc::new(context), batch_rows }
    }

    /// The file.
    pub(crate) fn source(&self) -> &FileSource {
        &self.context.source
    }

    /// Rows of a batch in any row group.
    pub(crate) fn batch_rows(&self) -> usize {
        self.batch_rows
    }

    /// The wanted rows of `range`.
    pub(crate) async fn read(&self, range: RowRange) -> Result<Vec<RecordBatch>, StorageFailure> {
        let mut batches = Vec::new();
        match self.context.fetch(range).await? {
            None => {}
            Some(ReadTask::Decoded(slices)) => batches = slices,
            Some(ReadTask::Fetched(fetched)) => {
                let mut rest = Some(fetched);
                while let Some(fetched) = rest {
                    let slices;
                    (slices, rest) = self.context.decode(fetched).await?;
                    batches.extend(slices);
                }
            }
        }
        Ok(batches)
    }
}
