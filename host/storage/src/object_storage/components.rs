//! Components of plugins in the object store, addressed by the SHA-256 of their content like
//! everything else there. Bytes that do not have the digest they are named by never leave this
//! file.

use bytes::Bytes;
use object_store::path::Path as Key;
use object_store::{ObjectStoreExt, PutPayload};
use yearbook_domain::Digest;

use super::ObjectStorage;
use super::hash::run_blocking;
use crate::StorageFailure;

/// Bytes of a signature's file at most.
const SIGNATURE_BYTES: u64 = 4 << 10;

impl ObjectStorage {
    /// Key of a component in the store.
    #[must_use]
    pub fn component_key(digest: &Digest) -> String {
        format!("plugins/{digest}.wasm")
    }

    /// Returns whether a component is there in its full size.
    ///
    /// # Errors
    /// The store's refusal; absence is not one.
    pub async fn has_component(&self, digest: &Digest, bytes: u64) -> Result<bool, StorageFailure> {
        let key = Self::component_key(digest);
        match self.store.head(&Key::from(key.as_str())).await {
            Ok(meta) => Ok(meta.size == bytes),
            Err(object_store::Error::NotFound { .. }) => Ok(false),
            Err(source) => Err(StorageFailure::store(&key, source)),
        }
    }

    /// Stores a component under its digest, which is returned. It appears whole or not at all; a
    /// damaged copy is replaced.
    ///
    /// # Errors
    /// The store's refusal.
    pub async fn put_component(&self, bytes: Bytes) -> Result<Digest, StorageFailure> {
        let digest = hash_bytes(bytes.clone()).await?;
        let key = Self::component_key(&digest);
        let put = self.store.put(&Key::from(key.as_str()), PutPayload::from_bytes(bytes)).await;
        put.map_err(|source| StorageFailure::store(&key, source))?;
        Ok(digest)
    }

    /// The component with this digest and size, all of it in memory: call it only with a size that
    /// a catalog vouches for.
    ///
    /// # Errors
    /// [`StorageFailure::ComponentMissing`]; [`StorageFailure::ComponentDamaged`] when size or
    /// digest differ; [`StorageFailure::Store`] on the store's refusal.
    pub async fn get_component(
        &self,
        digest: &Digest,
        bytes: u64,
    ) -> Result<Bytes, StorageFailure> {
        let key = Self::component_key(digest);
        let refused = |source| match source {
            object_store::Error::NotFound { .. } => {
                StorageFailure::ComponentMissing { key: key.clone() }
            }
            source => StorageFailure::store(&key, source),
        };
        let found = self.store.get(&Key::from(key.as_str())).await.map_err(refused)?;
        // Checked before it is read: what lies there may have any size.
        if found.meta.size != bytes {
            let why =
                format!("it has {} bytes, not the {bytes} that were installed", found.meta.size);
            return Err(StorageFailure::ComponentDamaged { key, why });
        }
        let content = found.bytes().await.map_err(refused)?;
        if hash_bytes(content.clone()).await? == *digest {
            Ok(content)
        } else {
            Err(StorageFailure::ComponentDamaged {
                key,
                why: "its bytes do not have the digest it is named by".to_owned(),
            })
        }
    }
}

impl ObjectStorage {
    /// Key of a component's signature in the store.
    #[must_use]
    pub fn signature_key(digest: &Digest) -> String {
        format!("{}.minisig", Self::component_key(digest))
    }

    /// Stores what came as the signature of a component, in place of what was there.
    ///
    /// # Errors
    /// The store's refusal.
    pub async fn put_signature(
        &self,
        digest: &Digest,
        signature: Bytes,
    ) -> Result<(), StorageFailure> {
        let key = Self::signature_key(digest);
        let put = self.store.put(&Key::from(key.as_str()), PutPayload::from_bytes(signature)).await;
        put.map(drop).map_err(|source| StorageFailure::store(&key, source))
    }

    /// The object stored as the signature of a component; unverified. None where
    /// there is nothing, or more than a signature has.
    ///
    /// # Errors
    /// The store's refusal.
    pub async fn get_signature(&self, digest: &Digest) -> Result<Option<Bytes>, StorageFailure> {
        let key = Self::signature_key(digest);
        match self.store.get(&Key::from(key.as_str())).await {
            Ok(found) if found.meta.size > SIGNATURE_BYTES => Ok(None),
            Ok(found) => {
                found.bytes().await.map(Some).map_err(|source| StorageFailure::store(&key, source))
            }
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(source) => Err(StorageFailure::store(&key, source)),
        }
    }
}

/// Digest of bytes in memory, on a thread that may block.
async fn hash_bytes(bytes: Bytes) -> Result<Digest, StorageFailure> {
    run_blocking(move || Digest::compute(&bytes)).await
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[tokio::test]
    async fn a_component_comes_back_as_it_went_in_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let files = ObjectStorage::open(&format!("file:{}", folder.path().display())).unwrap();
        let bytes = Bytes::from_static(b"\0asm and more");
        let digest = files.put_component(bytes.clone()).await.unwrap();
        assert_eq!(
            files.put_component(bytes.clone()).await.unwrap(),
            digest,
            "twice is no mistake"
        );
        let size = bytes.len() as u64;
        assert_eq!(files.get_component(&digest, size).await.unwrap(), bytes);
        assert!(files.has_component(&digest, size).await.unwrap());

        let path = folder.path().join(ObjectStorage::component_key(&digest));
        std::fs::write(&path, b"\0asm and evil").unwrap();
        let damaged = files.get_component(&digest, size).await.unwrap_err();
        assert!(
            matches!(&damaged, StorageFailure::ComponentDamaged { .. })
                && damaged.to_string().contains("install it again"),
            "{damaged}"
        );
        std::fs::write(&path, vec![0; 1 << 20]).unwrap();
        assert!(matches!(
            files.get_component(&digest, size).await,
            Err(StorageFailure::ComponentDamaged { .. })
        ));
        assert_eq!(files.get_signature(&digest).await.unwrap(), None);
        files.put_signature(&digest, Bytes::from_static(b"signed")).await.unwrap();
        assert_eq!(
            files.get_signature(&digest).await.unwrap().as_deref(),
            Some(b"signed".as_slice())
        );
        files.put_signature(&digest, vec![0; 1 << 20].into()).await.unwrap();
        assert_eq!(
            files.get_signature(&digest).await.unwrap(),
            None,
            "no signature has a megabyte"
        );
        std::fs::remove_file(&path).unwrap();
        assert!(matches!(
            files.get_component(&digest, size).await,
            Err(StorageFailure::ComponentMissing { .. })
        ));
        assert!(!files.has_component(&digest, size).await.unwrap());
    }
}
