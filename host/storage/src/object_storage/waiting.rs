//! Files of versions that wait for their time (contract-21-waiting-files): they lie in a folder of
//! their own, which readers of the bucket cannot reach, and are read from there until they are
//! moved to the others.

use futures::TryStreamExt;
use object_store::path::Path as Key;
use object_store::{CopyOptions, ObjectStore as _, ObjectStoreExt, PutPayload};
use yearbook_domain::{Digest, ObjectKey, StoredFile, WaitingFiles};

use super::ObjectStorage;
use super::listing::endings;
use super::sidecar::Sidecar;
use crate::StorageFailure;

/// Folder of files.
const FILES: &str = "snapshots";

/// Folder of those that wait.
const WAITING: &str = "waiting";

/// Name of an object that tells whether somebody may read the folder.
const PROBE: &str = "waiting/probe";

impl ObjectStorage {
    /// Returns the same store, where what is uploaded waits.
    #[must_use]
    pub fn with_waiting_uploads(&self) -> Self {
        Self { uploads_wait: true, ..self.clone() }
    }

    /// Returns the same store, where `waiting` says which files lie where they waited.
    #[must_use]
    pub fn with_waiting_files(&self, waiting: WaitingFiles) -> Self {
        Self { waiting, ..self.clone() }
    }

    /// Returns the files that lie where they waited, as this store knows them.
    #[must_use]
    pub fn waiting_files(&self) -> &WaitingFiles {
        &self.waiting
    }

    /// Copies a file that waited, and what stands beside it, to the others. The copies go on being
    /// what they are where this is done twice.
    ///
    /// # Errors
    /// The store's refusal; [`StorageFailure::Missing`] where there is nothing to copy.
    pub async fn copy_waiting(&self, sha256: &Digest) -> Result<(), StorageFailure> {
        let (from, to) = (ObjectKey::waiting(sha256), ObjectKey::snapshot(sha256));
        let file = Self::key(&StoredFile { sha256: *sha256, bytes: 0 });
        // What others need comes first: a file never stands without its checksums.
        for ending in endings(from.kind).iter().rev() {
            let (old, new) = (format!("{from}.{ending}"), format!("{to}.{ending}"));
            let copied = self
                .store
                .copy_opts(&Key::from(old.as_str()), &Key::from(new.as_str()), CopyOptions::new())
                .await;
            match copied {
                Ok(()) => {}
                Err(object_store::Error::NotFound { .. }) if new == file => {
                    return Err(StorageFailure::Missing { key: old });
                }
                Err(object_store::Error::NotFound { .. }) => {}
                Err(source) => return Err(StorageFailure::store(&old, source)),
            }
        }
        Ok(())
    }

    /// Returns true where `reader`, the same store as somebody else may read it, can list or read
    /// what waits. Stores an object to try it.
    ///
    /// # Errors
    /// The store's refusal to store the object.
    pub async fn waiting_is_readable_by(&self, reader: &Self) -> Result<bool, StorageFailure> {
        let key = Key::from(PROBE);
        let payload = PutPayload::from_static(b"nobody may read this");
        let put = self.store.put(&key, payload).await;
        put.map_err(|source| StorageFailure::store(PROBE, source))?;
        let lists = reader.store.list(Some(&Key::from(WAITING))).try_next().await.is_ok();
        let reads = reader.store.get(&key).await.is_ok();
        Ok(lists || reads)
    }

    /// Folder in which a file lies.
    pub(super) fn folder_of(&self, file: &StoredFile) -> &'static str {
        if self.waiting.contains(&file.sha256) { WAITING } else { FILES }
    }

    /// Key of a stored file.
    pub(super) fn key_of(&self, file: &StoredFile) -> String {
        format!("{}/{}.parquet", self.folder_of(file), file.sha256)
    }

    /// Key of the checksums beside a stored file: one is deleted with the other.
    pub(super) fn checksums_key_of(&self, file: &StoredFile) -> String {
        format!("{}/{}.crc32", self.folder_of(file), file.sha256)
    }

    /// Key of the object beside `file`.
    pub(super) fn sidecar_key(&self, file: &StoredFile, sidecar: Sidecar) -> String {
        format!("{}/{}.{}", self.folder_of(file), file.sha256, sidecar.ending())
    }

    /// Returns what a file that is about to be uploaded is registered as, having noted where it
    /// lies.
    pub(super) fn note_upload(&self, sha256: &Digest) -> ObjectKey {
        if !self.uploads_wait {
            return ObjectKey::snapshot(sha256);
        }
        self.waiting.insert(*sha256);
        ObjectKey::waiting(sha256)
    }
}
