//! One batch of rows: owns the buffers that crossed and hands out views. Remembers dictionaries
//! that the host did not send again.

use std::rc::Rc;

use crate::{Column, Error, Field, Schema, View, wire};

pub use recode::Recoder;

mod recode;

/// Rows of one `part` call.
///
/// ```
/// use yearbook_sdk::testing::{Table, batches};
///
/// let table = Table::new()
///     .text("region", &[Some("north"), None])
///     .numbers("value", &[Some(1.5), Some(2.0)]);
/// let batch = batches(&table, false)?.remove(0);
/// assert_eq!((batch.rows(), batch.width()), (2, 2));
/// # Ok::<(), yearbook_sdk::Error>(())
/// ```
#[derive(Debug)]
pub struct Batch {
    schema: Rc<Schema>,
    rows: usize,
    arrays: Vec<ColumnBuffers>,
    /// Buffers that stayed with the host, where [`crate::testing`] is the host.
    pub(crate) kept: Rc<[Vec<u8>]>,
}

/// The buffers of a column, or of a child.
#[derive(Debug)]
pub(crate) struct ColumnBuffers {
    pub(crate) length: usize,
    pub(crate) null_count: usize,
    /// Empty where they are held.
    pub(crate) buffers: Vec<Vec<u8>>,
    pub(crate) held: Option<HeldBuffers>,
    pub(crate) children: Vec<ColumnBuffers>,
    pub(crate) dictionary: Option<DictionaryBuffers>,
}

/// Buffers of an array of which some stay with the host.
#[derive(Debug, Clone)]
pub(crate) struct HeldBuffers {
    /// Index of the array's first buffer in the batch.
    pub(crate) first: u32,
    /// Bytes of each buffer; `None` where it crossed.
    pub(crate) lengths: Vec<Option<usize>>,
}

/// Dictionary values, shared by the batches that use them.
#[derive(Debug, Clone)]
pub(crate) struct DictionaryBuffers {
    pub(crate) values: Rc<ColumnBuffers>,
    pub(crate) version: u64,
}

impl Batch {
    /// Number of its rows.
    ///
    /// ```
    /// use yearbook_sdk::testing::{Table, batches};
    ///
    /// let table = Table::new()
    ///     .text("region", &[Some("north"), None])
    ///     .numbers("value", &[Some(1.5), Some(2.0)]);
    /// let batch = batches(&table, false)?.remove(0);
    /// assert_eq!(batch.rows(), 2);
    /// # Ok::<(), yearbook_sdk::Error>(())
    /// ```
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of its columns.
    ///
    /// ```
    /// use yearbook_sdk::testing::{Table, batches};
    ///
    /// let table = Table::new()
    ///     .text("region", &[Some("north"), None])
    ///     .numbers("value", &[Some(1.5), Some(2.0)]);
    /// let batch = batches(&table, false)?.remove(0);
    /// assert_eq!(batch.width(), 2);
    /// # Ok::<(), yearbook_sdk::Error>(())
    /// ```
    #[must_use]
    pub fn width(&self) -> usize {
        self.arrays.len()
    }

