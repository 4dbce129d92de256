//! A column of text as a column of bytes: for formats that write a text in another form, such as a
//! geometry.

use std::rc::Rc;

use super::{Batch, ColumnBuffers, DictionaryBuffers};
use crate::{Column, DataType, Error, Field, Schema};

/// Turns one column of text into bytes, value by value; each value of a dictionary once, however
/// many batches use it.
///
/// ```
/// use yearbook_sdk::batch::Recoder;
/// use yearbook_sdk::testing::{Table, batches};
///
/// let table = Table::new().text("region", &[Some("north"), None]);
/// let batch = batches(&table, false)?.remove(0);
/// let mut recoder: Recoder<usize> = Recoder::new(batch.schema().clone(), 0);
/// assert_eq!(recoder.schema().fields[0].format, "z");
/// # Ok::<(), yearbook_sdk::Error>(())
/// ```
#[derive(Debug)]
pub struct Recoder<S> {
    column: usize,
    schema: Rc<Schema>,
    kept: Option<RecodedDictionary<S>>,
}

/// Result of recoding a dictionary.
#[derive(Debug)]
struct RecodedDictionary<S> {
    dictionary: DictionaryBuffers,
    said: Vec<Option<S>>,
}

impl<S> Recoder<S> {
    /// For the column at `column` in tables of `schema`.
    ///
    /// ```
    /// use yearbook_sdk::batch::Recoder;
    /// use yearbook_sdk::testing::{Table, batches};
    ///
    /// let table = Table::new().text("region", &[Some("north"), None]);
    /// let batch = batches(&table, false)?.remove(0);
    /// let mut recoder: Recoder<usize> = Recoder::new(batch.schema().clone(), 0);
    /// # Ok::<(), yearbook_sdk::Error>(())
    /// ```
    ///
    /// # Panics
    /// Panics when there is no such column.
    #[must_use]
    pub fn new(mut schema: Schema, column: usize) -> Self {
        let field = &mut schema.fields[column];
        let values = field.dictionary.as_deref_mut();
        if let Some(values) = values {
            binary(values);
        } else {
            binary(field);
        }
        Self { column, schema: Rc::new(schema), kept: None }
    }

    /// The schema with the column as bytes.
    ///
    /// ```
    /// use yearbook_sdk::batch::Recoder;
    /// use yearbook_sdk::testing::{Table, batches};
    ///
    /// let table = Table::new().text("region", &[Some("north"), None]);
    /// let batch = batches(&table, false)?.remove(0);
    /// let mut recoder: Recoder<usize> = Recoder::new(batch.schema().clone(), 0);
    /// assert_eq!(recoder.schema().fields[0].name, "region");
    /// # Ok::<(), yearbook_sdk::Error>(())
    /// ```
    #[must_use]
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The batch with the column as bytes. `write` appends what a text becomes and may say
    /// something of it; `said` hears that once for each row that is not null.
    ///
    /// ```
    /// use yearbook_sdk::batch::Recoder;
    /// use yearbook_sdk::testing::{Table, batches};
    ///
    /// let table = Table::new().text("region", &[Some("north"), None]);
    /// let batch = batches(&table, false)?.remove(0);
    /// let mut recoder: Recoder<usize> = Recoder::new(batch.schema().clone(), 0);
    /// let mut lengths = Vec::new();
    /// let bytes = recoder.apply(
    ///     batch,
    ///     |text, out| {
    ///         out.extend(text.bytes().rev());
    ///         Ok(text.len())
    ///     },
    ///     |length| lengths.push(*length),
    /// )?;
    /// assert_eq!((bytes.rows(), lengths), (2, vec![5]));
    /// # Ok::<(), yearbook_sdk::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of `write`; [`Error::Internal`] when the column is not text or becomes larger than 2
    /// GiB.
    pub fn apply(
        &mut self,
        mut batch: Batch,
        write: impl FnMut(&str, &mut Vec<u8>) -> Result<S, Error>,
        mut said: impl FnMut(&S),
    ) -> Result<Batch, Error> {
        let field = &batch.schema.fields[self.column];
        let array = &mut batch.arrays[self.column];
        if let (Some(values), Some(dictionary)) = (&field.dictionary, &array.dictionary) {
            let kept = match self.kept.take() {
                Some(kept) if kept.dictionary.version == dictionary.version => kept,
                _ => {
                    let (values, said) = recoded(values, &dictionary.values, write)?;
                    RecodedDictionary {
                        dictionary: DictionaryBuffers {
                            values: Rc::new(values),
                            version: dictionary.version,
                        },
                        said,
                    }
                }
            };
            let column = Column::new(field, array);
            if let crate::Values::Dictionary(keyed) = &column.values {
                let valid = keyed.keys.iter().enumerate().filter(|(row, _)| column.is_valid(*row));
                let keys = valid.filter_map(|(_, key)| usize::try_from(*key).ok());
                keys.filter_map(|key| kept.said.get(key)?.as_ref()).for_each(&mut said);
            }
            array.dictionary = Some(kept.dictionary.clone());
            self.kept = Some(kept);
        } else {
            let (made, all) = recoded(field, array, write)?;
            all.iter().flatten().for_each(said);
            *array = made;
        }
        batch.schema = Rc::clone(&self.schema);
        Ok(batch)
    }
}

