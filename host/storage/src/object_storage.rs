//! Stored files, addressed by the SHA-256 of their content: opening a store and reading from it.
//! Knows nothing of what the files hold.

mod block_checksums;
mod companions;
mod components;
mod hash;
mod listing;
mod local_folder;
mod made_files;
mod metrics;
mod presigned_url;
#[cfg(feature = "s3")]
mod s3;
mod sidecar;
mod storage_url;
mod stream;
mod upload;
mod verified_read;
mod waiting;

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use object_store::path::Path as Key;
use object_store::{ObjectStore, ObjectStoreExt};
use yearbook_cache::Cache;
use yearbook_domain::{Digest, StoredFile, WaitingFiles};

use crate::StorageFailure;
use crate::settings::StorageSettings;

pub use self::listing::{StaleUpload, StoredObject};
pub use self::made_files::{MadeFile, MadeFiles};
pub use self::metrics::StorageMetricsSnapshot;
pub use self::sidecar::Sidecar;
pub use self::upload::UploadRegistrar;

use self::block_checksums::BlockChecksums;
use self::local_folder::LocalFolder;
use self::metrics::{StorageMetrics, StoreRequestMetrics};
#[cfg(feature = "s3")]
use self::s3::Bucket;

/// Bytes held in memory at a time while a whole file is moved: above the least part size of S3 (5
/// MiB).
const TRANSFER_BYTES: usize = 8 << 20;

/// Bytes of block checksums kept in memory: those of 32 GiB of files.
const CHECKSUM_CACHE_BYTES: u64 = 8 << 20;

/// The object store that holds snapshots. Cheap to clone.
#[derive(Clone)]
pub struct ObjectStorage {
    store: Arc<dyn ObjectStore>,
    /// The folder, if the store is one.
    local_folder: Option<Arc<LocalFolder>>,
    /// Settings for a store on the network.
    remote_settings: RemoteSettings,
    /// Block checksums by digest of the file.
    checksums: Cache<Digest, Arc<BlockChecksums>>,
    metrics: Arc<StorageMetrics>,
    upload_registrar: Option<Arc<dyn UploadRegistrar>>,
    /// Files that are read as if they were in the store.
    made_files: Option<MadeFiles>,
    /// Files that lie where they waited.
    waiting: WaitingFiles,
    /// Set where what is uploaded waits.
    uploads_wait: bool,
}

/// Settings and state of a store that is not a folder.
#[derive(Clone, Default)]
struct RemoteSettings {
    settings: StorageSettings,
    /// Address of the bucket's part that is ours, without a slash at its end; `None` if it is a
    /// folder.
    address: Option<String>,
    /// The bucket, where it is one: it signs addresses.
    #[cfg(feature = "s3")]
    bucket: Option<Arc<Bucket>>,
    requests: Arc<StoreRequestMetrics>,
}

impl ObjectStorage {
    /// [`ObjectStorage::open_with`] as it comes, without variables: for folders.
    ///
    /// # Errors
    /// As [`ObjectStorage::open_with`].
    pub fn open(url: &str) -> Result<Self, StorageFailure> {
        Self::open_with(url, &StorageSettings::default(), &[])
    }

    /// Opens the store at `url`: `file:/path/to/folder` (created when absent), or
    /// `s3://bucket/prefix`, for which `variables` hold credentials, region and endpoint under the
    /// names that every tool for S3 reads (`AWS_ACCESS_KEY_ID` and so on). Blocks briefly and asks
    /// no store; call at start-up.
    ///
    /// # Errors
    /// [`StorageFailure::InvalidUrl`] for an address of no known kind and for variables that make
    /// no sense, [`StorageFailure::Local`] when the folder cannot be made.
    pub fn open_with(
        url: &str,
        settings: &StorageSettings,
        variables: &[(String, String)],
    ) -> Result<Self, StorageFailure> {
        storage_url::open(url, settings, variables)
    }

    /// The same over any store, for stores that [`ObjectStorage::open`] does not know.
    #[must_use]
    pub fn from_store(store: Arc<dyn ObjectStore>) -> Self {
        Self::new(store, None, RemoteSettings::default())
    }

    /// Key of a stored file, for messages: one that waited may still lie elsewhere.
    #[must_use]
    pub fn key(file: &StoredFile) -> String {
        format!("snapshots/{}.parquet", file.sha256)
    }

    /// Key of the checksums beside a stored file, as [`ObjectStorage::key`] is the file's: one is
    /// deleted with the other.
    #[must_use]
    pub fn checksums_key(file: &StoredFile) -> String {
        format!("snapshots/{}.crc32", file.sha256)
    }

    /// Asks the store for anything, for readiness checks.
    ///
    /// # Errors
    /// The store's refusal.
    pub async fn ping(&self) -> Result<(), StorageFailure> {
        if let Some(local) = &self.local_folder {
            let there = tokio::fs::metadata(local.folder()).await;
            return there
                .map(drop)
                .map_err(|source| StorageFailure::local("read", local.folder(), source));
        }
        // A list of nothing: unlike an object that is missing, a bucket that is missing is an
        // error.
        let listed = self.store.list_with_delimiter(Some(&Key::from("ping"))).await;
        listed.map(drop).map_err(|source| StorageFailure::store("ping", source))
    }

