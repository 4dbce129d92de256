//! The end of a release (contract-21-waiting-files): its files move to the others, and the table is
//! described for readers of Iceberg. Nobody has to wait for it: until then the files are read from
//! where they waited.

use std::time::{Duration, Instant};

use yearbook_catalog::{Catalog, UploadError, register_upload};
use yearbook_domain::{Digest, ObjectKey};
use yearbook_iceberg::{IcebergFailure, IcebergWriter};
use yearbook_storage::{ObjectStorage, StorageFailure};

/// Time in failures after which they are taken for those of all: the store or the database is away.
const PATIENCE: Duration = Duration::from_secs(30);

/// Reasons for which the files of releases stay where they are.
#[derive(Debug, thiserror::Error)]
pub enum ReleaseFilesFailure {
    /// The catalog failed.
    #[error(transparent)]
    Catalog(#[from] yearbook_catalog::CatalogError),
    /// A copy cannot be registered.
    #[error(transparent)]
    Upload(#[from] UploadError),
    /// The object store failed.
    #[error(transparent)]
    Storage(#[from] StorageFailure),
    /// The table is not described.
    #[error(transparent)]
    Iceberg(#[from] IcebergFailure),
}

/// Makes visible what is due, moves the files of released versions to the others, and describes
/// their tables. Returns the number of files.
///
/// # Errors
/// [`ReleaseFilesFailure`], the first: one file or table that fails holds up no other, unless that
/// takes long, and the next call tries it again.
pub async fn finish_releases(
    catalog: &Catalog,
    files: &ObjectStorage,
    iceberg: Option<&IcebergWriter>,
) -> Result<usize, ReleaseFilesFailure> {
    catalog.settle_due_releases().await?;
    let waited = catalog.waiting_files(true).await?;
    let mut failing = Duration::ZERO;
    let mut first_failure: Option<ReleaseFilesFailure> = None;
    for file in &waited {
        let begun = Instant::now();
        if let Err(failure) = move_file(catalog, files, file).await {
            first_failure.get_or_insert(failure);
            failing += begun.elapsed();
            if failing > PATIENCE {
                break;
            }
        }
    }
    if let Some(iceberg) = iceberg {
        // Whoever moved files may have described nothing, and what goes back to a version that is
        // retained has none to move.
        for (name, version) in catalog.released_versions().await? {
            let begun = Instant::now();
            if let Err(failure) = Box::pin(iceberg.describe_released(&name, version)).await {
                first_failure.get_or_insert(failure.into());
                failing += begun.elapsed();
                if failing > PATIENCE {
                    break;
                }
            }
        }
    }
    first_failure.map_or(Ok(waited.len()), Err)
}

/// Calls [`finish_releases`] and logs a failure: whoever publishes goes on without.
pub(crate) async fn attempt_to_finish_releases(
    catalog: &Catalog,
    files: &ObjectStorage,
    iceberg: Option<&IcebergWriter>,
) {
    if let Err(failure) = Box::pin(finish_releases(catalog, files, iceberg)).await {
        tracing::warn!(%failure, "files of released versions stay where they waited, or are not described");
    }
}

async fn move_file(
    catalog: &Catalog,
    files: &ObjectStorage,
    file: &Digest,
) -> Result<(), ReleaseFilesFailure> {
    register_upload(catalog, &ObjectKey::snapshot(file)).await?;
    files.copy_waiting(file).await?;
    Ok(catalog.record_moved_file(file).await?)
}
