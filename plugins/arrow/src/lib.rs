//! The format `arrow`: Arrow's IPC stream. The head is the schema message, which arrow-rs writes,
//! each part a record batch message, the tail the end-of-stream marker: a body that was cut off
//! lacks it (contract-3-cut). No value crosses: of each buffer the length suffices, and the host
//! puts the buffer where the message wants it.

use arrow_ipc::writer::StreamEncoder;
use arrow_schema::ArrowError;
use yearbook_sdk::view::Crossing;
use yearbook_sdk::{
    Batch, DataType, Description, Encoder, Error, Field, Kind, Note, Options, Output, Parameter,
    Schema, View,
};

use message::MessageWriter;

mod message;

yearbook_sdk::export_encoder!(ArrowEncoder);

/// One response as an Arrow IPC stream.
pub struct ArrowEncoder {
    views: Vec<View>,
    messages: MessageWriter,
    /// The schema message, then the end-of-stream marker.
    empty: Vec<u8>,
}

/// Length of the end-of-stream marker: a continuation and a length of zero.
const END_OF_STREAM_BYTES: usize = 8;

impl Encoder for ArrowEncoder {
    fn describe() -> Description {
        Description {
            format: "arrow",
            version: env!("CARGO_PKG_VERSION"),
            media_type: "application/vnd.apache.arrow.stream",
            extension: "arrows",
            separator: Some(b""),
            part_rows: None,
            dictionaries: true,
            compressible: false,
            parameters: vec![Parameter {
                name: "dictionaries",
                kind: Kind::Boolean,
                default: "false",
                allowed: &[],
                docs: "Keeps text of few different values dictionary-encoded: a smaller body, for readers that take dictionaries \
                       which change within a stream.",
            }],
            docs: "Arrow's IPC streaming format, uncompressed, with plain columns unless `arrow.dictionaries=true`. \
                   Source, licence and attribution stand in the schema's metadata.",
        }
    }

    fn open(schema: Schema, options: &Options) -> Result<Self, Error> {
        let plain = !options.boolean("dictionaries")?;
        let views = vec![View { plain, crossing: Crossing::Lengths }; schema.fields.len()];
        let mut schema = schema.as_viewed(&views);
        for field in &mut schema.fields {
            check(field)?;
            field.nullable |= field.dictionary.as_ref().is_some_and(|values| values.nullable);
        }
        let stream = StreamEncoder::try_new(&*yearbook_sdk::arrow::schema(&schema)?);
        let empty = stream.and_then(StreamEncoder::finish).map_err(|error: ArrowError| {
            Error::UnsupportedSchema(format!(
                "Arrow's stream format cannot carry this table: {error}"
            ))
        })?;
        let empty = empty.iter().flat_map(|buffer| buffer.as_slice()).copied().collect();
        Ok(Self { views, messages: MessageWriter::default(), empty })
    }

    fn views(&self) -> Vec<View> {
        self.views.clone()
    }

    fn head(&mut self, out: &mut Vec<u8>) -> Result<(), Error> {
        out.extend_from_slice(&self.empty[..self.empty.len() - END_OF_STREAM_BYTES]);
        Ok(())
    }

    fn part(&mut self, batch: Batch, out: &mut Output) -> Result<(), Error> {
        // Parts are independent, so each brings its dictionaries: in a stream, values take the
        // place of those that came before.
        let dictionaries = batch.columns().filter_map(|column| column.dictionary_values());
        for (id, values) in (0..).zip(dictionaries) {
            self.messages.dictionary(id, values, out)?;
        }
        self.messages.record_batch(batch.rows(), batch.columns(), out)
    }

    fn tail(&mut self, _: &[Note], out: &mut Vec<u8>) -> Result<(), Error> {
        out.extend_from_slice(&self.empty[self.empty.len() - END_OF_STREAM_BYTES..]);
        Ok(())
    }
}

/// Declines what a message could not say by the lengths of its buffers alone.
fn check(field: &Field) -> Result<(), Error> {
    let nested_dictionary =
        |field: &Field| field.children.iter().any(|child| child.dictionary.is_some());
    match field.data_type {
        DataType::Utf8View
        | DataType::BinaryView
        | DataType::ListView
        | DataType::LargeListView
        | DataType::DenseUnion(_)
        | DataType::SparseUnion(_)
        | DataType::RunEndEncoded => Err(Error::UnsupportedSchema(format!(
            "column `{}` has the Arrow type `{}`, which this format does not carry; leave it out with `columns`",
            field.name, field.format
        ))),
        _ if nested_dictionary(field) => Err(Error::UnsupportedSchema(format!(
            "column `{}` has a dictionary inside, which this format does not carry; leave it out with `columns`",
            field.name
        ))),
        _ => field.children.iter().try_for_each(check),
    }
}
