//! Files of the columns that datasets have: integers, numbers, booleans and text, without nesting.
//! Row groups are made part by part, and the tail lists them. Owns the file's schema and its
//! key-value metadata; never touches the bytes of a page.

use arrow_ipc::writer::{DictionaryTracker, IpcDataGenerator, IpcWriteOptions};
use arrow_schema::Schema as ArrowSchema;
use base64::prelude::{BASE64_STANDARD, Engine as _};
use yearbook_sdk::{Batch, Error, Field, Note, Schema};

use crate::column_chunk::PageBuffers;
use crate::column_type::{FileColumn, PhysicalType};
use crate::compression::{Codec, PageCompressor};
use crate::footer::{self, FooterMetadata, PlacedRowGroup};
use crate::part_note;
use crate::row_group::{self, Recoding};

/// Key of the Arrow schema in the file's metadata.
const ARROW_SCHEMA_KEY: &str = "ARROW:schema";
/// Marker in front of the length of an Arrow IPC message.
const CONTINUATION: [u8; 4] = [0xff; 4];

/// Writer of one file.
pub struct ParquetWriter {
    schema: Schema,
    columns: Vec<FileColumn>,
    codec: Codec,
    tools: PageBuffers,
    note: Vec<u8>,
}

impl ParquetWriter {
    /// Begins a file, or joins one that another instance has begun.
    ///
    /// # Errors
    /// [`Error::UnsupportedSchema`] naming the first column of a type that datasets do not have.
    pub fn open(schema: Schema, codec: Codec) -> Result<Self, Error> {
        let column = |field: &Field| match PhysicalType::from_field(field) {
            Some(physical) => {
                Ok(FileColumn { name: field.name.clone(), physical, nullable: field.nullable })
            }
            None => Err(Error::UnsupportedSchema(format!(
                "Parquet has no type for column `{}` ({}); leave it out with `columns`",
                field.name, field.format
            ))),
        };
        let columns = schema.fields.iter().map(column).collect::<Result<_, _>>()?;
        let tools = PageBuffers::new(PageCompressor::new(codec));
        Ok(Self { schema, columns, codec, tools, note: Vec::new() })
    }

    /// Appends the bytes in front of the first row group.
    pub fn head(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(footer::MAGIC);
    }

    /// Appends the rows of a batch as row groups.
    ///
    /// # Errors
    /// [`Error::Internal`] when a column is not of the type that the schema says.
    pub fn part(&mut self, batch: &Batch, out: &mut Vec<u8>) -> Result<(), Error> {
        self.write(batch, None, out)
    }

    /// Appends the rows of a batch, one column of which has texts whose bytes are made as they are
    /// written.
    ///
    /// # Errors
    /// As [`Self::part`], and those of `recoding`.
    pub fn recoded_part(
        &mut self,
        batch: &Batch,
        recoding: Recoding<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        self.write(batch, Some(recoding), out)
    }

    fn write(
        &mut self,
        batch: &Batch,
        recoding: Option<Recoding<'_>>,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        self.note = part_note::write(&row_group::write(out, &mut self.tools, batch, recoding)?);
        Ok(())
    }

    /// Takes the note of the part that was just made, for [`Self::tail`].
    pub fn note(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.note)
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
        let mut groups = Vec::new();
        let mut end = footer::MAGIC.len() as u64;
        for Note { offset, bytes } in notes {
            end = *offset;
            for group in part_note::read(bytes)? {
                let offset = end;
                end += group.chunks.iter().map(part_note::ColumnChunkNote::size).sum::<u64>();
                groups.push(PlacedRowGroup { offset, group });
            }
        }
        let pairs = key_value_metadata(&self.schema, more)?;
        let metadata = FooterMetadata {
            columns: &self.columns,
            codec: self.codec,
            pairs: &pairs,
            created_by: crate::CREATED_BY,
        };
        footer::write(&metadata, &groups, end, out);
        Ok(())
    }
}

/// Key-value metadata of the file: the schema's pairs, `more`, and the Arrow schema for readers
/// that know it.
fn key_value_metadata(
    schema: &Schema,
    more: &[(String, String)],
) -> Result<Vec<(String, String)>, Error> {
    let arrow = yearbook_sdk::arrow::schema(&without_dictionaries(schema))?;
    let mut pairs = schema.metadata.clone();
    pairs.extend_from_slice(more);
    pairs.push((ARROW_SCHEMA_KEY.to_owned(), encode_arrow_schema(&arrow)?));
    Ok(pairs)
}

/// Schema message of an Arrow IPC stream, in base64: a continuation marker, the length of the
/// message in bytes, and the message.
fn encode_arrow_schema(schema: &ArrowSchema) -> Result<String, Error> {
    let message = IpcDataGenerator::default()
        .schema_to_bytes_with_dictionary_tracker(
            schema,
            &mut DictionaryTracker::new(true),
            &IpcWriteOptions::default(),
        )
        .ipc_message;
    let length = u32::try_from(message.len())
        .map_err(|_| Error::Internal("the Arrow schema is longer than 4 GiB".to_owned()))?;
    let marked = [&CONTINUATION[..], &length.to_le_bytes(), &message].concat();
    Ok(BASE64_STANDARD.encode(marked))
}

/// Schema as readers see it: dictionaries are between host and plugin.
fn without_dictionaries(schema: &Schema) -> Schema {
    let plain = |field: &Field| match &field.dictionary {
        Some(values) => Field {
            name: field.name.clone(),
            nullable: field.nullable,
            metadata: field.metadata.clone(),
            ..(**values).clone()
        },
        None => field.clone(),
    };
    Schema { fields: schema.fields.iter().map(plain).collect(), metadata: schema.metadata.clone() }
}
