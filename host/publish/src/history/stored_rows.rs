//! Rows of stored files, batch by batch on the workers.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::RecordBatch;
use futures::{StreamExt as _, TryStreamExt as _};
use yearbook_domain::changes::ChangeSet;
use yearbook_domain::{Column, Snapshot};
use yearbook_scan::schema::{change_file_columns, unchecked_schema};
use yearbook_scan::{Reader, Scan};
use yearbook_sort::{RowBlock, SortError};
use yearbook_workers::Workers;

use super::STAGE;
use crate::diff::AlignedSnapshot;
use crate::error::PublishError;
use crate::progress::SilentReporter;
use crate::publish::stages::{BlockStream, for_each, sort_error};

/// Does `take` with the rows of a stored file in a window, as `target` shows them.
pub(super) async fn read<T: Send + 'static>(
    workers: &Arc<Workers>,
    reader: &Reader,
    (file, window): (&Snapshot, Range<u64>),
    target: &[Column],
    state: T,
    take: impl Fn(&mut T, &RecordBatch) -> Result<(), SortError> + Send + Sync + 'static,
) -> Result<T, PublishError> {
    let file = AlignedSnapshot::new(file, target);
    let rows = blocks(file.scan_window(reader, window).await?);
    let schema = unchecked_schema(target);
    let take = move |mut state: T, block: &RowBlock| {
        let rows = file.align(&block.rows, Arc::clone(&schema)).map_err(SortError::from);
        rows.and_then(|rows| take(&mut state, &rows)).map_err(sort_error(STAGE))?;
        Ok(state)
    };
    for_each(workers, STAGE, rows, &SilentReporter, state, take).await
}

/// The batches of a scan, one of which is made while another one is taken.
pub(super) fn blocks(scan: Scan) -> BlockStream<'static> {
    let block = |rows| RowBlock { rows, ends_group: false };
    scan.batches.map_ok(block).map_err(PublishError::from).boxed()
}

/// The file of changes as a table of the shape that `like` has, with text read plain, as
/// [`AlignedSnapshot`] reads it: a file is opened once.
pub(super) fn change_file(like: &Snapshot, set: &ChangeSet) -> Snapshot {
    let mut columns = change_file_columns(&set.columns);
    columns.iter_mut().for_each(|column| column.few_values = false);
    Snapshot { rows: set.rows, file: set.file.clone(), columns, ..like.clone() }
}
