//! Object stores: a folder of this machine or a bucket of an S3-compatible service, and the files
//! that lie there under the SHA-256 of their content. Puts, gets, ranges, checksums, listing and
//! signed addresses. The only crate that knows an object store; it never touches Arrow, Parquet,
//! SQL, HTTP or guests.

mod failure;
mod object_storage;
mod settings;

pub use failure::StorageFailure;
pub use object_storage::{
    MadeFile, MadeFiles, ObjectStorage, Sidecar, StaleUpload, StorageMetricsSnapshot, StoredObject,
    UploadRegistrar,
};
pub use settings::{BulkDelivery, StorageSettings};
