//! How Parquet is written, for the formats `parquet` and `geoparquet`. Each part is a row group, or
//! several where rows are large, and leaves a note that says what is in it; the tail makes indexes
//! and footer of the notes, so parts do not depend on each other. A body that was cut off has no
//! footer (contract-3-cut).
//!
//! Owns: how values become pages ([`chunk`] and the columns of [`number`], [`boolean`] and
//! [`text`]) and how the footer is spelled ([`footer`]), for the columns that datasets have; the
//! parquet crate writes all others ([`other`]). Exports nothing to a host: that is for the formats.

use yearbook_sdk::{Batch, Error, Note, Schema};

mod boolean_column;
mod bounds;
mod column_chunk;
mod compression;
mod dictionary_slots;
mod file;
mod footer;
mod key_value_metadata;
mod levels;
mod number_column;
mod other;
mod part_note;
mod rle_bit_packing;
mod row_group;
mod text_column;
mod thrift;

pub use compression::Codec;
use file::FileWriter;
use other::Other;

/// Rows of a row group at most. Readers work on row groups in parallel and skip them by statistics.
pub const ROW_GROUP_ROWS: usize = 128 * 1024;
/// Bytes of a row group before encoding at most, unless it is a single row.
pub const ROW_GROUP_BYTES: usize = 16 * 1024 * 1024;

const CREATED_BY: &str = concat!("yearbook-parquet version ", env!("CARGO_PKG_VERSION"));

/// One file in the making.
pub struct ParquetWriter(Kind);

/// Chosen by the schema.
enum Kind {
    File(Box<FileWriter>),
    Other(Box<Other>),
}

impl ParquetWriter {
    /// Begins a file, or joins one that another instance has begun.
    ///
    /// # Errors
    /// [`Error::UnsupportedSchema`] naming a column that Parquet cannot carry.
    pub fn open(schema: Schema, codec: Codec) -> Result<Self, Error> {
        Ok(Self(match FileWriter::open(schema, codec) {
            Ok(file) => Kind::File(Box::new(file)),
            Err(schema) => Kind::Other(Box::new(Other::open(schema, codec)?)),
        }))
    }

    /// Appends what stands before the first row group.
    pub fn head(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(footer::MAGIC);
    }

    /// Appends the rows of a batch as row groups.
    ///
    /// # Errors
    /// [`Error::Internal`].
    pub fn part(&mut self, batch: Batch, out: &mut Vec<u8>) -> Result<(), Error> {
        match &mut self.0 {
            Kind::File(file) => file.part(&batch, out),
            Kind::Other(other) => other.part(batch, out),
        }
    }

    /// What the tail must know of the part that was just made.
    pub fn note(&mut self) -> Vec<u8> {
        match &mut self.0 {
            Kind::File(file) => file.note(),
            Kind::Other(other) => other.note(),
        }
    }

    /// Appends indexes and footer. `more` are key-value pairs beside those of the schema.
    ///
    /// # Errors
    /// [`Error::Internal`] when a note is none of this writer's.
    pub fn tail(
        &self,
        notes: &[Note],
        more: &[(String, String)],
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        match &self.0 {
            Kind::File(file) => file.tail(notes, more, out),
            Kind::Other(other) => other.tail(notes, more, out),
        }
    }
}
