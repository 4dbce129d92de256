//! Uploads of finished files. Each is registered before its first byte is written, so that
//! `yearbook gc` tells an upload in progress from an orphan (decision 0170).

use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use futures::future::BoxFuture;
use object_store::path::Path as Key;
use object_store::{ObjectStoreExt, PutPayload};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncSeekExt};
use yearbook_domain::{ObjectKey, StoredFile};

use super::hash::{self, FileHasher};
use super::{ObjectStorage, TRANSFER_BYTES};
use crate::StorageFailure;

/// Registers uploads before their first byte is written.
pub trait UploadRegistrar: Send + Sync {
    /// Declares `stored`; once this is done nothing removes it. It may be there already.
    ///
    /// # Errors
    /// A sentence, when it cannot be declared.
    fn declare<'a>(&'a self, stored: &'a ObjectKey) -> BoxFuture<'a, Result<(), String>>;
}

impl ObjectStorage {
    /// The same store, where every snapshot's file is declared before the store is asked about it.
    /// Without this nothing is declared.
    #[must_use]
    pub fn with_upload_registrar(&self, registrar: Arc<dyn UploadRegistrar>) -> Self {
        Self { upload_registrar: Some(registrar), ..self.clone() }
    }

    /// Declares `stored`, where anybody wants to know.
    async fn declare(&self, stored: ObjectKey) -> Result<(), StorageFailure> {
        let Some(registrar) = &self.upload_registrar else { return Ok(()) };
        registrar
            .declare(&stored)
            .await
            .map_err(|why| StorageFailure::Unregistered { key: stored.to_string(), why })
    }

    /// Uploads a finished local file under its digest: [`ObjectStorage::put_open_file`].
    ///
    /// # Errors
    /// [`StorageFailure::Local`] when `path` cannot be opened, else as
    /// [`ObjectStorage::put_open_file`].
    pub async fn put_snapshot(&self, path: &Path) -> Result<StoredFile, StorageFailure> {
        let opened = std::fs::File::open(path)
            .map_err(|source| StorageFailure::local("read", path, source))?;
        self.put_open_file(opened, path).await
    }

    /// Uploads a finished local file, `named` so in messages, under its digest. It appears whole
    /// under its final key or not at all; in a folder it is written beside it, synced, and renamed.
    /// An intact copy that is there already is kept; a damaged one is replaced, which is how
    /// publishing again repairs a store.
    ///
    /// # Errors
    /// [`StorageFailure::Local`] when the file cannot be read or changes while it is read,
    /// [`StorageFailure::Store`] on the store's refusal.
    pub async fn put_open_file(
        &self,
        opened: std::fs::File,
        named: &Path,
    ) -> Result<StoredFile, StorageFailure> {
        let (opened, (file, sums)) = hash::hash_local_file(opened, named).await?;
        self.declare(self.note_upload(&file.sha256)).await?;
        // First, so that a visible file always has its checksums.
        if self.stored_checksums(&file).await?.as_ref() != Some(&sums) {
            let key = self.checksums_key_of(&file);
            let put = self
                .store
                .put(&Key::from(key.as_str()), PutPayload::from_bytes(sums.to_bytes()))
                .await;
            put.map_err(|source| StorageFailure::store(&key, source))?;
        }
        if !self.is_intact(&file).await? {
            self.upload_multipart(opened, named, &file).await?;
        }
        Ok(file)
    }

    async fn upload_multipart(
        &self,
        opened: std::fs::File,
        path: &Path,
        file: &StoredFile,
    ) -> Result<(), StorageFailure> {
        let key = self.key_of(file);
        let refused = |source| StorageFailure::store(&key, source);
        let unreadable = |source| StorageFailure::local("read", path, source);
        let mut upload =
            self.store.put_multipart(&Key::from(key.as_str())).await.map_err(refused)?;
        let sent = async {
            let mut source = tokio::fs::File::from_std(opened);
            source.rewind().await.map_err(unreadable)?;
            let mut digest = FileHasher::default();
            loop {
                let part = next_part(&mut source).await.map_err(unreadable)?;
                if part.is_empty() {
                    break;
                }
                digest = digest.and(part.clone()).await?;
                upload.put_part(PutPayload::from_bytes(part)).await.map_err(refused)?;
            }
            if digest.finish().0 != *file {
                return Err(unreadable(std::io::Error::other(
                    "it changed while it was being uploaded",
                )));
            }
            upload.complete().await.map_err(refused)
        }
        .await;
        if let Err(failure) = sent {
            // Nothing is visible yet. What stays behind if this fails too is an unfinished upload,
            // never an object.
            let _ = upload.abort().await;
            return Err(failure);
        }
        Ok(())
    }
}

/// Up to [`TRANSFER_BYTES`] bytes; only the last part is shorter, as stores demand.
pub(super) async fn next_part(source: &mut (impl AsyncRead + Unpin)) -> std::io::Result<Bytes> {
    let mut part = Vec::with_capacity(TRANSFER_BYTES);
    source.take(TRANSFER_BYTES as u64).read_to_end(&mut part).await?;
    Ok(part.into())
}
