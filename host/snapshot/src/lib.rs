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
pub use files::{Declare, Files, Held, Leftover, StorageCounts};
pub use package::{DescriptorProblem, Package};
pub use publish::{Draft, Fault, Progress, PublishError, SHOWN_FAULTS, Silent, publish};
pub use read::{KeptCounts, ReadCounts, Reader, RowCounts, SampleLimits};
pub use scan::{SLICING_VERSION, Scan};
pub use settings::{Bulk, StoreSettings};