    /// Returns whether the file is there in its full size.
    ///
    /// # Errors
    /// The store's refusal; absence is not one.
    pub async fn exists(&self, file: &StoredFile) -> Result<bool, StorageFailure> {
        Ok(self.size(file).await? == Some(file.bytes))
    }

    /// Size in bytes of what the store holds under the file's key; `None` when there is nothing.
    ///
    /// # Errors
    /// The store's refusal; absence is not one.
    pub async fn size(&self, file: &StoredFile) -> Result<Option<u64>, StorageFailure> {
        let key = self.key_of(file);
        match self.store.head(&Key::from(key.as_str())).await {
            Ok(meta) => Ok(Some(meta.size)),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(source) => Err(StorageFailure::store(&key, source)),
        }
    }

    /// Returns the stored file with this digest; `None` when there is nothing under its key. It
    /// ends where the published one does: its last block is read and checked.
    ///
    /// # Errors
    /// [`StorageFailure::Damaged`] where it is shorter or longer than what was published, or its
    /// last block is not what was; the store's refusal; absence is not one.
    pub async fn find(&self, sha256: Digest) -> Result<Option<StoredFile>, StorageFailure> {
        let size = self.size(&StoredFile { sha256, bytes: 0 }).await?;
        let Some(bytes) = size else { return Ok(None) };
        let file = StoredFile { sha256, bytes };
        Box::pin(self.check_block_number(&file)).await?;
        match Box::pin(self.get_range(&file, bytes.saturating_sub(1)..bytes)).await {
            Ok(_) => Ok(Some(file)),
            Err(StorageFailure::Missing { .. }) => Ok(None),
            Err(failure) => Err(failure),
        }
    }

    /// Bytes `range` of a stored file.
    ///
    /// # Errors
    /// As [`ObjectStorage::get_ranges`].
    pub async fn get_range(
        &self,
        file: &StoredFile,
        range: Range<u64>,
    ) -> Result<Bytes, StorageFailure> {
        let mut got = self.get_ranges(file, std::slice::from_ref(&range)).await?;
        got.pop().ok_or_else(|| {
            StorageFailure::damaged(&Self::key(file), "the store returned nothing for a range")
        })
    }

    /// Several ranges of a stored file, in the order asked for; neighbouring ones are read
    /// together. All of it is held in memory at once. What comes back is what was published, or an
    /// error: every block is checked.
    ///
    /// # Errors
    /// [`StorageFailure::Missing`]; [`StorageFailure::Damaged`] when a checksum differs, the stored
    /// object is shorter than what was published, or a range lies outside it;
    /// [`StorageFailure::Store`] on the store's refusal.
    pub async fn get_ranges(
        &self,
        file: &StoredFile,
        ranges: &[Range<u64>],
    ) -> Result<Vec<Bytes>, StorageFailure> {
        let got = self.get_ranges_verified(file, ranges).await;
        self.metrics.count(&got);
        got
    }

    /// Returns the counters of reading so far.
    #[must_use]
    pub fn counts(&self) -> StorageMetricsSnapshot {
        self.metrics.read_with(&self.remote_settings.requests)
    }

    /// Returns whether stored files lie in a folder of this machine, so that no read waits for a
    /// network.
    #[must_use]
    pub fn is_local(&self) -> bool {
        self.local_folder.is_some()
    }

    /// Blocking: [`ObjectStorage::get_ranges`] on this thread, for stores that are local.
    ///
    /// # Errors
    /// As [`ObjectStorage::get_ranges`]; [`StorageFailure::Mismatch`] where the store is not local.
    pub fn get_ranges_blocking(
        &self,
        file: &StoredFile,
        ranges: &[Range<u64>],
    ) -> Result<Vec<Bytes>, StorageFailure> {
        let got = match self.made_file(file) {
            Some(made) => made.read(ranges),
            None => self.local_folder()?.read(file, self.folder_of(file), ranges),
        };
        self.metrics.count(&got);
        got
    }

    fn local_folder(&self) -> Result<&LocalFolder, StorageFailure> {
        self.local_folder.as_deref().ok_or_else(|| StorageFailure::Mismatch {
            what: "a read on this machine".to_owned(),
            why: "the store is not there".to_owned(),
        })
    }

    fn new(
        store: Arc<dyn ObjectStore>,
        local_folder: Option<LocalFolder>,
        remote_settings: RemoteSettings,
    ) -> Self {
        let local_folder = local_folder.map(Arc::new);
        Self {
            store,
            local_folder,
            remote_settings,
            checksums: Cache::weighted(CHECKSUM_CACHE_BYTES, BlockChecksums::weight),
            metrics: Arc::default(),
            upload_registrar: None,
            made_files: None,
            waiting: WaitingFiles::default(),
            uploads_wait: false,
        }
    }
}

impl fmt::Debug for ObjectStorage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Files({})", self.store)
    }
}

#[cfg(test)]
mod tests;
