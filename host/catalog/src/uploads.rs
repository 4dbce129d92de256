//! Registration of an upload before its first byte is written (decision 0170), with the wait for a
//! `gc` that removes just that object.

use std::time::{Duration, Instant};

use yearbook_domain::ObjectKey;

use crate::{Catalog, CatalogError, UploadRegistration};

/// Longest wait for a `gc` to remove the object that is to be stored again: one file takes it
/// milliseconds.
const REMOVAL_TIMEOUT: Duration = Duration::from_secs(30);

/// Wait between two attempts.
const RETRY_DELAY: Duration = Duration::from_millis(200);

/// Reasons why an upload is not registered.
#[derive(Debug, thiserror::Error)]
pub enum UploadError {
    /// The catalog failed.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// A `gc` removes the object and does not come to an end.
    #[error(
        "`yearbook gc` has been removing {0} for a while; try again, in ten minutes if that was killed"
    )]
    BeingRemoved(ObjectKey),
}

/// Registers the upload of `stored`: once this is done no `gc` removes it. Waits up to 30 seconds
/// for one that does so right now.
///
/// # Errors
/// [`UploadError`]; the upload must not begin.
pub async fn register_upload(catalog: &Catalog, stored: &ObjectKey) -> Result<(), UploadError> {
    let begun = Instant::now();
    while catalog.register_upload(stored).await? == UploadRegistration::BeingDeleted {
        if begun.elapsed() > REMOVAL_TIMEOUT {
            return Err(UploadError::BeingRemoved(stored.clone()));
        }
        tokio::time::sleep(RETRY_DELAY).await;
    }
    Ok(())
}
