//! Batches as arrow-rs record batches, for plugins that want its kernels and writers. Buffers move
//! over without a copy and without being validated again.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::{RecordBatch, make_array};
use arrow_buffer::Buffer;
use arrow_data::ArrayData;
use arrow_schema::ffi::{FFI_ArrowSchema, Flags};
use arrow_schema::{DataType, Field as ArrowField, Metadata, Schema as ArrowSchema, SchemaRef};

use crate::batch::ColumnBuffers;
use crate::{Batch, Error, Field, Schema, raw};

/// The schema with its metadata, as arrow-rs has it.
///
/// ```
/// use yearbook_sdk::testing::{Table, batches};
///
/// let table = Table::new().dictionary("region", &[Some("north"), Some("north")]);
/// let batch = batches(&table, true)?.remove(0);
/// let schema = yearbook_sdk::arrow::schema(batch.schema())?;
/// assert_eq!(schema.field(0).name(), "region");
/// # Ok::<(), yearbook_sdk::Error>(())
/// ```
///
/// # Errors
/// [`Error::UnsupportedSchema`] naming a column whose type arrow-rs does not know.
pub fn schema(schema: &Schema) -> Result<SchemaRef, Error> {
    let fields = schema.fields.iter().map(|field| {
        let parsed = ffi(field).and_then(|ffi| ArrowField::try_from(&ffi));
        let parsed = parsed.map_err(|error| {
            Error::UnsupportedSchema(format!(
                "column `{}` cannot be carried: {error}; leave it out with `columns`",
                field.name
            ))
        })?;
        Ok(parsed.with_metadata(metadata(&field.metadata)))
    });
    let fields = fields.collect::<Result<Vec<_>, Error>>()?;
    Ok(Arc::new(ArrowSchema::new(fields).with_metadata(metadata(&schema.metadata))))
}

fn metadata(pairs: &[(String, String)]) -> Metadata {
    pairs.iter().cloned().collect::<BTreeMap<_, _>>().into()
}

fn ffi(field: &Field) -> Result<FFI_ArrowSchema, arrow_schema::ArrowError> {
    let children = field.children.iter().map(ffi).collect::<Result<_, _>>()?;
    let dictionary = field.dictionary.as_deref().map(ffi).transpose()?;
    let flags = if field.nullable { Flags::NULLABLE } else { Flags::empty() };
    FFI_ArrowSchema::try_new(&field.format, children, dictionary)?
        .with_name(&field.name)?
        .with_flags(flags)
}

impl Batch {
    /// Moves the buffers into a record batch. `schema` is what [`schema`] made.
    ///
    /// ```
    /// use yearbook_sdk::testing::{Table, batches};
    ///
    /// let table = Table::new().dictionary("region", &[Some("north"), Some("north")]);
    /// let batch = batches(&table, true)?.remove(0);
    /// let schema = yearbook_sdk::arrow::schema(batch.schema())?;
    /// assert_eq!(batch.into_record_batch(&schema)?.num_rows(), 2);
    /// # Ok::<(), yearbook_sdk::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Internal`] when the schema is that of another batch.
    pub fn into_record_batch(self, schema: &SchemaRef) -> Result<RecordBatch, Error> {
        let columns = schema.fields().iter().zip(self.into_arrays());
        let columns =
            columns.map(|(field, array)| make_array(data(field.data_type(), array))).collect();
        RecordBatch::try_new(Arc::clone(schema), columns)
            .map_err(|error| Error::Internal(error.to_string()))
    }
}

fn data(data_type: &DataType, array: ColumnBuffers) -> ArrayData {
    let ColumnBuffers { length, null_count, buffers, held: _, children, dictionary } = array;
    let mut buffers = buffers.into_iter().map(Buffer::from_vec);
    let has_validity =
        !matches!(data_type, DataType::Null | DataType::Union(..) | DataType::RunEndEncoded(..));
    let validity = if has_validity { buffers.next().filter(|_| null_count > 0) } else { None };
    let mut buffers: Vec<_> = buffers.collect();
    if matches!(data_type, DataType::Utf8View | DataType::BinaryView) {
        // The C data interface ends a view's buffers with their lengths, which arrow-rs does not
        // want.
        buffers.pop();
    }
    let mut child_data: Vec<_> = child_types(data_type)
        .into_iter()
        .zip(children)
        .map(|(child, array)| data(child, array))
        .collect();
    if let (DataType::Dictionary(_, values), Some(dictionary)) = (data_type, dictionary) {
        child_data.push(data(values, copy(&dictionary.values)));
    }
    let builder = ArrayData::builder(data_type.clone())
        .len(length)
        .null_bit_buffer(validity)
        .buffers(buffers)
        .child_data(child_data);
    raw::array_data(if has_validity { builder.null_count(null_count) } else { builder })
}

fn child_types(data_type: &DataType) -> Vec<&DataType> {
    match data_type {
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::FixedSizeList(item, _)
        | DataType::ListView(item)
        | DataType::LargeListView(item)
        | DataType::Map(item, _) => vec![item.data_type()],
        DataType::Struct(fields) => fields.iter().map(|field| field.data_type()).collect(),
        DataType::Union(fields, _) => fields.iter().map(|(_, field)| field.data_type()).collect(),
        DataType::RunEndEncoded(ends, values) => vec![ends.data_type(), values.data_type()],
        _ => Vec::new(),
    }
}

/// Dictionary values stay behind for the next batch.
fn copy(array: &ColumnBuffers) -> ColumnBuffers {
    ColumnBuffers {
        length: array.length,
        null_count: array.null_count,
        buffers: array.buffers.clone(),
        held: array.held.clone(),
        children: array.children.iter().map(copy).collect(),
        dictionary: array.dictionary.clone(),
    }
}
