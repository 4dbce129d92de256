//! Objects beside a stored file that hold what was found out about it when it was published. They
//! are listed and removed with the file. Knows nothing of what they say.

use std::fs::File;
use std::io::Cursor;
use std::ops::Range;

use bytes::{BufMut, Bytes, BytesMut};
use object_store::path::Path as Key;
use object_store::{MultipartUpload, ObjectStoreExt, PutPayload};
use tokio::io::{AsyncReadExt as _, AsyncSeekExt as _};
use yearbook_domain::StoredFile;

use super::hash::run_blocking;
use super::upload::next_part;
use super::{ObjectStorage, TRANSFER_BYTES};
use crate::StorageFailure;

/// Kind of an object beside a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sidecar {
    /// Values of the columns that have few.
    Values,
    /// Bounds of each row's geometry.
    Bounds,
}

/// Bytes of an object that are read at most: what lies there may have any size.
const MAX_BYTES: u64 = 128 << 20;

impl Sidecar {
    /// Ending of its name.
    pub(super) const fn ending(self) -> &'static str {
        match self {
            Self::Values => "values",
            Self::Bounds => "bounds",
        }
    }

    /// Key of the object beside `file`, as [`ObjectStorage::key`] is the file's.
    #[must_use]
    pub fn key(self, file: &StoredFile) -> String {
        format!("snapshots/{}.{}", file.sha256, self.ending())
    }
}

impl ObjectStorage {
    /// Stores `content` beside a file that has been uploaded, in place of what was there. It
    /// appears whole or not at all.
    ///
    /// # Errors
    /// The store's refusal.
    pub async fn put_sidecar(
        &self,
        file: &StoredFile,
        sidecar: Sidecar,
        content: &[u8],
    ) -> Result<(), StorageFailure> {
        let key = self.sidecar_key(file, sidecar);
        let mut bytes = BytesMut::with_capacity(content.len() + 4);
        bytes.put_slice(content);
        bytes.put_u32_le(crc32fast::hash(content));
        let payload = PutPayload::from_bytes(bytes.freeze());
        let put = self.store.put(&Key::from(key.as_str()), payload).await;
        put.map(drop).map_err(|source| StorageFailure::store(&key, source))
    }

    /// Reads what stands beside a file; `None` where there is nothing.
    ///
    /// # Errors
    /// [`StorageFailure::Damaged`] where it is not what was stored; the store's refusal.
    pub async fn get_sidecar(
        &self,
        file: &StoredFile,
        sidecar: Sidecar,
    ) -> Result<Option<Bytes>, StorageFailure> {
        if let Some(made) = self.made_file(file) {
            return run_blocking(move || made.sidecar(sidecar)).await?;
        }
        let key = self.sidecar_key(file, sidecar);
        let refused = |source| StorageFailure::store(&key, source);
        let mut bytes = match self.store.get(&Key::from(key.as_str())).await {
            Ok(found) if found.meta.size > MAX_BYTES => {
                let why = format!("it has {} bytes, more than {MAX_BYTES}", found.meta.size);
                return Err(StorageFailure::damaged(&key, why));
            }
            Ok(found) => found.bytes().await.map_err(refused)?,
            Err(object_store::Error::NotFound { .. }) => return Ok(None),
            Err(source) => return Err(refused(source)),
        };
        let content = bytes.split_to(bytes.len().saturating_sub(4));
        if *bytes != crc32fast::hash(&content).to_le_bytes() {
            return Err(StorageFailure::damaged(&key, "its checksum differs"));
        }
        Ok(Some(content))
    }

    /// Stores `head` and all of `body` beside a file that has been uploaded, in place of what was
    /// there. It appears whole or not at all. Holds a part of it at a time.
    ///
    /// # Errors
    /// The store's refusal; [`StorageFailure::Local`] where `body` cannot be read.
    pub async fn put_sidecar_file(
        &self,
        file: &StoredFile,
        sidecar: Sidecar,
        head: Vec<u8>,
        body: File,
    ) -> Result<(), StorageFailure> {
        let key = self.sidecar_key(file, sidecar);
        let refused = |source| StorageFailure::store(&key, source);
        let unreadable = |source| StorageFailure::local("read", &std::env::temp_dir(), source);
        let mut body = tokio::fs::File::from_std(body);
        body.rewind().await.map_err(unreadable)?;
        let mut content = Cursor::new(head).chain(body);
        let first = next_part(&mut content).await.map_err(unreadable)?;
        if first.len() < TRANSFER_BYTES {
            let put = self.store.put(&Key::from(key.as_str()), PutPayload::from_bytes(first)).await;
            return put.map(drop).map_err(refused);
        }
        let mut upload =
            self.store.put_multipart(&Key::from(key.as_str())).await.map_err(refused)?;
        let sent = async {
            let mut part = first;
            while !part.is_empty() {
                upload.put_part(PutPayload::from_bytes(part)).await.map_err(refused)?;
                part = next_part(&mut content).await.map_err(unreadable)?;
            }
            upload.complete().await.map(drop).map_err(refused)
        };
        let sent = sent.await;
        if sent.is_err() {
            // Nothing is visible yet.
            let _ = upload.abort().await;
        }
        sent
    }

