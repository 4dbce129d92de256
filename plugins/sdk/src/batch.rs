//! One batch of rows: owns the buffers that crossed and hands out views. Remembers dictionaries that
//! the host did not send again.

use std::rc::Rc;

use crate::{Column, Error, Field, Schema, wire};

/// Rows of one `part` call.
#[derive(Debug)]
pub struct Batch {
    schema: Rc<Schema>,
    rows: usize,
    arrays: Vec<Array>,
}

/// The buffers of a column, or of a child.
#[derive(Debug)]
pub(crate) struct Array {
    pub(crate) length: usize,
    pub(crate) null_count: usize,
    pub(crate) buffers: Vec<Vec<u8>>,
    pub(crate) children: Vec<Array>,
    pub(crate) dictionary: Option<Dictionary>,
}

/// Dictionary values, shared by the batches that use them.
#[derive(Debug, Clone)]
pub(crate) struct Dictionary {
    pub(crate) values: Rc<Array>,
    pub(crate) version: u64,
}

impl Batch {
    /// How many rows it has.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// How many columns it has.
    #[must_use]
    pub fn width(&self) -> usize {
        self.arrays.len()
    }

    /// What the columns are.
    #[must_use]
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// A view of a column.
    ///
    /// # Panics
    /// When there is no such column.
    #[must_use]
    pub fn column(&self, index: usize) -> Column<'_> {
        Column::new(&self.schema.fields[index], &self.arrays[index])
    }

    /// Views of all columns.
    pub fn columns(&self) -> impl Iterator<Item = Column<'_>> {
        self.schema.fields.iter().zip(&self.arrays).map(|(field, array)| Column::new(field, array))
    }

    #[cfg(feature = "arrow")]
    pub(crate) fn into_arrays(self) -> Vec<Array> {
        self.arrays
    }
}

/// Turns what crosses into batches. Made from the host's data or, natively, by [`crate::testing`]
/// from Rust values; nothing else may make one, because views trust what it is given.
pub(crate) struct Decoder {
    schema: Rc<Schema>,
    /// In pre-order of the dictionary-encoded fields.
    dictionaries: Vec<Dictionary>,
    versions: u64,
}

impl Decoder {
    pub(crate) fn new(schema: &Schema) -> Self {
        Self { schema: Rc::new(schema.clone()), dictionaries: Vec::new(), versions: 0 }
    }

    /// # Errors
    /// [`Error::Internal`] when arrays and buffers don't match the schema.
    pub(crate) fn decode(&mut self, batch: wire::Batch) -> Result<Batch, Error> {
        let schema = Rc::clone(&self.schema);
        let mut reader = Reader {
            arrays: batch.arrays.into_iter(),
            buffers: batch.buffers.into_iter(),
            dictionaries: &mut self.dictionaries,
            next_dictionary: 0,
            versions: &mut self.versions,
        };
        let arrays = schema.fields.iter().map(|field| reader.array(field)).collect::<Result<_, _>>()?;
        Ok(Batch { schema, rows: size(batch.rows), arrays })
    }
}

struct Reader<'a> {
    arrays: std::vec::IntoIter<wire::Array>,
    buffers: std::vec::IntoIter<Vec<u8>>,
    dictionaries: &'a mut Vec<Dictionary>,
    next_dictionary: usize,
    versions: &'a mut u64,
}

impl Reader<'_> {
    fn array(&mut self, field: &Field) -> Result<Array, Error> {
        let record = self.record(field)?;
        let buffers = self.take_buffers(field, &record)?;
        let dictionary = field.dictionary.as_deref().map(|values| self.dictionary(values)).transpose()?;
        let children = field.children.iter().map(|child| self.array(child)).collect::<Result<_, _>>()?;
        Ok(Array { length: size(record.length), null_count: size(record.null_count), buffers, children, dictionary })
    }

    fn dictionary(&mut self, field: &Field) -> Result<Dictionary, Error> {
        let place = self.next_dictionary;
        self.next_dictionary += 1;
        if self.arrays.as_slice().first().is_some_and(|record| record.repeated) {
            self.record(field)?;
            let before = self.dictionaries.get(place).cloned();
            return before.ok_or_else(|| mismatch(field, "repeats a dictionary that was never sent"));
        }
        let values = Rc::new(self.array(field)?);
        *self.versions += 1;
        let dictionary = Dictionary { values, version: *self.versions };
        if let Some(slot) = self.dictionaries.get_mut(place) {
            *slot = dictionary.clone();
        } else {
            self.dictionaries.push(dictionary.clone());
        }
        Ok(dictionary)
    }

    fn record(&mut self, field: &Field) -> Result<wire::Array, Error> {
        self.arrays.next().ok_or_else(|| mismatch(field, "has no array"))
    }

    fn take_buffers(&mut self, field: &Field, record: &wire::Array) -> Result<Vec<Vec<u8>>, Error> {
        let count = size(record.buffers);
        let buffers: Vec<_> = self.buffers.by_ref().take(count).collect();
        if buffers.len() == count { Ok(buffers) } else { Err(mismatch(field, "has fewer buffers than it says")) }
    }
}

fn mismatch(field: &Field, what: &str) -> Error {
    Error::Internal(format!("the batch does not match the schema: `{}` {what}", field.name))
}

/// A length that crossed as `u32`.
fn size(length: u32) -> usize {
    length as usize
}
