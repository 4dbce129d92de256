//! The rows in which a dimension holds a text: row groups without a match are pruned by their
//! dictionaries, the rest is found by reading the dimension columns alone.

mod dimension_search;
mod matches;

pub(crate) use dimension_search::DimensionSearch;
pub(crate) use matches::{find, match_rows};