    /// Bytes `range` of what stands beside a file, as far as there are so many; `None` where there
    /// is nothing. They are as the store has them: nothing is checked.
    ///
    /// # Errors
    /// [`StorageFailure::Damaged`] where it ends before the range; the store's refusal.
    pub async fn get_sidecar_range(
        &self,
        file: &StoredFile,
        sidecar: Sidecar,
        range: Range<u64>,
    ) -> Result<Option<Bytes>, StorageFailure> {
        if let Some(made) = self.made_file(file) {
            let got = run_blocking(move || made.sidecar_range(sidecar, &range)).await?;
            return self.count_sidecar(got);
        }
        let name = self.sidecar_key(file, sidecar);
        let key = Key::from(name.as_str());
        let start = range.start;
        let got = match self.store.get_range(&key, range).await {
            Ok(bytes) => Ok(Some(bytes)),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            // A store refuses a range that begins behind the end.
            Err(refusal) => match self.store.head(&key).await {
                Ok(found) if found.size <= start => {
                    Err(StorageFailure::damaged(&name, format!("it has {} bytes", found.size)))
                }
                _ => Err(StorageFailure::store(&name, refusal)),
            },
        };
        self.count_sidecar(got)
    }

    /// Blocking: [`ObjectStorage::get_sidecar_range`] on this thread, for stores that are local.
    ///
    /// # Errors
    /// [`StorageFailure::Local`] where it cannot be read; [`StorageFailure::Mismatch`] where the
    /// store is not local.
    pub fn get_sidecar_range_blocking(
        &self,
        file: &StoredFile,
        sidecar: Sidecar,
        range: Range<u64>,
    ) -> Result<Option<Bytes>, StorageFailure> {
        let key = self.sidecar_key(file, sidecar);
        let got = match self.made_file(file) {
            Some(made) => made.sidecar_range(sidecar, &range),
            None => self.local_folder().and_then(|folder| folder.read_object(&key, &range)),
        };
        self.count_sidecar(got)
    }

    fn count_sidecar(
        &self,
        got: Result<Option<Bytes>, StorageFailure>,
    ) -> Result<Option<Bytes>, StorageFailure> {
        let got = got.map(|bytes| bytes.into_iter().collect());
        self.metrics.count(&got);
        got.map(|mut bytes: Vec<Bytes>| bytes.pop())
    }

    /// Returns whether what stands beside a file is there and what was stored.
    ///
    /// # Errors
    /// The store's refusal; absence and damage are none.
    pub async fn sidecar_is_intact(
        &self,
        file: &StoredFile,
        sidecar: Sidecar,
    ) -> Result<bool, StorageFailure> {
        match self.get_sidecar(file, sidecar).await {
            Ok(found) => Ok(found.is_some()),
            Err(StorageFailure::Damaged { .. }) => Ok(false),
            Err(failure) => Err(failure),
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::sync::Arc;

    use object_store::memory::InMemory;
    use yearbook_domain::{Digest, ObjectKey};

    use super::*;

    #[tokio::test]
    async fn what_stands_beside_a_file_is_whole_and_goes_with_it() {
        let store = Arc::new(InMemory::new());
        let files = ObjectStorage::from_store(store.clone());
        let file = StoredFile { sha256: Digest::compute(b"x"), bytes: 1 };
        let read = async || files.get_sidecar(&file, Sidecar::Values).await;
        assert_eq!(read().await.unwrap(), None);
        for content in [&b"{}"[..], b""] {
            files.put_sidecar(&file, Sidecar::Values, content).await.unwrap();
            assert_eq!(read().await.unwrap().as_deref(), Some(content));
            assert!(files.sidecar_is_intact(&file, Sidecar::Values).await.unwrap());
        }
        let held = files.held().await.unwrap();
        assert_eq!((held.len(), held[0].bytes), (1, 4));
        let key = Key::from(files.sidecar_key(&file, Sidecar::Values));
        for damaged in [&b"{}1234"[..], b"abc", b""] {
            store.put(&key, PutPayload::from(damaged.to_vec())).await.unwrap();
            assert!(matches!(read().await, Err(StorageFailure::Damaged { .. })), "{damaged:?}");
            assert!(!files.sidecar_is_intact(&file, Sidecar::Values).await.unwrap());
        }
        files.remove(&ObjectKey::snapshot(&file.sha256)).await.unwrap();
        assert_eq!(read().await.unwrap(), None);
    }
}
