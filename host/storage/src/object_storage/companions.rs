//! Small objects that describe a stored file to readers of the bucket, in a folder of the file's
//! own: they are removed with it. Knows nothing of what they say. Never in a store that is a
//! folder.

use bytes::Bytes;
use futures::TryStreamExt;
use object_store::path::Path as Key;
use object_store::{ObjectStoreExt, PutPayload};
use yearbook_domain::{Digest, ObjectKey, StoredFile, StoredKind};

use super::ObjectStorage;
use crate::StorageFailure;

/// Folder that holds the folders of all files.
const FOLDER: &str = "iceberg";

impl ObjectStorage {
    /// Address of a stored file as readers of the bucket write it, `s3://bucket/prefix/key`; `None`
    /// where the store is no bucket.
    #[must_use]
    pub fn bucket_address(&self, file: &StoredFile) -> Option<String> {
        self.address(&self.key_of(file))
    }

    /// Address of the companion `name` of the file `sha256`; `None` where the store is no bucket.
    #[must_use]
    pub fn companion_address(&self, sha256: &Digest, name: &str) -> Option<String> {
        self.address(&companion_key(sha256, name))
    }

    /// Address of the bucket's part that is ours, without a slash at its end; `None` where the
    /// store is no bucket.
    #[must_use]
    pub fn bucket_root(&self) -> Option<&str> {
        self.remote_settings.address.as_deref()
    }

    /// Stores the companion `name` of a file, in place of what was there. It appears whole or not
    /// at all.
    ///
    /// # Errors
    /// The store's refusal.
    pub async fn put_companion(
        &self,
        sha256: &Digest,
        name: &str,
        bytes: Bytes,
    ) -> Result<(), StorageFailure> {
        let key = companion_key(sha256, name);
        let put = self.store.put(&Key::from(key.as_str()), PutPayload::from_bytes(bytes)).await;
        put.map(drop).map_err(|source| StorageFailure::store(&key, source))
    }

    /// Reads the companion `name` of a file; `None` where there is nothing under its key.
    ///
    /// # Errors
    /// [`StorageFailure::Damaged`] where it has more than `limit` bytes; the store's refusal.
    pub async fn get_companion(
        &self,
        sha256: &Digest,
        name: &str,
        limit: u64,
    ) -> Result<Option<Bytes>, StorageFailure> {
        let key = companion_key(sha256, name);
        let refused = |source| StorageFailure::store(&key, source);
        match self.store.get(&Key::from(key.as_str())).await {
            // Checked before it is read: what lies there may have any size.
            Ok(found) if found.meta.size > limit => Err(StorageFailure::damaged(
                &key,
                format!("it has {} bytes, more than {limit}", found.meta.size),
            )),
            Ok(found) => found.bytes().await.map(Some).map_err(refused),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(source) => Err(refused(source)),
        }
    }

    /// Removes every companion of `stored`; nothing happens where the store is no bucket.
    pub(super) async fn remove_companions(&self, stored: &ObjectKey) -> Result<(), StorageFailure> {
        if self.remote_settings.address.is_none() || stored.kind != StoredKind::Snapshot {
            return Ok(());
        }
        let folder = format!("{FOLDER}/{}", stored.sha256);
        let refused = |source| StorageFailure::store(&folder, source);
        let mut objects = self.store.list(Some(&Key::from(folder.as_str())));
        while let Some(object) = objects.try_next().await.map_err(refused)? {
            match self.store.delete(&object.location).await {
                Ok(()) | Err(object_store::Error::NotFound { .. }) => {}
                Err(source) => return Err(refused(source)),
            }
        }
        Ok(())
    }

    fn address(&self, key: &str) -> Option<String> {
        self.remote_settings.address.as_ref().map(|root| format!("{root}/{key}"))
    }
}

fn companion_key(sha256: &Digest, name: &str) -> String {
    format!("{FOLDER}/{sha256}/{name}")
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::sync::Arc;

    use object_store::memory::InMemory;

    use super::super::RemoteSettings;
    use super::*;

    #[tokio::test]
    async fn descriptions_go_with_their_file_contract_12() {
        let remote = RemoteSettings {
            address: Some("s3://shelf/a".to_owned()),
            ..RemoteSettings::default()
        };
        let files = ObjectStorage::new(Arc::new(InMemory::new()), None, remote);
        let (one, other) = (Digest::compute(b"one"), Digest::compute(b"other"));
        for (sha256, name) in [(&one, "v0.json"), (&one, "v2.json"), (&other, "v1.json")] {
            files.put_companion(sha256, name, Bytes::from_static(b"{}")).await.unwrap();
        }
        let address = format!("s3://shelf/a/iceberg/{one}/v0.json");
        assert_eq!(files.companion_address(&one, "v0.json"), Some(address));
        files.remove(&ObjectKey::snapshot(&one)).await.unwrap();
        for (sha256, name, expected) in
            [(&one, "v0.json", false), (&one, "v2.json", false), (&other, "v1.json", true)]
        {
            let found = files.get_companion(sha256, name, 2).await.unwrap();
            assert_eq!(found.is_some(), expected, "{sha256}/{name}");
        }
        let failure = files.get_companion(&other, "v1.json", 1).await.unwrap_err();
        assert!(matches!(failure, StorageFailure::Damaged { .. }), "{failure}");
    }
}
