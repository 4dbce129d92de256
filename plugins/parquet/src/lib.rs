//! The format `parquet`: made by the parquet crate, one bounded row group at a time. Parts depend on
//! each other, since the footer in the tail lists all row groups; a body that was cut off has no footer
//! (contract 3).

use arrow::datatypes::SchemaRef;
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use yearbook_sdk::{Batch, DataType, Description, Encoder, Error, Field, Kind, Note, Options, Parameter, Schema};

yearbook_sdk::export_encoder!(Parquet);

/// Rows of a row group at most. Readers work on row groups in parallel and skip them by statistics.
pub const ROW_GROUP_ROWS: usize = 256 * 1024;
/// Encoded bytes of a row group at most, up to one batch more: what this encoder holds back.
pub const ROW_GROUP_BYTES: usize = 16 * 1024 * 1024;
/// Encoded bytes of a page, roughly.
const PAGE_BYTES: usize = 1024 * 1024;

/// One response in Parquet.
pub struct Parquet {
    schema: SchemaRef,
    writer: ArrowWriter<Vec<u8>>,
}

impl Encoder for Parquet {
    fn describe() -> Description {
        Description {
            format: "parquet",
            version: env!("CARGO_PKG_VERSION"),
            media_type: "application/vnd.apache.parquet",
            extension: "parquet",
            separator: None,
            part_rows: None,
            dictionaries: false,
            compressible: false,
            parameters: vec![Parameter {
                name: "compression",
                kind: Kind::Text,
                default: "snappy",
                allowed: &["none", "snappy", "lz4_raw"],
                docs: "How pages are compressed.",
            }],
            docs: "Parquet with statistics and a page index, in row groups of at most 262,144 rows or about 16 MiB. \
                   Source, licence and attribution stand in the file's key-value metadata.",
        }
    }

    fn open(schema: Schema, options: &Options) -> Result<Self, Error> {
        let compression = match options.text("compression")? {
            "none" => Compression::UNCOMPRESSED,
            "snappy" => Compression::SNAPPY,
            "lz4_raw" => Compression::LZ4_RAW,
            other => return Err(Error::InvalidOption(format!("parquet.compression cannot be `{other}`; take none, snappy or lz4_raw"))),
        };
        let metadata = schema.metadata.iter().map(|(key, value)| KeyValue::new(key.clone(), value.clone())).collect();
        let properties = WriterProperties::builder()
            .set_compression(compression)
            .set_max_row_group_row_count(Some(ROW_GROUP_ROWS))
            .set_max_row_group_bytes(Some(ROW_GROUP_BYTES))
            .set_data_page_size_limit(PAGE_BYTES)
            .set_statistics_enabled(EnabledStatistics::Page)
            .set_created_by(concat!("yearbook-parquet ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_key_value_metadata(Some(metadata))
            .build();
        if let Some(field) = schema.fields.iter().find(|field| !has_likeness(field)) {
            let sentence = format!("Parquet has no type for column `{}` ({}); leave it out with `columns`", field.name, field.format);
            return Err(Error::UnsupportedSchema(sentence));
        }
        let schema = yearbook_sdk::arrow::schema(&schema)?;
        let writer = ArrowWriter::try_new(Vec::new(), SchemaRef::clone(&schema), Some(properties));
        let writer = writer.map_err(|error| Error::UnsupportedSchema(declined(&schema, &error)))?;
        Ok(Self { schema, writer })
    }

    fn head(&mut self, out: &mut Vec<u8>) -> Result<(), Error> {
        self.hand_out(out)
    }

    fn part(&mut self, batch: Batch, out: &mut Vec<u8>) -> Result<(), Error> {
        let batch = batch.into_record_batch(&self.schema)?;
        self.writer.write(&batch).map_err(internal)?;
        self.hand_out(out)
    }

    fn tail(&mut self, _: &[Note], out: &mut Vec<u8>) -> Result<(), Error> {
        self.writer.finish().map_err(internal)?;
        self.hand_out(out)
    }
}

impl Parquet {
    /// Moves what is ready out of the writer, which counts the bytes it wrote by itself.
    fn hand_out(&mut self, out: &mut Vec<u8>) -> Result<(), Error> {
        self.writer.sync().map_err(|error| internal(error.into()))?;
        let ready = self.writer.inner_mut();
        if out.is_empty() {
            std::mem::swap(out, ready);
        } else {
            out.append(ready);
        }
        Ok(())
    }
}

/// Whether the parquet crate can write a column; for most types that it cannot, it says so by itself
/// before the first row.
fn has_likeness(field: &Field) -> bool {
    *field.value_type() != DataType::IntervalMonthDayNano && field.children.iter().all(has_likeness)
}

fn internal(error: ParquetError) -> Error {
    Error::Internal(error.to_string())
}

/// Names the column: the writer's own error does not.
fn declined(schema: &SchemaRef, error: &ParquetError) -> String {
    let alone = |field: &arrow::datatypes::FieldRef| {
        let schema = SchemaRef::new(arrow::datatypes::Schema::new(vec![field.clone()]));
        ArrowWriter::try_new(Vec::new(), schema, None).is_err()
    };
    match schema.fields().iter().find(|field| alone(field)) {
        Some(field) => format!("Parquet cannot carry column `{}`: {error}; leave it out with `columns`", field.name()),
        None => format!("Parquet cannot carry this table: {error}"),
    }
}
