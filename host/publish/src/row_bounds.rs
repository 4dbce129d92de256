//! Bounds of rows for snapshots that were published before these were stored, or that lost them:
//! made of the stored file, the same as publishing makes.

use std::sync::Arc;

use futures::TryStreamExt as _;
use yearbook_domain::{Column, ColumnRole, Snapshot};
use yearbook_scan::schema::batch_schema;
use yearbook_scan::{Reader, RowBoundsWriter, row_bounds_are_intact};
use yearbook_storage::{ObjectStorage, Sidecar, StorageFailure};
use yearbook_workers::Workers;

/// Stores the bounds of the rows of `snapshot` unless they are there; returns true where they were
/// not. Reads its geometry, and holds a batch of it.
///
/// # Errors
/// A [`StorageFailure`] that names the stored file.
pub async fn store_missing_bounds(
    files: &ObjectStorage,
    workers: &Arc<Workers>,
    snapshot: &Snapshot,
) -> Result<bool, StorageFailure> {
    let is_geometry = |column: &Column| column.role == ColumnRole::Geometry;
    let Some(position) = snapshot.columns.iter().position(is_geometry) else { return Ok(false) };
    if row_bounds_are_intact(files, workers, snapshot).await? {
        return Ok(false);
    }
    let folder = std::env::temp_dir();
    let io = |source| StorageFailure::local("write a temporary file in", &folder, source);
    let few_values = snapshot.columns.get(position).is_some_and(|column| column.few_values);
    let schema = Arc::new(batch_schema(snapshot, &[position])?);
    let mut bounds = RowBoundsWriter::new(tempfile::tempfile().map_err(io)?, few_values);
    let reader = Reader::new(files.clone(), Arc::clone(workers));
    let key = ObjectStorage::key(&snapshot.file);
    let mut end = 0;
    for (rows, bytes) in reader.row_groups(snapshot).await? {
        let window = end..end + rows;
        end = window.end;
        let scan = reader.scan_rows(snapshot, &[position], Arc::clone(&schema), window).await?;
        let mut batches = scan.batches;
        while let Some(batch) = batches.try_next().await? {
            let job = move || bounds.update(batch.column(0)).map(|()| bounds);
            let updated = workers.run(job).await;
            let updated =
                updated.map_err(|_| StorageFailure::ShuttingDown { what: key.clone() })?;
            bounds = updated.map_err(|why| StorageFailure::damaged(&key, why.to_string()))?;
        }
        bounds.end_group(bytes).map_err(io)?;
    }
    let (head, chunks) = bounds.finish(&snapshot.file.sha256).map_err(io)?;
    files.put_sidecar_file(&snapshot.file, Sidecar::Bounds, head, chunks).await?;
    Ok(true)
}
