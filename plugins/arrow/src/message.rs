//! Messages of Arrow's IPC stream: metadata is written here, body buffers are passed on, so that no
//! value is ever looked at. Owns the layout of a message; never touches the schema message.

use arrow_ipc as ipc;
use flatbuffers::FlatBufferBuilder;
use yearbook_sdk::column::ColumnBuffer;
use yearbook_sdk::{Column, DataType, Error, Output};

/// Boundary on which metadata ends and every buffer begins, bytes: arrow-rs's own.
const ALIGNMENT: usize = 64;
/// First bytes of a message.
const CONTINUATION: [u8; 4] = [0xff; 4];
/// Bytes before the metadata: [`CONTINUATION`] and the metadata's length.
const PREFIX: usize = 8;

/// Writer of record batches and dictionaries.
#[derive(Default)]
pub(crate) struct MessageWriter {
    metadata: FlatBufferBuilder<'static>,
}

/// Nodes, places and bytes of a message's arrays.
#[derive(Default)]
struct Body<'a> {
    nodes: Vec<ipc::FieldNode>,
    places: Vec<ipc::Buffer>,
    buffers: Vec<ColumnBuffer<'a>>,
    length: usize,
}

impl MessageWriter {
    /// Appends a record batch.
    ///
    /// # Errors
    /// [`Error::Internal`] beyond 2^31 bytes of metadata.
    pub(crate) fn record_batch<'a>(
        &mut self,
        rows: usize,
        columns: impl Iterator<Item = Column<'a>>,
        out: &mut Output,
    ) -> Result<(), Error> {
        self.write(rows, columns, None, out)
    }

    /// Appends the values of the dictionary `id`, in the place of those that had the number before.
    ///
    /// # Errors
    /// As for [`MessageWriter::record_batch`].
    pub(crate) fn dictionary(
        &mut self,
        id: i64,
        values: Column<'_>,
        out: &mut Output,
    ) -> Result<(), Error> {
        self.write(values.length, std::iter::once(values), Some(id), out)
    }

    fn write<'a>(
        &mut self,
        rows: usize,
        columns: impl Iterator<Item = Column<'a>>,
        dictionary: Option<i64>,
        out: &mut Output,
    ) -> Result<(), Error> {
        let mut body = Body::default();
        columns.for_each(|column| body.push(&column));
        let fbb = &mut self.metadata;
        fbb.reset();
        let places = fbb.create_vector(&body.places);
        let nodes = fbb.create_vector(&body.nodes);
        let mut batch = ipc::RecordBatchBuilder::new(fbb);
        batch.add_length(signed(rows));
        batch.add_nodes(nodes);
        batch.add_buffers(places);
        let batch = batch.finish();
        let (kind, header) = match dictionary {
            None => (ipc::MessageHeader::RecordBatch, batch.as_union_value()),
            Some(id) => {
                let mut dictionary = ipc::DictionaryBatchBuilder::new(fbb);
                dictionary.add_id(id);
                dictionary.add_data(batch);
                dictionary.add_isDelta(false);
                (ipc::MessageHeader::DictionaryBatch, dictionary.finish().as_union_value())
            }
        };
        let mut message = ipc::MessageBuilder::new(fbb);
        message.add_version(ipc::MetadataVersion::V5);
        message.add_header_type(kind);
        message.add_bodyLength(signed(body.length));
        message.add_header(header);
        let root = message.finish();
        fbb.finish(root, None);
        let metadata = fbb.finished_data();
        let padding = padding(PREFIX + metadata.len());
        let length = i32::try_from(metadata.len() + padding)
            .map_err(|_| Error::Internal("a batch has more columns than IPC carries".to_owned()))?;
        out.extend_from_slice(&CONTINUATION);
        out.extend_from_slice(&length.to_le_bytes());
        out.extend_from_slice(metadata);
        pad(out, padding);
        for buffer in &body.buffers {
            out.pass_buffer(buffer);
            pad(out, self::padding(buffer.length));
        }
        Ok(())
    }
}

impl<'a> Body<'a> {
    /// Adds an array and its children.
    fn push(&mut self, column: &Column<'a>) {
        let nulls = if column.field.data_type == DataType::Null {
            column.length
        } else {
            column.null_count
        };
        self.nodes.push(ipc::FieldNode::new(signed(column.length), signed(nulls)));
        for buffer in column.buffers() {
            self.places.push(ipc::Buffer::new(signed(self.length), signed(buffer.length)));
            self.length += buffer.length + padding(buffer.length);
            self.buffers.push(buffer);
        }
        column.children().for_each(|child| self.push(&child));
    }
}

fn pad(out: &mut Output, bytes: usize) {
    out.extend_from_slice(&[0; ALIGNMENT][..bytes]);
}

/// Bytes up to the next boundary.
fn padding(length: usize) -> usize {
    length.next_multiple_of(ALIGNMENT) - length
}

fn signed(length: usize) -> i64 {
    i64::try_from(length).unwrap_or(i64::MAX)
}
