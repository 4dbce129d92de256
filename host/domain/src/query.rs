//! The parsed parameters of `/data` (`docs/spec/parameters.md`): selection and output.

mod apply;
mod as_of;
mod conditions;
mod loaded_plugins;
pub mod options;
mod order;
mod pairs;
mod parse;
mod revisions;
pub mod scalar;
mod selection;

pub use apply::{CitedTransform, parse_cited_apply};
pub(crate) use conditions::parse_conditions;
pub use conditions::{ConditionParameter, MAX_VALUE_BYTES, Operator, is_condition};
pub use loaded_plugins::LoadedPlugins;
pub use order::{MAX_SERIES_ROWS, parse_box};
pub use pairs::{last_value, parameter_names, parse_pairs};
pub use parse::{parse_data, parse_data_at, too_many_names_message};
pub use revisions::{parse_revisions, parse_since};
pub use selection::{Selection, Sent, SeriesRows, SortName};

pub(crate) use apply::refuse_apply;
pub(crate) use conditions::nearest_name;

/// Rows returned when `limit` is omitted (spec-4.1-default-limit).
pub const DEFAULT_LIMIT: u64 = 100;

/// Names in one list (`columns`, `datasets`) at most: more columns than a table of any use has, and
/// with names of three letters all that fits into an address of 16 KiB.
pub const MAX_LISTED_NAMES: usize = 4_096;

/// Parameters of `/data`, in the order of contract-2-order; extensions after them. `where` stands
/// for conditions.
pub const DATA_PARAMETERS: [&str; 17] = [
    "start",
    "end",
    "dimensions",
    "limit",
    "format",
    "geometry",
    "envelope",
    "cursor",
    "snapshot",
    "columns",
    "where",
    "sort",
    "first",
    "last",
    "bbox",
    "as_of",
    "apply",
];

/// Returns true for parameters of routes that take options of plugins, and words that are kept for
/// them. A plugin called like one of them would have its options taken for something else.
#[must_use]
pub fn is_parameter(name: &str) -> bool {
    DATA_PARAMETERS.contains(&name) || matches!(name, "since" | "after" | "lang")
}

/// Parameters that say in which form the selected rows are sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutputParameters {
    /// Format by name; `None` if `Accept` decides.
    pub format: Option<String>,
    /// True when JSON rows are wrapped (spec-2.3-envelope).
    pub envelope: bool,
    /// Parameters whose name has a dot, for encoder and transforms: `("csv.delimiter", ";")`; the
    /// last of a name wins.
    pub options: Vec<(String, String)>,
}
