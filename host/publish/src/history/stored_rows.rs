//! Rows of stored files, batch by batch on the workers.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::RecordBatch;
use futures::TryStreamExt as _;
use yearbook_domain::changes::ChangeSet;
use yearbook_domain::{Column, Snapshot};
use yearbook_scan::Reader;
use yearbook_scan::schema::{change_file_columns, unchecked_schema};
use yearbook_sort::SortError;
use yearbook_workers::Workers;

use super::STAGE;
use crate::diff::AlignedSnapshot;
use crate::error::PublishError;
use crate::publish::stages::{run_on_worker, sort_error};

/// Does `take` with the rows of a stored file in a window, as `target` shows them.
pub(super) async fn read<T: Send + 'static>(
    workers: &Arc<Workers>,
    reader: &Reader,
    (file, window): (&Snapshot, Range<u64>),
    target: &[Column],
    mut state: T,
    take: impl Fn(&mut T, &RecordBatch) -> Result<(), SortError> + Send + Sync + 'static,
) -> Result<T, PublishError> {
    let (file, take) = (Arc::new(AlignedSnapshot::of_same_types(file, target)), Arc::new(take));
    let schema = unchecked_schema(target);
    let mut batches = file.scan_window(reader, window).await?.batches;
    while let Some(batch) = batches.try_next().await? {
        let (file, take, schema) = (Arc::clone(&file), Arc::clone(&take), Arc::clone(&schema));
        let job = move || {
            take(&mut state, &file.align(&batch, schema)?)?;
            Ok(state)
        };
        state = run_on_worker(workers, STAGE, job).await?.map_err(sort_error(STAGE))?;
    }
    Ok(state)
}

/// The file of changes as a table of the shape that `like` has.
pub(super) fn change_file(like: &Snapshot, set: &ChangeSet) -> Snapshot {
    Snapshot {
        rows: set.rows,
        file: set.file.clone(),
        columns: change_file_columns(&set.columns),
        ..like.clone()
    }
}
