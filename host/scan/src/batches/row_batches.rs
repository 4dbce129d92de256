//! Batches of chosen rows, one range after another.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;

use super::batching::{content_bytes, least_batch_rows, range_bytes};
use super::read_task::{ReadTask, RowFilter, SMALL_SCAN_ROWS, ScanContext};
use crate::StorageFailure;
use crate::decode::{FileSource, Projection, RowRange};

/// Reads ranges of rows whole.
pub(crate) struct RowBatches {
    context: Arc<ScanContext>,
    batch_rows: usize,
    row_bytes: u64,
}

impl RowBatches {
    /// Reader of the columns of `projection`, for about `rows` rows in all.
    pub(crate) fn new(mut source: FileSource, projection: Projection, rows: u64) -> Self {
        let small = rows <= SMALL_SCAN_ROWS as u64;
        if small {
            source.task_limits = source.task_limits.for_small_scan();
        }
        let groups = || 0..source.parquet.metadata.num_row_groups();
        let batch_rows = least_batch_rows(&source.parquet, &projection);
        let row_bytes = |group| range_bytes(&source.parquet, &projection, group, 1);
        let row_bytes = groups().map(row_bytes).max().unwrap_or(0);
        let context = ScanContext {
            source,
            projection,
            filter: RowFilter::All,
            small,
            long_text: false,
            joined_rows: None,
        };
        Self { context: Arc::new(context), batch_rows, row_bytes }
    }

    /// The file.
    pub(crate) fn source(&self) -> &FileSource {
        &self.context.source
    }

    /// Schema of rows with their numbers; `None` if those are not sent.
    pub(crate) fn numbered_schema(&self) -> Option<SchemaRef> {
        self.context.projection.numbered.clone()
    }

    /// Rows of a batch in any row group.
    pub(crate) fn batch_rows(&self) -> usize {
        self.batch_rows
    }

    /// Bytes of a row once decoded, by the averages of the row group whose rows are largest.
    pub(crate) fn row_bytes(&self) -> u64 {
        self.row_bytes
    }

    /// The wanted rows of `range`, whose bytes are taken off `room`; `None` where there is less.
    pub(crate) async fn read(
        &self,
        range: RowRange,
        room: &mut u64,
    ) -> Result<Option<Vec<RecordBatch>>, StorageFailure> {
        let mut batches = Vec::new();
        let mut takes = |slices: &[RecordBatch]| {
            let bytes = slices.iter().map(content_bytes).sum();
            room.checked_sub(bytes).map(|left| *room = left).is_some()
        };
        match self.context.fetch(range).await?.map(|step| step.task) {
            // Kept rows are those to be joined.
            None | Some(ReadTask::Kept(_)) => {}
            Some(ReadTask::Decoded(slices)) if takes(&slices) => batches = slices,
            Some(ReadTask::Decoded(_)) => return Ok(None),
            Some(ReadTask::Fetched(fetched)) => {
                let mut rest = Some(fetched);
                while let Some(fetched) = rest {
                    let slices;
                    (slices, rest) = self.context.decode(fetched).await?;
                    if !takes(&slices) {
                        return Ok(None);
                    }
                    batches.extend(slices);
                }
            }
        }
        Ok(Some(batches))
    }
}