    /// Descriptions of the columns.
    ///
    /// ```
    /// use yearbook_sdk::testing::{Table, batches};
    ///
    /// let table = Table::new()
    ///     .text("region", &[Some("north"), None])
    ///     .numbers("value", &[Some(1.5), Some(2.0)]);
    /// let batch = batches(&table, false)?.remove(0);
    /// assert_eq!(batch.schema().fields[1].name, "value");
    /// # Ok::<(), yearbook_sdk::Error>(())
    /// ```
    #[must_use]
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// A view of a column.
    ///
    /// ```
    /// use yearbook_sdk::testing::{Table, batches};
    ///
    /// let table = Table::new()
    ///     .text("region", &[Some("north"), None])
    ///     .numbers("value", &[Some(1.5), Some(2.0)]);
    /// let batch = batches(&table, false)?.remove(0);
    /// assert_eq!(batch.column(0).text(0), Some("north"));
    /// # Ok::<(), yearbook_sdk::Error>(())
    /// ```
    ///
    /// # Panics
    /// Panics when there is no such column.
    #[must_use]
    pub fn column(&self, index: usize) -> Column<'_> {
        Column::new(&self.schema.fields[index], &self.arrays[index])
    }

    /// Views of all columns.
    ///
    /// ```
    /// use yearbook_sdk::testing::{Table, batches};
    ///
    /// let table = Table::new()
    ///     .text("region", &[Some("north"), None])
    ///     .numbers("value", &[Some(1.5), Some(2.0)]);
    /// let batch = batches(&table, false)?.remove(0);
    /// let nulls: Vec<_> = batch.columns().map(|column| column.null_count).collect();
    /// assert_eq!(nulls, [1, 0]);
    /// # Ok::<(), yearbook_sdk::Error>(())
    /// ```
    pub fn columns(&self) -> impl Iterator<Item = Column<'_>> {
        self.schema.fields.iter().zip(&self.arrays).map(|(field, array)| Column::new(field, array))
    }

    /// The batch without a column, and the column alone.
    ///
    /// ```
    /// use yearbook_sdk::testing::{Table, batches};
    ///
    /// let table = Table::new()
    ///     .text("region", &[Some("north"), None])
    ///     .numbers("value", &[Some(1.5), Some(2.0)]);
    /// let batch = batches(&table, false)?.remove(0);
    /// let (rest, alone) = batch.split(0);
    /// assert_eq!(rest.schema().fields[0].name, "value");
    /// assert_eq!(alone.schema().fields[0].name, "region");
    /// # Ok::<(), yearbook_sdk::Error>(())
    /// ```
    ///
    /// # Panics
    /// Panics when there is no such column.
    #[must_use]
    pub fn split(mut self, column: usize) -> (Self, Self) {
        let schema = Rc::make_mut(&mut self.schema);
        let alone = Schema { fields: vec![schema.fields.remove(column)], metadata: Vec::new() };
        let arrays = vec![self.arrays.remove(column)];
        let alone =
            Self { schema: Rc::new(alone), rows: self.rows, arrays, kept: Rc::clone(&self.kept) };
        (self, alone)
    }

    #[cfg(feature = "arrow")]
    pub(crate) fn into_arrays(self) -> Vec<ColumnBuffers> {
        self.arrays
    }
}

/// Turns what crosses into batches. Made from the host's data or, natively, by [`crate::testing`]
/// from Rust values; nothing else may make one, because views trust what it is given.
pub(crate) struct Decoder {
    schema: Rc<Schema>,
    /// In pre-order of the dictionary-encoded fields.
    dictionaries: Vec<DictionaryBuffers>,
    versions: u64,
}

impl Decoder {
    /// `views`: those of the encoder, which may want dictionaries plain.
    pub(crate) fn new(mut schema: Schema, views: &[View]) -> Self {
        schema.apply_views(views);
        Self { schema: Rc::new(schema), dictionaries: Vec::new(), versions: 0 }
    }

    /// # Errors
    /// [`Error::Internal`] when arrays and buffers don't match the schema.
    pub(crate) fn decode(&mut self, batch: wire::RawBatch) -> Result<Batch, Error> {
        let schema = Rc::clone(&self.schema);
        let mut reader = Reader {
            arrays: batch.arrays.into_iter(),
            buffers: batch.buffers.into_iter(),
            next_buffer: 0,
            dictionaries: &mut self.dictionaries,
            next_dictionary: 0,
            versions: &mut self.versions,
        };
        let arrays =
            schema.fields.iter().map(|field| reader.array(field)).collect::<Result<_, _>>()?;
        Ok(Batch { schema, rows: size(batch.rows), arrays, kept: Rc::default() })
    }
}

struct Reader<'a> {
    arrays: std::vec::IntoIter<wire::RawArray>,
    buffers: std::vec::IntoIter<wire::RawBuffer>,
    next_buffer: u32,
    dictionaries: &'a mut Vec<DictionaryBuffers>,
    next_dictionary: usize,
    versions: &'a mut u64,
}

