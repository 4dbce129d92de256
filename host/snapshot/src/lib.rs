//! Stored data: snapshots written when a data package is published and read when a client asks. The
//! only crate that knows object stores and Parquet; it never touches SQL, HTTP or guests.

mod changes;
mod failure;
mod files;
mod geometry;
mod package;
mod publish;
mod read;
mod scan;
mod settings;
mod table;
mod write;

pub use changes::ChangesPlan;
pub use failure::StorageFailure;
pub use files::{
    ObjectStorage, StaleUpload, StorageMetricsSnapshot, StoredObject, UploadRegistrar,
};
pub use package::{DataPackage, DescriptorProblem};
pub use publish::{
    ProgressReporter, PublishError, SHOWN_FAULTS, SilentReporter, SnapshotDraft, TableFault,
    publish,
};
pub use read::{CacheMetricsSnapshot, PreviewLimits, ReadMetricsSnapshot, Reader, RowCounts};
pub use scan::{BATCHING_VERSION, Scan};
pub use settings::{BulkDelivery, StorageSettings};
