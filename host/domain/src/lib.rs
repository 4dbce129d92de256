//! The rules of the service, as plain values and pure functions: names, identities, plans,
//! datasets, queries, read plans, preview facts, citations, releases, refusals. No async, no I/O,
//! no clock, no Arrow, no HTTP types.

pub mod announcement;
pub mod bulk;
pub mod calendar_span;
pub mod calendar_unit;
pub mod changes;
pub mod citation;
pub mod credit;
pub mod cursor;
pub mod dataset;
#[cfg(test)]
pub(crate) mod fixtures;
pub mod hex;
pub mod identity;
pub mod json_size;
pub mod log_entry;
pub mod mail_address;
pub mod meaning;
pub mod metadata_key;
pub mod name;
pub mod object_key;
pub mod plan;
pub mod preview_facts;
pub mod query;
pub mod read_plan;
pub mod refresh;
pub mod refusal;
pub mod release;
pub mod release_time;
pub mod result_digest;
pub mod settings;
pub mod signing;
pub mod source_column;
mod text_identity;
pub mod text_traits;
pub mod time;
pub mod uuid;
pub mod validation;
pub mod values;
mod waiting_files;
mod words;

pub use announcement::{Announcement, PlannedRelease};
pub use calendar_span::CalendarSpan;
pub use calendar_unit::CalendarUnit;
pub use citation::{CanonicalQuery, Citation, CitationFormat};
pub use credit::{Credit, CreditLine, SourceEntry};
pub use cursor::{CursorPosition, CursorSource};
pub use dataset::{
    BoundingBox, ChangeCounts, Column, ColumnRole, ColumnType, Dataset, LargestRevision, Snapshot,
    SnapshotSummary, StoredFile, TableLayout, iceberg_number,
};
pub use identity::{Date, Digest, KeyId, PluginKind, SnapshotId};
pub use log_entry::LogEntry;
pub use mail_address::{MailAddress, MailAddressError};
pub use name::{DatasetName, Namespace};
pub use object_key::{ObjectKey, StoredKind};
pub use plan::{Plan, PlanLimits, PlanTable};
pub use preview_facts::PreviewFacts;
pub use query::{OutputParameters, Selection, SeriesRows};
pub use read_plan::ReadPlan;
pub use refresh::{Cadence, CheckOutcome, FailureCause};
pub use refusal::Refusal;
pub use release::{PluginRelease, ReleaseId, ReleaseOrigin, ReleaseState, ServingOrder};
pub use result_digest::ResultDigest;
pub use source_column::{SourceColumn, SourceType};
pub use text_traits::TextTraits;
pub use time::Millis;
pub use validation::ValidationError;
pub use waiting_files::WaitingFiles;
