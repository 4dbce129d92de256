//! Trying a store out: for `yearbook doctor`.

use object_store::path::Path as Key;
use object_store::{ObjectStoreExt, PutPayload};

use super::ObjectStorage;
use crate::StorageFailure;

impl ObjectStorage {
    /// Stores an object of its own, reads it back and removes it.
    ///
    /// # Errors
    /// The store's refusal; [`Failure::Damaged`] when something else comes back.
    pub async fn probe(&self) -> Result<(), StorageFailure> {
        let name = format!("snapshots/doctor-{}", std::process::id());
        let refused = |source| StorageFailure::store(&name, source);
        let (key, content) = (Key::from(name.as_str()), "written by yearbook doctor");
        self.store.put(&key, PutPayload::from_static(content.as_bytes())).await.map_err(refused)?;
        let read = async { self.store.get(&key).await?.bytes().await }.await.map_err(refused);
        let removed = self.store.delete(&key).await.map_err(refused);
        if read? != content.as_bytes() {
            return Err(StorageFailure::damaged(&name, "what was written does not come back"));
        }
        removed
    }
}
