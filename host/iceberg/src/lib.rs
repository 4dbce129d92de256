//! Descriptions of tables for readers of Iceberg (contract-12-iceberg-files): metadata, manifest
//! list and manifest of each version, beside its file in the bucket and before the commit that
//! makes the version visible. Rows are never copied.

mod avro;
mod manifest;
mod table_metadata;

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use serde_json::Value;
use yearbook_catalog::{Catalog, CatalogError, RetainedVersion, clock};
use yearbook_domain::{DatasetName, Millis, Snapshot, WaitingFiles, iceberg_number};
use yearbook_scan::Reader;
use yearbook_storage::{ObjectStorage, StorageFailure};
use yearbook_workers::Workers;

use self::manifest::TableFile;
use self::table_metadata::{FieldIds, NewVersion};

/// Bytes of metadata that are read: those of a thousand versions of a wide table.
const MAX_METADATA_BYTES: u64 = 16 << 20;

/// Reasons for which a table is not described. Published versions stay as they are.
#[derive(Debug, thiserror::Error)]
pub enum IcebergFailure {
    /// The catalog did not say what is retained.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// The object store failed.
    #[error("cannot describe the table for Iceberg")]
    Storage(#[from] StorageFailure),
    /// The store is a folder.
    #[error("share.iceberg needs a bucket; set storage.url to s3://bucket/prefix")]
    NoBucket,
}

/// Describes tables in one bucket.
pub struct IcebergWriter {
    catalog: Arc<Catalog>,
    files: ObjectStorage,
    reader: Reader,
    root: String,
    /// Versions by which datasets are known to be described.
    described: Mutex<HashMap<DatasetName, u64>>,
}

impl IcebergWriter {
    /// With the catalog that says which versions there are.
    ///
    /// # Errors
    /// [`IcebergFailure::NoBucket`] where `files` is a folder.
    pub fn new(
        catalog: Arc<Catalog>,
        files: &ObjectStorage,
        workers: Arc<Workers>,
    ) -> Result<Self, IcebergFailure> {
        let root = files.bucket_root().ok_or(IcebergFailure::NoBucket)?.to_owned();
        // What is described was moved before, whatever the store still knows to wait.
        let files = files.with_waiting_files(WaitingFiles::default());
        let reader = Reader::new(files.clone(), workers);
        Ok(Self { catalog, files, reader, root, described: Mutex::default() })
    }

    /// Describes `next`, which is about to be committed at `at`, and before it every retained
    /// version that has no description yet. Returns the version that `next` is described as; `None`
    /// where its licence keeps it out of the share.
    ///
    /// # Errors
    /// [`IcebergFailure`].
    pub async fn describe_next(
        &self,
        name: &DatasetName,
        next: &Snapshot,
        at: Option<Millis>,
    ) -> Result<Option<u64>, IcebergFailure> {
        if !next.bulk_redistribution {
            return Ok(None);
        }
        let retained = self.catalog.retained_versions(name).await?;
        let (version, created_at) = match retained.last() {
            // Stored again: the version is the same one still.
            Some(newest) if newest.snapshot.id == next.id => {
                (newest.version, newest.snapshot.created_at)
            }
            Some(newest) => (newest.version + 1, at.unwrap_or_else(clock::now)),
            None => (0, at.unwrap_or_else(clock::now)),
        };
        let mut versions = visible_versions(retained);
        versions.retain(|shown| shown.version != version);
        let snapshot = Snapshot { created_at: created_at.whole_second(), ..next.clone() };
        versions.push(RetainedVersion { version, snapshot });
        self.describe(name, &versions).await?;
        Ok(Some(version))
    }

    /// Describes every retained version of the dataset `name` that has no description yet; how many
    /// there were.
    ///
    /// # Errors
    /// [`IcebergFailure`].
    pub async fn describe_retained(&self, name: &DatasetName) -> Result<u64, IcebergFailure> {
        let versions = visible_versions(self.catalog.retained_versions(name).await?);
        self.describe(name, &versions).await
    }

    /// Describes every retained version of the dataset `name` up to `version`, its newest, unless
    /// that was done here.
    ///
    /// # Errors
    /// [`IcebergFailure`].
    pub async fn describe_released(
        &self,
        name: &DatasetName,
        version: u64,
    ) -> Result<(), IcebergFailure> {
        let described = || self.described.lock().unwrap_or_else(PoisonError::into_inner);
        let is_known = described().get(name) == Some(&version);
        if !is_known {
            self.describe_retained(name).await?;
            described().insert(name.clone(), version);
        }
        Ok(())
    }

