//! The format `parquet`. Each part is a row group, or several where rows are large, and leaves a note
//! that says what is in it; the tail makes indexes and footer of the notes, so parts do not depend on
//! each other. A body that was cut off has no footer (contract 3).
//!
//! Owns: how values become pages ([`chunk`] and the columns of [`number`], [`boolean`] and [`text`]) and
//! how the footer is spelled ([`footer`]), for the columns that datasets have; the parquet crate writes
//! all others ([`other`]).

use yearbook_sdk::{Batch, Description, Encoder, Error, Kind, Note, Options, Parameter, Schema};

mod boolean;
mod bounds;
mod chunk;
mod codec;
mod file;
mod footer;
mod group;
mod hybrid;
mod keys;
mod levels;
mod note;
mod number;
mod other;
mod slots;
mod text;
mod thrift;

use codec::Codec;
use file::File;
use other::Other;

yearbook_sdk::export_encoder!(Parquet);

/// Rows of a row group at most. Readers work on row groups in parallel and skip them by statistics.
pub const ROW_GROUP_ROWS: usize = 128 * 1024;
/// Bytes of a row group before encoding at most, unless it is a single row.
pub const ROW_GROUP_BYTES: usize = 16 * 1024 * 1024;

const CREATED_BY: &str = concat!("yearbook-parquet version ", env!("CARGO_PKG_VERSION"));

/// One response in Parquet.
pub struct Parquet(Writer);

/// Chosen by the schema.
enum Writer {
    File(Box<File>),
    Other(Box<Other>),
}

impl Encoder for Parquet {
    fn describe() -> Description {
        Description {
            format: "parquet",
            version: env!("CARGO_PKG_VERSION"),
            media_type: "application/vnd.apache.parquet",
            extension: "parquet",
            separator: Some(b""),
            part_rows: u32::try_from(ROW_GROUP_ROWS).ok(),
            dictionaries: true,
            compressible: false,
            parameters: vec![Parameter {
                name: "compression",
                kind: Kind::Text,
                default: "snappy",
                allowed: &["none", "snappy", "lz4_raw"],
                docs: "How columns are compressed, other than those that it would not make a tenth smaller.",
            }],
            docs: "Parquet with statistics and a page index, in row groups of at most 131,072 rows or about 16 MiB. \
                   Columns whose values repeat are dictionary-encoded. \
                   Source, licence and attribution stand in the file's key-value metadata.",
        }
    }

    fn open(schema: Schema, options: &Options) -> Result<Self, Error> {
        let chosen = options.text("compression")?;
        let codec = Codec::parse(chosen)
            .ok_or_else(|| Error::InvalidOption(format!("parquet.compression cannot be `{chosen}`; take none, snappy or lz4_raw")))?;
        Ok(Self(match File::open(schema, codec) {
            Ok(file) => Writer::File(Box::new(file)),
            Err(schema) => Writer::Other(Box::new(Other::open(schema, codec)?)),
        }))
    }

    fn head(&mut self, out: &mut Vec<u8>) -> Result<(), Error> {
        out.extend_from_slice(footer::MAGIC);
        Ok(())
    }

    fn part(&mut self, batch: Batch, out: &mut Vec<u8>) -> Result<(), Error> {
        match &mut self.0 {
            Writer::File(file) => file.part(&batch, out),
            Writer::Other(other) => other.part(batch, out),
        }
    }

    fn note(&mut self) -> Vec<u8> {
        match &mut self.0 {
            Writer::File(file) => file.note(),
            Writer::Other(other) => other.note(),
        }
    }

    fn tail(&mut self, notes: &[Note], out: &mut Vec<u8>) -> Result<(), Error> {
        match &self.0 {
            Writer::File(file) => file.tail(notes, out),
            Writer::Other(other) => other.tail(notes, out),
        }
    }
}
