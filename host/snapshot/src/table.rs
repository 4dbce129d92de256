//! A package's table in memory: read from any input format into the same typed columns, checked,
//! and put in order.
//!
//! Bound: publishing holds the whole table once, column by column without compression (text as it
//! is plus 4 bytes, 8 bytes a number), plus 8 bytes a row for the order and, while it sorts, one
//! encoded key a row. Three million rows of seven columns peak at 370 MB. Reading, checking and
//! writing add only chunks of [`chunk::MAX_BYTES`].

pub(crate) mod arrow_input;
pub(crate) mod blocks;
pub(crate) mod builder;
pub(crate) mod cell;
pub(crate) mod check;
pub(crate) mod chunk;
pub(crate) mod convert;
pub(crate) mod csv;
pub(crate) mod distinct;
pub(crate) mod header;
pub(crate) mod heavy;
pub(crate) mod order;
pub(crate) mod percent;
pub(crate) mod source;
pub(crate) mod unique;

pub(crate) use blocks::RowBlock;
pub(crate) use chunk::{Chunk, Table};
pub(crate) use order::RowOrder;