impl Reader<'_> {
    fn array(&mut self, field: &Field) -> Result<ColumnBuffers, Error> {
        let record = self.record(field)?;
        let (buffers, held) = self.take_buffers(field, &record)?;
        let dictionary =
            field.dictionary.as_deref().map(|values| self.dictionary(values)).transpose()?;
        let children =
            field.children.iter().map(|child| self.array(child)).collect::<Result<_, _>>()?;
        Ok(ColumnBuffers {
            length: size(record.length),
            null_count: size(record.null_count),
            buffers,
            held,
            children,
            dictionary,
        })
    }

    fn dictionary(&mut self, field: &Field) -> Result<DictionaryBuffers, Error> {
        let place = self.next_dictionary;
        self.next_dictionary += 1;
        if self.arrays.as_slice().first().is_some_and(|record| record.repeated) {
            self.record(field)?;
            let before = self.dictionaries.get(place).cloned();
            return before
                .ok_or_else(|| mismatch(field, "repeats a dictionary that was never sent"));
        }
        let values = Rc::new(self.array(field)?);
        *self.versions += 1;
        let dictionary = DictionaryBuffers { values, version: *self.versions };
        if let Some(slot) = self.dictionaries.get_mut(place) {
            *slot = dictionary.clone();
        } else {
            self.dictionaries.push(dictionary.clone());
        }
        Ok(dictionary)
    }

    fn record(&mut self, field: &Field) -> Result<wire::RawArray, Error> {
        self.arrays.next().ok_or_else(|| mismatch(field, "has no array"))
    }

    fn take_buffers(
        &mut self,
        field: &Field,
        record: &wire::RawArray,
    ) -> Result<(Vec<Vec<u8>>, Option<HeldBuffers>), Error> {
        let (count, first) = (size(record.buffers), self.next_buffer);
        let mut buffers = Vec::with_capacity(count);
        let mut lengths = Vec::new();
        for (place, buffer) in self.buffers.by_ref().take(count).enumerate() {
            buffers.push(match buffer {
                wire::RawBuffer::Bytes(bytes) => bytes,
                wire::RawBuffer::Held(length) => {
                    lengths.resize(place, None);
                    lengths.push(Some(size(length)));
                    Vec::new()
                }
            });
        }
        self.next_buffer += record.buffers;
        if buffers.len() != count {
            return Err(mismatch(field, "has fewer buffers than it says"));
        }
        let held = (!lengths.is_empty()).then(|| {
            lengths.resize(count, None);
            HeldBuffers { first, lengths }
        });
        Ok((buffers, held))
    }
}

fn mismatch(field: &Field, what: &str) -> Error {
    Error::Internal(format!("the batch does not match the schema: `{}` {what}", field.name))
}

/// A length that crossed as `u32`.
fn size(length: u32) -> usize {
    length as usize
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;
    use crate::testing::{Table, batches};
    use crate::{DataType, Values};

    #[test]
    fn a_repeated_dictionary_keeps_its_values_and_version() {
        let table = Table::new()
            .dictionary("a", &[Some("x"), None, Some("y"), Some("x")])
            .integers("n", &[Some(1); 4])
            .batches_of(2);
        let batches = batches(&table, true).unwrap();
        let texts: Vec<_> = batches
            .iter()
            .flat_map(|batch| [0, 1].map(|row| batch.column(0).text(row).map(str::to_owned)))
            .collect();
        assert_eq!(texts, [Some("x".to_owned()), None, Some("y".to_owned()), Some("x".to_owned())]);
        let versions: Vec<_> = batches
            .iter()
            .map(|batch| match batch.column(0).values {
                Values::Dictionary(dictionary) => dictionary.version,
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(versions, [1, 1]);
    }

    #[test]
    fn a_dictionary_that_was_never_sent_is_an_error() {
        let field = wire::RawField {
            name: "a".into(),
            format: "i".into(),
            nullable: true,
            dictionary: true,
            children: 0,
            metadata: vec![],
        };
        let values = wire::RawField { format: "u".into(), dictionary: false, ..field.clone() };
        let schema =
            Schema::from_wire(wire::RawSchema { fields: vec![field, values], metadata: vec![] })
                .unwrap();
        assert_eq!(schema.fields[0].value_type(), &DataType::Utf8);
        let keys = wire::RawArray { length: 1, null_count: 0, buffers: 2, repeated: false };
        let values = wire::RawArray { length: 1, null_count: 0, buffers: 0, repeated: true };
        let batch = wire::RawBatch {
            rows: 1,
            arrays: vec![keys, values],
            buffers: vec![wire::RawBuffer::Bytes(vec![]), wire::RawBuffer::Bytes(vec![0; 4])],
        };
        assert!(matches!(Decoder::new(schema, &[]).decode(batch), Err(Error::Internal(_))));
    }

    #[test]
    fn a_batch_with_too_few_arrays_or_buffers_is_an_error() {
        let table = Table::new().integers("a", &[Some(1)]).text("b", &[Some("x")]);
        let schema = Schema::from_wire(table.wire_schema(false)).unwrap();
        let whole = table.wire_batch(0..1, false, false, &[]);
        let mut short = whole.clone();
        short.buffers.pop();
        assert!(matches!(Decoder::new(schema.clone(), &[]).decode(short), Err(Error::Internal(_))));
        let mut short = whole.clone();
        short.arrays.pop();
        assert!(matches!(Decoder::new(schema.clone(), &[]).decode(short), Err(Error::Internal(_))));
        assert!(Decoder::new(schema, &[]).decode(whole).is_ok());
    }
}
