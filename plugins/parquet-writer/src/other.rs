//! Files with a column of any other type, which datasets do not have: nested ones, say. Made by the
//! parquet crate. Each part is a file of its own without its first bytes and its footer; the footer
//! is the part's note, and the tail makes one of all.

use arrow::datatypes::{FieldRef, Schema as ArrowSchema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::metadata::{
    ColumnChunkMetaData, FileMetaData, KeyValue, ParquetMetaData, ParquetMetaDataReader,
    ParquetMetaDataWriter, RowGroupMetaData,
};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use yearbook_sdk::{Batch, DataType, Error, Field, Note, Schema};

use crate::compression::Codec;
use crate::footer::MAGIC;
use crate::{ROW_GROUP_BYTES, ROW_GROUP_ROWS, key_value_metadata};

/// One response.
pub(crate) struct Other {
    schema: Schema,
    arrow: SchemaRef,
    codec: Codec,
    note: Vec<u8>,
}

impl Other {
    pub(crate) fn open(schema: Schema, codec: Codec) -> Result<Self, Error> {
        if let Some(field) = schema.fields.iter().find(|field| !has_likeness(field)) {
            let sentence = format!(
                "Parquet has no type for column `{}` ({}); leave it out with `columns`",
                field.name, field.format
            );
            return Err(Error::UnsupportedSchema(sentence));
        }
        let arrow = yearbook_sdk::arrow::schema(&schema)?;
        let other = Self { schema, arrow, codec, note: Vec::new() };
        match other.writer() {
            Ok(_) => Ok(other),
            Err(error) => Err(Error::UnsupportedSchema(other.declined(&error))),
        }
    }

    pub(crate) fn part(&mut self, batch: Batch, out: &mut Vec<u8>) -> Result<(), Error> {
        let batch = batch.into_record_batch(&self.arrow)?;
        let mut writer = self.writer().map_err(internal)?;
        writer.write(&batch).map_err(internal)?;
        let file = writer.into_inner().map_err(internal)?;
        let (data, footer) = split(&file)
            .ok_or_else(|| Error::Internal("the parquet crate wrote no footer".to_owned()))?;
        self.note = footer.to_vec();
        out.extend_from_slice(data);
        Ok(())
    }

    /// What the tail must know of the part that was just made.
    pub(crate) fn note(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.note)
    }

    pub(crate) fn tail(
        &self,
        notes: &[Note],
        more: &[(String, String)],
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let empty = self.writer().and_then(ArrowWriter::into_inner).map_err(internal)?;
        let empty = split(&empty).map(|(_, footer)| ParquetMetaDataReader::decode_metadata(footer));
        let empty = empty
            .unwrap_or_else(|| Err(ParquetError::General("no footer".to_owned())))
            .map_err(internal)?;
        let mut groups = Vec::new();
        for Note { offset, bytes } in notes {
            let part = ParquetMetaDataReader::decode_metadata(bytes).map_err(internal)?;
            for group in part.row_groups() {
                let moved = moved(group, *offset, groups.len()).map_err(internal)?;
                groups.push(moved);
            }
        }
        let about = empty.file_metadata();
        let rows = groups.iter().map(RowGroupMetaData::num_rows).sum();
        let pairs = key_value_metadata::pairs(&self.schema, more)?
            .into_iter()
            .map(|(key, value)| KeyValue::new(key, value))
            .collect();
        let orders = about.column_orders().cloned();
        let about = FileMetaData::new(
            about.version(),
            rows,
            Some(crate::CREATED_BY.to_owned()),
            Some(pairs),
            about.schema_descr_ptr(),
            orders,
        );
        ParquetMetaDataWriter::new(out, &ParquetMetaData::new(about, groups))
            .finish()
            .map_err(internal)
    }

    fn writer(&self) -> Result<ArrowWriter<Vec<u8>>, ParquetError> {
        let compression = match self.codec {
            Codec::None => Compression::UNCOMPRESSED,
            Codec::Snappy => Compression::SNAPPY,
            Codec::Lz4Raw => Compression::LZ4_RAW,
        };
        // Page indexes would stand between the data and the footer, with places that must move too.
        let properties = WriterProperties::builder()
            .set_compression(compression)
            .set_max_row_group_row_count(Some(ROW_GROUP_ROWS))
            .set_max_row_group_bytes(Some(ROW_GROUP_BYTES))
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_offset_index_disabled(true)
            .build();
        let options =
            ArrowWriterOptions::new().with_properties(properties).with_skip_arrow_metadata(true);
        ArrowWriter::try_new_with_options(Vec::new(), SchemaRef::clone(&self.arrow), options)
    }

    /// Names the column: the writer's own error does not.
    fn declined(&self, error: &ParquetError) -> String {
        let alone = |field: &FieldRef| {
            let schema = SchemaRef::new(ArrowSchema::new(vec![field.clone()]));
            ArrowWriter::try_new(Vec::new(), schema, None).is_err()
        };
        match self.arrow.fields().iter().find(|field| alone(field)) {
            Some(field) => format!(
                "Parquet cannot carry column `{}`: {error}; leave it out with `columns`",
                field.name()
            ),
            None => format!("Parquet cannot carry this table: {error}"),
        }
    }
}

/// Whether the parquet crate can write a column; for most types that it cannot, it says so by
/// itself before the first row.
fn has_likeness(field: &Field) -> bool {
    *field.value_type() != DataType::IntervalMonthDayNano && field.children.iter().all(has_likeness)
}

/// Row groups and footer of a file without indexes.
fn split(file: &[u8]) -> Option<(&[u8], &[u8])> {
    let (rest, length) = file.strip_prefix(MAGIC)?.strip_suffix(MAGIC)?.split_last_chunk()?;
    let footer = usize::try_from(u32::from_le_bytes(*length)).ok()?;
    rest.split_at_checked(rest.len().checked_sub(footer)?)
}

/// A row group of a part at its place in the file. In the part, data began behind the file's first
/// bytes.
fn moved(
    group: &RowGroupMetaData,
    offset: u64,
    ordinal: usize,
) -> Result<RowGroupMetaData, ParquetError> {
    let by = i64::try_from(offset).unwrap_or(i64::MAX) - MAGIC.len() as i64;
    let columns = group.columns().iter().map(|chunk: &ColumnChunkMetaData| {
        let (data, dictionary) = (chunk.data_page_offset(), chunk.dictionary_page_offset());
        let moved = chunk.clone().into_builder().set_data_page_offset(data + by);
        moved.set_dictionary_page_offset(dictionary.map(|place| place + by)).build()
    });
    let columns = columns.collect::<Result<Vec<_>, _>>()?;
    let file_offset = group.file_offset().map(|place| place + by);
    let moved = group
        .clone()
        .into_builder()
        .set_column_metadata(columns)
        .set_ordinal(i32::try_from(ordinal).unwrap_or(i32::MAX));
    file_offset.into_iter().fold(moved, |moved, place| moved.set_file_offset(place)).build()
}

fn internal(error: ParquetError) -> Error {
    Error::Internal(error.to_string())
}
