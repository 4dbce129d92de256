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
pub use failure::Failure;
pub use files::{Held, ObjectStorage, StaleUpload, StorageMetricsSnapshot, UploadRegistrar};
pub use package::{DescriptorProblem, Package};
pub use publish::{Draft, Fault, Progress, PublishError, SHOWN_FAULTS, Silent, publish};
pub use read::{CacheMetricsSnapshot, PreviewLimits, ReadMetricsSnapshot, Reader, RowCounts};
pub use scan::{BATCHING_VERSION, Scan};
pub use settings::{Bulk, StorageSettings};
