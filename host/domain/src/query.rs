//! The parsed parameters of `/data` (`docs/spec/parameters.md`).

mod formats;
pub mod options;
mod pairs;
mod parse;
pub mod scalar;

use crate::Date;

pub use formats::LoadedFormats;
pub use pairs::{last_value, parse_pairs};
pub use parse::too_many_names_message;

/// Rows returned when `limit` is omitted (spec-4.1-default-limit).
pub const DEFAULT_LIMIT: u64 = 100;

/// Names in one list (`columns`, `datasets`) at most: more columns than a table of any use has, and
/// with names of three letters all that fits into an address of 16 KiB.
pub const MAX_LISTED_NAMES: usize = 4_096;

/// The parameters of `/data`, each right in itself. Whether they suit the dataset is decided by
/// [`crate::read_plan`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataQuery {
    /// Inclusive lower date bound, `YYYY-MM-DD`.
    pub start: Option<Date>,
    /// Inclusive upper date bound, `YYYY-MM-DD`.
    pub end: Option<Date>,
    /// Substring looked for in dimension columns; never empty.
    pub dimensions: Option<String>,
    /// Maximum rows; 0: everything.
    pub limit: u64,
    /// Format by name; `None` if `Accept` decides.
    pub format: Option<String>,
    /// True when `geometry_wkt` is requested.
    pub geometry: bool,
    /// True when JSON rows are wrapped (spec-2.3-envelope).
    pub envelope: bool,
    /// A cursor as the client sent it; never empty.
    pub cursor: Option<String>,
    /// A pinned snapshot's id, as given.
    pub snapshot: Option<String>,
    /// Projection, in the order asked for.
    pub columns: Option<Vec<String>>,
    /// Parameters whose name has a dot, for the encoder: `("csv.delimiter", ";")`; the last of a
    /// name wins.
    pub options: Vec<(String, String)>,
}
