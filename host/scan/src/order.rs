//! Rows in another order than the natural one, and the first or last rows of each series
//! (contract-15-order, contract-15-series). Keys, counts and row numbers are held, never rows: rows
//! are read by their numbers, some MiB at a time.

mod best_rows;
mod budget;
mod column_reader;
mod date_runs;
mod newest_first;
mod numbered_rows;
mod ordered_scan;
mod series;
mod series_rows;
mod sort_keys;
mod sorted;
mod wanted_rows;

pub(crate) use budget::{SELECTION_BUDGET_BYTES, SelectionBudget, SelectionPermit};
pub(crate) use ordered_scan::{OrderedScan, scan_ordered};
pub(crate) use series::{SERIES_BYTES, SeriesEncoder, SeriesNumbers, count_series};
pub(crate) use sort_keys::RowKeys;
pub(crate) use wanted_rows::WantedRows;
