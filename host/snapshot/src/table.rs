//! A package's table in memory: read from any input format into the same typed columns, checked,
//! and put in order.
//!
//! Bound: publishing holds the whole table once, column by column without compression (text as it
//! is plus 4 bytes, 8 bytes a number), plus 8 bytes a row for the order and, while it sorts, one
//! encoded key a row. Three million rows of seven columns peak at 370 MB. Reading, checking and
//! writing add only chunks of [`chunk::MAX_BYTES`].

pub(crate) mod arrow_source;
pub(crate) mod cell;
pub(crate) mod check;
pub(crate) mod chunk;
pub(crate) mod column_builder;
pub(crate) mod convert;
pub(crate) mod csv_source;
pub(crate) mod distinct_values;
pub(crate) mod header;
pub(crate) mod percent_unit;
pub(crate) mod row_blocks;
pub(crate) mod row_order;
pub(crate) mod row_weight;
pub(crate) mod source;
pub(crate) mod unique;

pub(crate) use chunk::{PackageTable, TableChunk};
pub(crate) use row_blocks::RowBlock;
pub(crate) use row_order::RowOrder;
