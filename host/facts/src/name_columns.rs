//! Columns that name series beside those that tell them apart: dimensions of text that have one
//! value in each series that is drawn, as the name of a city beside its code.

use std::hash::{BuildHasher, RandomState};

use arrow::array::{Array, AsArray, RecordBatch};
use yearbook_domain::preview_facts::{MAX_CELL_CHARACTERS, cut_text};

/// One such column, being read. Holds the beginning of one value a series.
pub(super) struct NameColumn {
    /// Position in the table.
    pub(super) position: usize,
    /// Position in the batches.
    at: usize,
    hasher: RandomState,
    /// The first value of each series.
    values: Vec<Option<FirstValue>>,
    has_several: bool,
}

/// A value: the hash of its text, and the beginning of it; `None` if null.
struct FirstValue {
    hash: u64,
    text: Option<String>,
}

impl NameColumn {
    pub(super) fn new(position: usize, at: usize, series: usize) -> Self {
        let values = std::iter::repeat_with(|| None).take(series).collect();
        Self { position, at, hasher: RandomState::new(), values, has_several: false }
    }

    /// Takes in a row of the series with this index.
    pub(super) fn update(&mut self, batch: &RecordBatch, row: usize, series: usize) {
        if self.has_several {
            return;
        }
        let texts = batch.columns().get(self.at).and_then(|array| array.as_string_opt::<i32>());
        let text = texts.filter(|texts| texts.is_valid(row)).map(|texts| texts.value(row));
        let hash = self.hasher.hash_one(text);
        match self.values.get_mut(series) {
            Some(Some(first)) => self.has_several = first.hash != hash,
            Some(none) => {
                let text = text.map(|text| cut_text(text, MAX_CELL_CHARACTERS).to_owned());
                *none = Some(FirstValue { hash, text });
            }
            None => {}
        }
    }

    /// The value of each series; `None` where one of them has several.
    pub(super) fn finish(self) -> Option<Vec<Option<String>>> {
        let values = self.values.into_iter().map(|first| first.and_then(|first| first.text));
        (!self.has_several).then(|| values.collect())
    }
}
