//! Preview facts of a table (contract-9-facts), computed in two passes over its rows in the order
//! of the snapshot: the first counts, the second draws the lines of the series that the first
//! chose. Never stores anything.
//!
//! Values of columns that have few, and the number of series, are counted in the first pass too
//! (contract-15-values-stored, contract-15-series).
//!
//! Bound: [`series::MAX_TRACKED_BYTES`] for the series that are distinguished, a hash of each of a
//! million series, the values of a [`yearbook_scan::ValuesPass`], one batch, and facts.

mod figures;
mod latest;
mod lines;
mod name_columns;
mod series;
mod series_keys;
mod series_number;
mod table_pass;
mod table_shape;

pub use lines::LinePass;
pub use table_pass::TablePass;
pub use table_shape::TableShape;

#[cfg(test)]
mod tests;
