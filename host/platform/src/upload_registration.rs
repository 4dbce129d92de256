//! Declaring what is about to be stored (decision 0170), and waiting while somebody removes just
//! that.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures::FutureExt;
use futures::future::BoxFuture;
use sha2::{Digest, Sha256};
use yearbook_catalog::{Catalog, UploadRegistration};
use yearbook_domain::Stored;
use yearbook_snapshot::{ObjectStorage, UploadRegistrar};

use crate::ReleaseError;

/// How long to wait for a `gc` to remove what is to be stored again: one file takes it
/// milliseconds.
const REMOVAL_TIMEOUT: Duration = Duration::from_secs(30);

/// How long to wait before asking again.
const RETRY_DELAY: Duration = Duration::from_millis(200);

/// Declarations in a catalogue, for files of snapshots.
pub struct UploadRegistry(pub Arc<Catalog>);

impl UploadRegistrar for UploadRegistry {
    fn declare<'a>(&'a self, stored: &'a Stored) -> BoxFuture<'a, Result<(), String>> {
        declare(&*self.0, stored)
            .map(|declared| declared.map_err(|problem| problem.to_string()))
            .boxed()
    }
}

/// Declares a component and stores it; its digest.
pub(crate) async fn store_component(
    store: &Catalog,
    files: &ObjectStorage,
    bytes: Bytes,
) -> Result<String, ReleaseError> {
    let hashed = bytes.clone();
    let digest = tokio::task::spawn_blocking(move || Sha256::digest(&hashed))
        .await
        .map_err(|_| ReleaseError::Panicked)?;
    let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    declare(store, &Stored::component(&digest)).await?;
    Ok(files.put_component(bytes).await?)
}

async fn declare(store: &Catalog, stored: &Stored) -> Result<(), ReleaseError> {
    let begun = Instant::now();
    while store.register_upload(stored).await? == UploadRegistration::BeingDeleted {
        if begun.elapsed() > REMOVAL_TIMEOUT {
            return Err(ReleaseError::BeingRemoved(stored.clone()));
        }
        tokio::time::sleep(RETRY_DELAY).await;
    }
    Ok(())
}
