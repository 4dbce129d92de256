//! Publishing: a data package is read, checked, put in order and stored as a snapshot, with the
//! changes since the current one. Imports point one way: `error`, `faults`, `format_reader`,
//! `progress`, `memory_budget`, `loss`, `wide_text` <- `package` <- `geometry`, `table` <-
//! `write`, `snapshot_id`, `row_bounds` <- `diff` <- `publish` <- `released_files` <- `history`,
//! `publisher`, `gc`.
//! A server links none of it but `history`. Never touches HTTP, guests, arguments or environment;
//! the feature `catalog` adds what needs a catalogue.

mod diff;
mod error;
mod faults;
mod format_reader;
#[cfg(feature = "catalog")]
mod gc;
mod geometry;
mod history;
mod loss;
mod memory_budget;
mod package;
mod progress;
mod publish;
#[cfg(feature = "catalog")]
mod publisher;
#[cfg(feature = "catalog")]
mod released_files;
mod row_bounds;
mod snapshot_id;
mod table;
#[cfg(feature = "catalog")]
mod uploads;
mod wide_text;
mod write;

pub use error::{DescriptorProblem, PublishError, SHOWN_FAULTS, TableFault};
pub use format_reader::{ColumnFacts, FormatReader, FormatReading, ReaderProvider};
#[cfg(feature = "catalog")]
pub use gc::{GcError, GcSettings, GcSummary, collect_garbage};
pub use history::{RestoredVersion, RevisedTable, RevisionRange, restore, revisions};
pub use loss::MaxLoss;
pub use memory_budget::PublishMemory;
pub use package::{DataPackage, RemotePackage, SourcePackage, SourceTable, parse_title};
pub use progress::{ProgressReporter, SilentReporter};
pub use publish::{SnapshotDraft, publish, publish_within};
#[cfg(feature = "catalog")]
pub use publisher::{PublishFailure, PublishResult, Publisher, ReleaseResult, ReleaseTerms};
#[cfg(feature = "catalog")]
pub use released_files::{ReleaseFilesFailure, finish_releases};
pub use row_bounds::store_missing_bounds;
#[cfg(feature = "catalog")]
pub use uploads::UploadRegistry;
