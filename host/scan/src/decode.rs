//! Stored Parquet files: footers, row ranges, pages and dictionaries, fetched and decoded. Knows
//! nothing of queries, filters or batches.

mod cached_columns;
mod cached_dictionaries;
mod caller_workers;
mod canonical;
mod column_cache;
mod dictionary;
mod fetch;
mod file_source;
mod footer;
mod kept_bytes;
mod kept_columns;
mod metrics;
mod page_cache;
mod page_location;
mod projection;
mod row_range;
mod value_places;

pub use metrics::{CacheMetricsSnapshot, ReadMetricsSnapshot};

pub(crate) use cached_columns::CachedColumn;
pub(crate) use caller_workers::CallerWorkers;
pub(crate) use canonical::{clear_nulls, with_own_bits};
pub(crate) use column_cache::{COLUMN_CACHE_BYTES, ColumnCache, KeptColumn, take_rows};
pub(crate) use dictionary::ColumnDictionary;
pub(crate) use fetch::{BudgetPermit, FETCH_BUDGET_BYTES, FetchBudget, fetch};
pub(crate) use file_source::FileSource;
pub(crate) use footer::{
    ParquetFile, chunk_pages, is_dictionary_encoded, open, read_metadata, validate_locations,
};
pub(crate) use page_cache::PageCache;
pub(crate) use page_location::pages_covering;
pub(crate) use projection::Projection;
pub(crate) use row_range::{ReadTaskLimits, RowRange, is_one_task, task_ranges};
