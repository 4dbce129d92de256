//! The rows that a plan's text and conditions leave: row groups and pages without such a row are
//! pruned by statistics and dictionaries, the rest is found by reading the filter columns alone.

mod column_predicate;
mod found_rows;
mod group_predicate;
mod matches;
mod pruning;
mod row_predicate;

use arrow::array::ArrayRef;
use arrow::buffer::BooleanBuffer;
use parquet::errors::ParquetError;
use yearbook_domain::read_plan::ColumnTest;

use column_predicate::ColumnPredicate;

pub(crate) use found_rows::{FEW_ROWS, FoundRows};
pub(crate) use matches::{find, match_rows};
pub(crate) use row_predicate::RowPredicate;

/// The values of a plain array that pass `test`.
pub(crate) fn passing_values(
    values: &ArrayRef,
    test: &ColumnTest,
) -> Result<BooleanBuffer, ParquetError> {
    ColumnPredicate::new(0, test.clone()).rows(values, None)
}
