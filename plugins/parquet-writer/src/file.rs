//! Files of the columns that datasets have: integers, numbers, booleans and text, without nesting.
//! Row groups are made part by part, and the tail lists them.

use yearbook_sdk::{Batch, DataType, Error, Field, Note, Schema};

use crate::column_chunk::PageBuffers;
use crate::compression::{Codec, PageCompressor};
use crate::footer::{self, FooterMetadata, PlacedRowGroup};
use crate::{key_value_metadata, part_note, row_group};

/// How values are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PhysicalType {
    Boolean,
    Int64,
    Double,
    Text,
    /// As text, but of any bytes, so without bounds.
    Binary,
}

impl PhysicalType {
    /// Of a column that this writer takes.
    fn from_field(field: &Field) -> Option<Self> {
        match (field.value_type(), field.dictionary.is_some()) {
            (DataType::Boolean, false) => Some(Self::Boolean),
            (DataType::Int64, false) => Some(Self::Int64),
            (DataType::Float64, false) => Some(Self::Double),
            (DataType::Utf8, _) => Some(Self::Text),
            (DataType::Binary, _) => Some(Self::Binary),
            _ => None,
        }
    }

    /// Its number in the format.
    pub(crate) fn id(self) -> i32 {
        match self {
            Self::Boolean => 0,
            Self::Int64 => 2,
            Self::Double => 5,
            Self::Text | Self::Binary => 6,
        }
    }
}

/// A column as the file's schema has it.
pub(crate) struct FileColumn {
    pub(crate) name: String,
    pub(crate) physical: PhysicalType,
    pub(crate) nullable: bool,
}

/// One response.
pub(crate) struct FileWriter {
    schema: Schema,
    columns: Vec<FileColumn>,
    codec: Codec,
    tools: PageBuffers,
    note: Vec<u8>,
}

impl FileWriter {
    /// Gives the schema back when it has a column of another type.
    pub(crate) fn open(schema: Schema, codec: Codec) -> Result<Self, Schema> {
        let column = |field: &Field| {
            Some(FileColumn {
                name: field.name.clone(),
                physical: PhysicalType::from_field(field)?,
                nullable: field.nullable,
            })
        };
        match schema.fields.iter().map(column).collect() {
            Some(columns) => Ok(Self {
                schema,
                columns,
                codec,
                tools: PageBuffers::new(PageCompressor::new(codec)),
                note: Vec::new(),
            }),
            None => Err(schema),
        }
    }

    pub(crate) fn part(&mut self, batch: &Batch, out: &mut Vec<u8>) -> Result<(), Error> {
        self.note = part_note::write(&row_group::write(out, &mut self.tools, batch)?);
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
        let pairs = key_value_metadata::pairs(&self.schema, more)?;
        let about = FooterMetadata {
            columns: &self.columns,
            codec: self.codec,
            pairs: &pairs,
            created_by: crate::CREATED_BY,
        };
        footer::write(&about, &groups, end, out);
        Ok(())
    }
}
