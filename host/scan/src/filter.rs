//! The rows that a plan's text and conditions leave: row groups and pages without such a row are
//! pruned by statistics and dictionaries, the rest is found by reading the filter columns alone.

mod column_predicate;
mod matches;
mod pruning;
mod row_predicate;

pub(crate) use matches::{find, match_rows};
pub(crate) use row_predicate::RowPredicate;
