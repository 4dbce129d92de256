//! Files of versions that wait for their time (contract-21-waiting-files): they lie in a folder of
//! their own, which readers of the bucket cannot reach, and are read from there until they are
//! moved to the others.

use futures::TryStreamExt;
use object_store::path::Path as Key;
use object_store::{ObjectStore, ObjectStoreExt, PutPayload, WriteMultipart};
use yearbook_domain::{Digest, ObjectKey, StoredFile, WaitingFiles};

use super::listing::endings;
use super::sidecar::Sidecar;
use super::{ObjectStorage, TRANSFER_BYTES};
use crate::StorageFailure;

/// Folder of files.
const FILES: &str = "snapshots";

/// Folder of those that wait.
const WAITING: &str = "waiting";

/// Bytes of the largest object that S3 copies by itself (`CopyObject`).
const MOST_COPIED_BYTES: u64 = 5_000_000_000;

/// Parts of an object on their way to a store at once.
const PARTS_AT_ONCE: usize = 2;

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
    /// what they are where this is done twice, also once the file no longer lies where it waited.
    ///
    /// # Errors
    /// The store's refusal; [`StorageFailure::Missing`] where there is nothing to copy, and
    /// [`StorageFailure::Damaged`] where the copy of before is all there is, and is not whole.
    pub async fn copy_waiting(&self, sha256: &Digest) -> Result<(), StorageFailure> {
        let (from, to) = (ObjectKey::waiting(sha256), ObjectKey::snapshot(sha256));
        let file = Self::key(&StoredFile { sha256: *sha256, bytes: 0 });
        // A folder of this machine copies whatever its file system takes.
        let most = if self.is_local() { u64::MAX } else { MOST_COPIED_BYTES };
        // What others need comes first: a file never stands without its checksums.
        for ending in endings(from.kind).iter().rev() {
            let (old, new) = (format!("{from}.{ending}"), format!("{to}.{ending}"));
            let keys = (&Key::from(old.as_str()), &Key::from(new.as_str()));
            let copied = copy_object(&*self.store, keys, most).await;
            match copied {
                Ok(()) => {}
                Err(object_store::Error::NotFound { .. }) if new == file => {
                    // Somebody else may have moved it, and `gc` has removed what was copied.
                    let others = self.with_waiting_files(WaitingFiles::default());
                    if others.find(*sha256).await?.is_none() {
                        return Err(StorageFailure::Missing { key: old });
                    }
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

/// Copies an object; one of more than `most` bytes goes through this machine, part by part.
async fn copy_object(
    store: &dyn ObjectStore,
    (from, to): (&Key, &Key),
    most: u64,
) -> object_store::Result<()> {
    if store.head(from).await?.size <= most {
        return store.copy(from, to).await;
    }
    let mut read = store.get(from).await?.into_stream();
    let upload = store.put_multipart(to).await?;
    let mut upload = WriteMultipart::new_with_chunk_size(upload, TRANSFER_BYTES);
    let sent = async {
        while let Some(bytes) = read.try_next().await? {
            upload.wait_for_capacity(PARTS_AT_ONCE).await?;
            upload.put(bytes);
        }
        Ok(())
    };
    match sent.await {
        Ok(()) => upload.finish().await.map(drop),
        Err(failure) => {
            // Nothing is visible yet, and what stays behind if this fails too is no object.
            let _ = upload.abort().await;
            Err(failure)
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use object_store::memory::InMemory;

    use super::*;

    #[tokio::test]
    async fn a_file_that_somebody_else_moved_is_moved_contract_21_waiting_files() {
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("source");
        std::fs::write(&source, vec![7; 100]).unwrap();
        for remote in [false, true] {
            let files = if remote {
                ObjectStorage::from_store(std::sync::Arc::new(InMemory::new()))
            } else {
                let store = folder.path().join("store");
                ObjectStorage::open(&format!("file:{}", store.display())).unwrap()
            };
            let sha256 = files.with_waiting_uploads().put_snapshot(&source).await.unwrap().sha256;
            files.copy_waiting(&sha256).await.unwrap();
            files.remove(&ObjectKey::waiting(&sha256)).await.unwrap();
            files.copy_waiting(&sha256).await.unwrap();
            let key = Key::from(format!("snapshots/{sha256}.parquet"));
            files.store.put(&key, PutPayload::from_static(b"half")).await.unwrap();
            let failure = files.copy_waiting(&sha256).await.unwrap_err();
            assert!(matches!(failure, StorageFailure::Damaged { .. }), "{remote}: {failure}");
            files.remove(&ObjectKey::snapshot(&sha256)).await.unwrap();
            let failure = files.copy_waiting(&sha256).await.unwrap_err();
            assert!(matches!(failure, StorageFailure::Missing { .. }), "{remote}: {failure}");
        }
    }

    /// S3 copies no object of more than 5 GB by itself.
    #[tokio::test]
    async fn objects_that_a_store_does_not_copy_are_read_and_stored_contract_21_waiting_files() {
        let store = InMemory::new();
        let bytes: Vec<u8> = (0..=250).cycle().take(TRANSFER_BYTES * 2 + 77).collect();
        let (from, to) = (Key::from("waiting/one"), Key::from("snapshots/one"));
        store.put(&from, bytes.clone().into()).await.unwrap();
        for most in [TRANSFER_BYTES as u64, u64::MAX] {
            copy_object(&store, (&from, &to), most).await.unwrap();
            assert!(store.get(&to).await.unwrap().bytes().await.unwrap() == bytes, "{most}");
            store.delete(&to).await.unwrap();
        }
        let missing = (&Key::from("waiting/two"), &to);
        let refused = copy_object(&store, missing, 0).await.unwrap_err();
        assert!(matches!(refused, object_store::Error::NotFound { .. }), "{refused}");
    }
}