fn binary(field: &mut Field) {
    (field.format, field.data_type) = ("z".to_owned(), DataType::Binary);
}

type Made<S> = (ColumnBuffers, Vec<Option<S>>);

fn recoded<S>(
    field: &Field,
    array: &ColumnBuffers,
    mut write: impl FnMut(&str, &mut Vec<u8>) -> Result<S, Error>,
) -> Result<Made<S>, Error> {
    let wrong =
        |why: &str| Error::Internal(format!("column `{}` cannot be recoded: {why}", field.name));
    if !matches!(field.data_type, DataType::Utf8 | DataType::LargeUtf8) {
        return Err(wrong("it is not text"));
    }
    let column = Column::new(field, array);
    // Growing step by step touches as much memory again; what is not used is never touched.
    let texts = array.buffers.get(2).map_or(0, Vec::len);
    let (mut offsets, mut bytes, mut said) = (
        Vec::with_capacity((array.length + 1) * 4),
        Vec::with_capacity(texts),
        Vec::with_capacity(array.length),
    );
    offsets.extend_from_slice(&[0; 4]);
    for row in 0..array.length {
        said.push(column.text(row).map(|text| write(text, &mut bytes)).transpose()?);
        let end = i32::try_from(bytes.len()).map_err(|_| wrong("it becomes larger than 2 GiB"))?;
        offsets.extend_from_slice(&end.to_le_bytes());
    }
    let validity = array.buffers.first().cloned().unwrap_or_default();
    let buffers = vec![validity, offsets, bytes];
    Ok((
        ColumnBuffers {
            length: array.length,
            null_count: array.null_count,
            buffers,
            held: None,
            children: Vec::new(),
            dictionary: None,
        },
        said,
    ))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::testing::{Table, batches};

    fn bytes(column: &Column<'_>, row: usize) -> Option<Vec<u8>> {
        match &column.values {
            _ if !column.is_valid(row) => None,
            crate::Values::Binary(values) => Some(values.bytes(row).to_vec()),
            crate::Values::Dictionary(keyed) => {
                bytes(&keyed.values, usize::try_from(keyed.keys[row]).unwrap())
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn each_text_becomes_bytes_and_a_dictionary_is_recoded_once() {
        let texts: Vec<_> =
            (0..40).map(|row| (row % 5 > 0).then(|| format!("text {}", row % 3))).collect();
        let table =
            Table::new().integers("n", &[Some(1); 40]).dictionary("t", &texts).batches_of(10);
        for (dictionaries, calls) in [(true, 3), (false, 32)] {
            let (mut written, mut heard, mut found) = (0, Vec::new(), Vec::new());
            let mut recoder = None;
            for batch in batches(&table, dictionaries).unwrap() {
                let recoder =
                    recoder.get_or_insert_with(|| Recoder::new(batch.schema().clone(), 1));
                let write = |text: &str, out: &mut Vec<u8>| {
                    written += 1;
                    out.extend(text.bytes().rev());
                    Ok(text.len())
                };
                let made = recoder.apply(batch, write, |length| heard.push(*length)).unwrap();
                found.extend((0..made.rows()).map(|row| bytes(&made.column(1), row)));
            }
            let expected: Vec<_> = texts
                .iter()
                .map(|text| text.as_ref().map(|text| text.bytes().rev().collect()))
                .collect();
            assert_eq!((found, written, heard), (expected, calls, vec![6; 32]));
        }
    }
}
