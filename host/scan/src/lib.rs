//! Reading stored Parquet: row groups are pruned, pages decoded and record batches cut for a plan.
//! Imports point one way: `schema` <- `row_numbers`; `schema`, `search_pattern`, `geometry_box`,
//! `texts` <- `decode` <- `row_bounds`, `date_window` <- `filter` <- `batches` <- `scan` <- `order`
//! <- `reader` <- `changes`, `preview`, `shape`, `statistics`, `stored_groups`, `values`.
//! Never touches SQL, HTTP or guests, and writes nothing.

mod batches;
mod changes;
mod date_window;
mod decode;
mod filter;
mod geometry_box;
mod order;
mod preview;
mod reader;
mod result_digest;
mod row_bounds;
mod row_counts;
mod row_numbers;
mod scan;
pub mod schema;
mod search_pattern;
mod shape;
mod statistics;
mod stored_groups;
mod texts;
mod values;

use yearbook_storage::StorageFailure;

pub use batches::BATCHING_VERSION;
pub use changes::ChangesPlan;
pub use decode::{CacheMetricsSnapshot, ReadMetricsSnapshot};
pub use preview::PreviewLimits;
pub use reader::Reader;
pub use result_digest::ResultHasher;
pub use row_bounds::{RowBoundsWriter, row_bounds_are_intact, short_decimal};
pub use row_counts::RowCounts;
pub use scan::Scan;
pub use shape::{ComputedRows, HELD_ROWS, RowShape, SeriesShape, ShapeFailure, ShapedRows};
pub use statistics::{ColumnStatistics, FileStatistics, StatisticValue};
pub use stored_groups::{StoredChunk, StoredGroup, StoredGroups};
pub use values::{DistinctCounts, ValuesPass, compress_values};
