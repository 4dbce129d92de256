//! Series and their times, for transforms: the columns that tell them, the columns that options
//! name, values of numeric columns, the newest of them, summaries, and a map of series.

mod axis;
mod columns;
mod recent_values;
mod series_map;
mod summary;
pub mod testing;

pub use axis::TimeAxis;
pub use columns::{
    Number, is_numeric, is_status, listed_columns, make_number, numeric_columns, position,
    read_number, value_columns,
};
pub use recent_values::{RecentValues, descending_rows};
pub use series_map::{Series, SeriesMap};
pub use summary::{Summary, SummaryKind};
