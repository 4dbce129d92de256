//! Objects beside a stored file that hold what was found out about it when it was published. They
//! are listed and removed with the file. Knows nothing of what they say.

use bytes::{BufMut, Bytes, BytesMut};
use object_store::path::Path as Key;
use object_store::{ObjectStoreExt, PutPayload};
use yearbook_domain::StoredFile;

use super::ObjectStorage;
use crate::StorageFailure;

/// Kind of an object beside a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sidecar {
    /// Values of the columns that have few.
    Values,
}

/// Bytes of an object that are read at most: what lies there may have any size.
const MAX_BYTES: u64 = 128 << 20;

impl Sidecar {
    /// Ending of its name.
    pub(super) const fn ending(self) -> &'static str {
        match self {
            Self::Values => "values",
        }
    }

    fn key(self, file: &StoredFile) -> String {
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
        let key = sidecar.key(file);
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
        let key = sidecar.key(file);
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
    use yearbook_domain::{Digest, Stored};

    use super::*;

    #[tokio::test]
    async fn what_stands_beside_a_file_is_whole_and_goes_with_it() {
        let store = Arc::new(InMemory::new());
        let files = ObjectStorage::from_store(store.clone());
        let file = StoredFile { sha256: Digest::of(b"x"), bytes: 1 };
        let read = async || files.get_sidecar(&file, Sidecar::Values).await;
        assert_eq!(read().await.unwrap(), None);
        for content in [&b"{}"[..], b""] {
            files.put_sidecar(&file, Sidecar::Values, content).await.unwrap();
            assert_eq!(read().await.unwrap().as_deref(), Some(content));
            assert!(files.sidecar_is_intact(&file, Sidecar::Values).await.unwrap());
        }
        let held = files.held().await.unwrap();
        assert_eq!((held.len(), held[0].bytes), (1, 4));
        let key = Key::from(Sidecar::Values.key(&file));
        for damaged in [&b"{}1234"[..], b"abc", b""] {
            store.put(&key, PutPayload::from(damaged.to_vec())).await.unwrap();
            assert!(matches!(read().await, Err(StorageFailure::Damaged { .. })), "{damaged:?}");
            assert!(!files.sidecar_is_intact(&file, Sidecar::Values).await.unwrap());
        }
        files.remove(&Stored::snapshot(&file.sha256)).await.unwrap();
        assert_eq!(read().await.unwrap(), None);
    }
}