    /// Describes what follows the newest version that is described as the catalog has it, oldest
    /// first, so that what is there is always whole.
    async fn describe(
        &self,
        name: &DatasetName,
        versions: &[RetainedVersion],
    ) -> Result<u64, IcebergFailure> {
        let retained: BTreeSet<i64> =
            versions.iter().map(|shown| iceberg_number(shown.version)).collect();
        let mut previous = None;
        let mut first = 0;
        for (position, shown) in versions.iter().enumerate().rev() {
            let stored = self.stored_metadata(shown).await?;
            let so_far = &versions[..=position];
            previous = stored.filter(|stored| table_metadata::agrees(stored, so_far));
            if previous.is_some() {
                first = position + 1;
                break;
            }
        }
        for (position, shown) in versions.iter().enumerate().skip(first) {
            match self.write(name, shown, previous.as_ref(), &retained).await {
                Ok(written) => previous = Some(written),
                // What is wrong with the past must not keep the present from being published;
                // `doctor` tells of such files.
                Err(IcebergFailure::Storage(failure))
                    if failure.is_of_one_snapshot()
                        && position + 1 < versions.len()
                        && !self.still_waits(shown).await? => {}
                Err(failure) => return Err(failure),
            }
        }
        Ok((versions.len() - first) as u64)
    }

    /// Returns whether the file of a released version lies where it waited: it is not lost, and
    /// comes first.
    async fn still_waits(&self, shown: &RetainedVersion) -> Result<bool, IcebergFailure> {
        let (waiting, file) = (WaitingFiles::default(), shown.snapshot.file.sha256);
        waiting.replace(self.catalog.waiting_files(true).await?);
        let waits = waiting.contains(&file);
        Ok(waits && self.files.with_waiting_files(waiting).find(file).await?.is_some())
    }

    /// Metadata that was written for a version; `None` where there is none that can be read.
    async fn stored_metadata(
        &self,
        shown: &RetainedVersion,
    ) -> Result<Option<Value>, StorageFailure> {
        let (sha256, name) = (&shown.snapshot.file.sha256, metadata_name(shown.version));
        let bytes = self.files.get_companion(sha256, &name, MAX_METADATA_BYTES).await?;
        Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
    }

    /// Writes manifest, list and metadata of one version, in this order: each names only what is
    /// there.
    async fn write(
        &self,
        name: &DatasetName,
        shown: &RetainedVersion,
        previous: Option<&Value>,
        retained: &BTreeSet<i64>,
    ) -> Result<Value, IcebergFailure> {
        let RetainedVersion { version, snapshot } = shown;
        let (number, sha256) = (iceberg_number(*version), &snapshot.file.sha256);
        let ids = FieldIds::new(previous, &snapshot.columns);
        let schema = table_metadata::schema(previous, &snapshot.columns, &ids);
        let statistics = self.reader.statistics(snapshot).await?;
        let file = TableFile {
            address: &self.files.bucket_address(&snapshot.file).ok_or(IcebergFailure::NoBucket)?,
            bytes: snapshot.file.bytes,
            statistics: &statistics,
            number,
            schema: &schema,
        };
        let address =
            |name: &str| self.files.companion_address(sha256, name).ok_or(IcebergFailure::NoBucket);
        let (manifest_name, list_name) =
            (format!("v{version}.manifest.avro"), format!("v{version}.snapshot.avro"));
        let manifest = manifest::manifest(&file, &ids);
        let parent = previous.and_then(|table| table["current-snapshot-id"].as_i64());
        let list =
            manifest::manifest_list(&address(&manifest_name)?, manifest.len(), &file, parent);
        let described = NewVersion {
            name,
            snapshot,
            number,
            at: snapshot.created_at,
            schema: &schema,
            manifest_list: &address(&list_name)?,
            root: &self.root,
        };
        let metadata = table_metadata::table_metadata(previous, &described, &ids, retained);
        let (manifest, list) = (Bytes::from(manifest), Bytes::from(list));
        self.files.put_companion(sha256, &manifest_name, manifest).await?;
        self.files.put_companion(sha256, &list_name, list).await?;
        let text = Bytes::from(metadata.to_string());
        self.files.put_companion(sha256, &metadata_name(*version), text).await?;
        Ok(metadata)
    }
}

/// Versions whose licence lets them be handed on, oldest first.
fn visible_versions(retained: Vec<RetainedVersion>) -> Vec<RetainedVersion> {
    retained.into_iter().filter(|version| version.snapshot.bulk_redistribution).collect()
}

/// Name of the metadata of a version beside its file.
fn metadata_name(version: u64) -> String {
    format!("v{version}.metadata.json")
}
