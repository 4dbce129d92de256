//! Bounds of each row's geometry, which publishing stores beside a snapshot's file
//! (contract-15-box-bounds): they decide most boxes, and geometry is read for the other rows alone.
//! Bounds are rounded outwards, as coarsely as their share of the file allows, so they decide
//! nothing wrongly. Knows nothing of plans.

mod blocks;
mod cache;
mod extent;
mod row_cells;
mod stored;
mod writer;

pub use cache::row_bounds_are_intact;
pub(crate) use cache::{RowBounds, RowBoundsCache};
pub use extent::short_decimal;
pub(crate) use row_cells::BoxRows;
pub use writer::RowBoundsWriter;

#[cfg(test)]
mod tests;
