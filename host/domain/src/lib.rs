//! The rules of the service, as plain values and pure functions: names, plans, datasets, queries,
//! read plans, refusals. No async, no I/O, no Arrow, no HTTP types.

pub mod bulk;
pub mod caller;
pub mod changes;
pub mod credit;
pub mod cursor;
pub mod dataset;
pub mod name;
pub mod plan;
pub mod problem;
pub mod query;
pub mod read;
pub mod refusal;
pub mod stored;
pub mod time;
pub mod weight;

pub use caller::Caller;
pub use credit::{Credit, CreditLine, SourceEntry};
pub use cursor::Position;
pub use dataset::{
    BoundingBox, Column, ColumnType, Dataset, Layout, Role, Snapshot, SnapshotSummary, StoredFile,
};
pub use name::{DatasetName, Namespace};
pub use plan::{Plan, PlanLimits, PlanTable};
pub use problem::Problem;
pub use query::DataQuery;
pub use read::ReadPlan;
pub use refusal::Refusal;
pub use stored::{Stored, StoredKind};
pub use time::Millis;
