//! Signed addresses of stored files, for stores that clients reach themselves (`storage.bulk =
//! "redirect"`). Its holder reads that one file until it ends; it is never logged.

use std::time::Duration;

#[cfg(feature = "s3")]
use object_store::path::Path as Key;
#[cfg(feature = "s3")]
use object_store::signer::{Method, SignedUrlOptions, Signer};
use yearbook_domain::StoredFile;

use super::ObjectStorage;
use crate::StorageFailure;
#[cfg(feature = "s3")]
use crate::settings::BulkDelivery;

impl ObjectStorage {
    /// An address from which anybody may read `file` for [`crate::StorageSettings::link_s`], which
    /// has the store say `content_type` and `disposition` of it. None where files go through us.
    /// The file is there in its full size when this returns; its bytes have not been checked.
    ///
    /// # Errors
    /// [`StorageFailure::Missing`]; [`StorageFailure::Damaged`] when it has another size; the
    /// store's refusal.
    #[cfg(feature = "s3")]
    pub async fn link(
        &self,
        file: &StoredFile,
        content_type: &str,
        disposition: &str,
    ) -> Result<Option<String>, StorageFailure> {
        let settings = &self.remote_settings.settings;
        let Some(bucket) = self
            .remote_settings
            .bucket
            .as_ref()
            .filter(|_| settings.bulk == BulkDelivery::Redirect)
        else {
            return Ok(None);
        };
        let key = self.key_of(file);
        match self.size(file).await? {
            None => return Err(StorageFailure::Missing { key }),
            Some(size) if size != file.bytes => {
                return Err(StorageFailure::wrong_size(&key, size, file));
            }
            Some(_) => {}
        }
        let said = [
            ("response-content-type", content_type),
            ("response-content-disposition", disposition),
        ];
        let options = SignedUrlOptions::new().with_query(said);
        let signed = bucket
            .signed_url_opts(Method::GET, &Key::from(key.as_str()), settings.link(), &options)
            .await;
        signed.map(|url| Some(url.into())).map_err(|source| StorageFailure::store(&key, source))
    }

    /// An address from which anybody may read `file` for `lifetime`, by GET; `None` where the store
    /// is no bucket. Asks no store.
    ///
    /// # Errors
    /// [`StorageFailure::Store`] where there are no credentials to sign with.
    #[cfg(feature = "s3")]
    pub async fn presign(
        &self,
        file: &StoredFile,
        lifetime: Duration,
    ) -> Result<Option<String>, StorageFailure> {
        let Some(bucket) = self.remote_settings.bucket.as_ref() else { return Ok(None) };
        let key = self.key_of(file);
        let options = SignedUrlOptions::new();
        let signed =
            bucket.signed_url_opts(Method::GET, &Key::from(key.as_str()), lifetime, &options).await;
        signed.map(|url| Some(url.into())).map_err(|source| StorageFailure::store(&key, source))
    }

    /// None: a build without S3 has no store that signs addresses.
    ///
    /// # Errors
    /// None.
    #[cfg(not(feature = "s3"))]
    #[expect(clippy::unused_async, reason = "the signature is that of builds with S3")]
    pub async fn presign(
        &self,
        _file: &StoredFile,
        _lifetime: Duration,
    ) -> Result<Option<String>, StorageFailure> {
        Ok(None)
    }

    /// None: a build without S3 has no store that signs addresses.
    ///
    /// # Errors
    /// None.
    #[cfg(not(feature = "s3"))]
    #[expect(clippy::unused_async, reason = "the signature is that of builds with S3")]
    pub async fn link(
        &self,
        _file: &StoredFile,
        _content_type: &str,
        _disposition: &str,
    ) -> Result<Option<String>, StorageFailure> {
        Ok(None)
    }
}
