//! A look at what is stored of a current version, without reading it.

use yearbook_domain::preview_facts::FACTS_VERSION;
use yearbook_domain::{DatasetName, Snapshot, WaitingFiles};
use yearbook_storage::{ObjectStorage, Sidecar, StorageFailure};

use super::{PublishFailure, Publisher};
use crate::error::PublishError;

impl Publisher {
    /// Returns true where the current version of a dataset is stored as publishing stores it, as
    /// far as the presence of all and the size of the file tell; true where there is none.
    /// Publishing reads the bytes too, and stores again what is missing or damaged.
    ///
    /// # Errors
    /// [`PublishFailure`] where the catalog or the store does not answer.
    pub async fn is_current_stored(&self, name: &DatasetName) -> Result<bool, PublishFailure> {
        let current = self.store.current_snapshot(name).await.map_err(PublishFailure::Current)?;
        let Some(current) = current else { return Ok(true) };
        let facts = self.stored_facts(name, Some(&current)).await?;
        // Those of a newer release are not replaced.
        if facts.is_none_or(|facts| facts.version < FACTS_VERSION) {
            return Ok(false);
        }
        // A release may have become current: its file is where it waited.
        let files = self.files.with_waiting_files(WaitingFiles::default());
        let waited = self.store.waiting_files(true).await.map_err(PublishFailure::Current)?;
        files.waiting_files().replace(waited);
        let stored = is_stored(&files, &current).await.map_err(PublishError::from)?;
        Ok(stored)
    }
}

async fn is_stored(files: &ObjectStorage, snapshot: &Snapshot) -> Result<bool, StorageFailure> {
    let file = &snapshot.file;
    if !files.exists(file).await? {
        return Ok(false);
    }
    let bounds = snapshot.has_geometry().then_some(Sidecar::Bounds);
    for sidecar in std::iter::once(Sidecar::Values).chain(bounds) {
        match files.get_sidecar_range(file, sidecar, 0..1).await {
            Ok(Some(_)) => {}
            Ok(None) | Err(StorageFailure::Damaged { .. }) => return Ok(false),
            Err(failure) => return Err(failure),
        }
    }
    Ok(true)
}
