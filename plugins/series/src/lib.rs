//! Series and their times, for transforms: the columns that tell them, the columns that options
//! name, values of numeric columns, summaries of them, and a map of series.

mod axis;
mod columns;
mod series_map;
mod summary;
pub mod testing;

pub use axis::TimeAxis;
pub use columns::{
    Number, is_numeric, listed_columns, make_number, numeric_columns, position, read_number,
    value_columns,
};
pub use series_map::{Series, SeriesMap};
pub use summary::{Summary, SummaryKind};
