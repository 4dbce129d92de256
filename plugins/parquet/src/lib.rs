//! The format `parquet`, written by [`yearbook_parquet_writer`].

use yearbook_parquet_writer::{Codec, ParquetWriter, ROW_GROUP_ROWS};
use yearbook_sdk::{Batch, Description, Encoder, Error, Note, Options, Output, Schema};

yearbook_sdk::export_encoder!(ParquetEncoder);

/// One response in Parquet.
pub struct ParquetEncoder(ParquetWriter);

impl Encoder for ParquetEncoder {
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
            parameters: vec![Codec::parameter()],
            docs: "Parquet with statistics and a page index, in row groups of at most 131,072 rows or about 16 MiB. \
                   Columns whose values repeat are dictionary-encoded. \
                   Source, licence and attribution stand in the file's key-value metadata.",
        }
    }

    fn open(schema: Schema, options: &Options) -> Result<Self, Error> {
        let codec = Codec::from_options(options)?;
        ParquetWriter::open(schema, codec).map(Self)
    }

    fn head(&mut self, out: &mut Vec<u8>) -> Result<(), Error> {
        self.0.head(out);
        Ok(())
    }

    fn part(&mut self, batch: Batch, out: &mut Output) -> Result<(), Error> {
        self.0.part(&batch, out)
    }

    fn note(&mut self) -> Vec<u8> {
        self.0.note()
    }

    fn tail(&mut self, notes: &[Note], out: &mut Vec<u8>) -> Result<(), Error> {
        self.0.tail(notes, &[], out)
    }
}
