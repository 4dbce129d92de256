//! What `dimensions` looks for (spec 4.1, contract 3): a literal substring, case folded by simple Unicode case
//! folding, nothing normalised.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, StringArray};
use arrow::buffer::BooleanBuffer;
use arrow::datatypes::Int32Type;
use icu_casemap::CaseMapper;
use memchr::memmem::Finder;
use parquet::errors::ParquetError;

/// A substring that is looked for in text. Every character stands for itself and for those that fold to the same.
/// Folding and searching take time in proportion to the text, however long the needle: a pattern compiled from the
/// longest needle that an address can carry would take seconds.
/// Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Needle(Arc<Finder<'static>>);

impl Needle {
    /// Any text.
    pub(crate) fn new(text: &str) -> Self {
        let mut folded = Vec::new();
        fold(text, &mut folded);
        Self(Arc::new(Finder::new(&folded).into_owned()))
    }

    /// Whether `text` contains it; `folded` is room to work in.
    pub(crate) fn is_in(&self, text: &str, folded: &mut Vec<u8>) -> bool {
        fold(text, folded);
        // UTF-8 never has one character begin inside another, so bytes may be searched.
        self.0.find(folded).is_some()
    }
}

/// Replaces `folded` with the folding of `text`.
fn fold(text: &str, folded: &mut Vec<u8>) {
    folded.clear();
    if text.is_ascii() {
        folded.extend(text.bytes().map(|byte| byte.to_ascii_lowercase()));
        return;
    }
    let mapper = CaseMapper::new();
    let mut utf8 = [0; 4];
    for letter in text.chars() {
        folded.extend_from_slice(mapper.simple_fold(letter).encode_utf8(&mut utf8).as_bytes());
    }
}

/// Looks for a needle in batch after batch and remembers what it found in the dictionary of each column.
pub(crate) struct Search {
    needle: Needle,
    seen: Vec<Option<Seen>>,
}

/// A dictionary and which of its values match.
struct Seen {
    values: StringArray,
    hits: BooleanBuffer,
}

impl Search {
    /// A search in batches of `columns` columns.
    pub(crate) fn new(needle: Needle, columns: usize) -> Self {
        Self { needle, seen: (0..columns).map(|_| None).collect() }
    }

    /// The rows of `batch` in which any column contains the needle.
    pub(crate) fn rows(&mut self, batch: &RecordBatch) -> Result<BooleanBuffer, ParquetError> {
        let mut found = BooleanBuffer::new_unset(batch.num_rows());
        for (column, seen) in batch.columns().iter().zip(&mut self.seen) {
            found = &found | &column_rows(&self.needle, column, seen)?;
        }
        Ok(found)
    }

    /// Whether the batches so far brought dictionaries alone, and none with a match.
    pub(crate) fn no_dictionary_matches(&self) -> bool {
        self.seen.iter().all(|seen| seen.as_ref().is_some_and(|seen| !seen.hits.has_true()))
    }
}

fn column_rows(needle: &Needle, column: &ArrayRef, seen: &mut Option<Seen>) -> Result<BooleanBuffer, ParquetError> {
    if let Some(texts) = column.as_string_opt::<i32>() {
        *seen = None;
        return Ok(hits(needle, texts));
    }
    let typed = column.as_dictionary_opt::<Int32Type>().and_then(|keyed| Some((keyed, keyed.values().as_string_opt::<i32>()?)));
    let Some((keyed, values)) = typed else {
        return Err(ParquetError::General(format!("a dimension column is {}, not text", column.data_type())));
    };
    // Batches of one row group share their dictionary; it is searched once.
    let known = seen.take().filter(|seen| same(&seen.values, values));
    let seen = seen.insert(known.unwrap_or_else(|| Seen { values: values.clone(), hits: hits(needle, values) }));
    if !seen.hits.has_true() {
        return Ok(BooleanBuffer::new_unset(column.len()));
    }
    let keys = keyed.keys();
    let hit = |row: usize| usize::try_from(keys.value(row)).is_ok_and(|key| key < seen.hits.len() && seen.hits.value(key));
    Ok(BooleanBuffer::collect_bool(keys.len(), |row| keys.is_valid(row) && hit(row)))
}

fn hits(needle: &Needle, texts: &StringArray) -> BooleanBuffer {
    let mut folded = Vec::new();
    BooleanBuffer::collect_bool(texts.len(), |row| texts.is_valid(row) && needle.is_in(texts.value(row), &mut folded))
}

/// Whether two arrays are views of the same memory.
fn same(a: &StringArray, b: &StringArray) -> bool {
    a.len() == b.len() && a.offsets().ptr_eq(b.offsets()) && a.values().ptr_eq(b.values())
}

#[cfg(test)]
mod tests;
