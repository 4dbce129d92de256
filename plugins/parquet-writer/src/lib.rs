//! Writer of Parquet files, for the formats `parquet` and `geoparquet`. Each part is a row group,
//! or several where rows are large, and leaves a note that says what is in it. The tail makes
//! indexes and footer of the notes, so parts do not depend on each other. A body that was cut off
//! has no footer (contract-3-cut).
//!
//! Owns: how values become pages ([`column_chunk`] and the columns of [`number_column`],
//! [`boolean_column`] and [`text_column`]) and how the footer is spelled ([`footer`]), for the
//! column types that datasets have; a schema with any other type is declined. Exports nothing to a
//! host: that is for the formats.

mod boolean_column;
mod bounds;
mod column_chunk;
mod column_type;
mod compression;
mod dictionary_slots;
mod file;
mod footer;
mod levels;
mod number_column;
mod part_note;
mod rle_bit_packing;
mod row_group;
mod text_column;
mod thrift;

pub use compression::Codec;
pub use file::ParquetWriter;
pub use row_group::Recoding;

/// Most rows of a row group. Readers work on row groups in parallel and skip them by statistics.
pub const ROW_GROUP_ROWS: usize = 128 * 1024;
/// Most bytes of a row group before encoding, unless it is a single row.
pub const ROW_GROUP_BYTES: usize = 16 * 1024 * 1024;

const CREATED_BY: &str = concat!("yearbook-parquet version ", env!("CARGO_PKG_VERSION"));
