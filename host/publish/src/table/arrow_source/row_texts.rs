//! Text of the rows of a batch, as long as it is once each row has its own: a dictionary or a view
//! names one value in many rows, so that a few kilobytes may stand for gigabytes.

use arrow::array::{
    AnyDictionaryArray, Array, ArrayRef, AsArray, LargeStringArray, RecordBatch, StringArray,
    StringViewArray,
};
use yearbook_domain::json_size;

use crate::table::MAX_BYTES;

/// Lengths of the texts in the rows of a batch.
pub(super) struct RowTexts<'a> {
    rows: usize,
    /// Texts by the position of their column.
    columns: Vec<(usize, Texts<'a>)>,
}

/// Texts of a column.
enum Texts<'a> {
    Short(&'a StringArray),
    Long(&'a LargeStringArray),
    Views(&'a StringViewArray),
    /// Texts that rows name by these places.
    Keyed(&'a dyn AnyDictionaryArray, Vec<usize>, Box<Texts<'a>>),
}

impl<'a> RowTexts<'a> {
    pub(super) fn new(batch: &'a RecordBatch) -> Self {
        let texts = |(position, array)| Some((position, Texts::new(array)?));
        let columns = batch.columns().iter().enumerate().filter_map(texts).collect();
        Self { rows: batch.num_rows(), columns }
    }

    /// Number of the first rows whose text is not more than that of a chunk. A single row may have
    /// more, up to what a row may weigh; none, where the first one has more than that.
    pub(super) fn first_rows(&self) -> usize {
        let mut bytes = 0_usize;
        for row in 0..self.rows {
            bytes = bytes.saturating_add(self.row_bytes(row));
            let most = if row == 0 { json_size::ROW_BYTES } else { MAX_BYTES };
            if bytes > most {
                return row;
            }
        }
        self.rows
    }

    /// Bytes of the text of a row.
    pub(super) fn row_bytes(&self, row: usize) -> usize {
        self.columns
            .iter()
            .fold(0, |bytes, (_, texts)| usize::saturating_add(bytes, texts.length(row)))
    }

    /// Position of the column with the longest text of a row, and its bytes.
    pub(super) fn longest(&self, row: usize) -> (usize, usize) {
        let lengths = self.columns.iter().map(|(position, texts)| (*position, texts.length(row)));
        lengths.max_by_key(|(_, bytes)| *bytes).unwrap_or_default()
    }
}

impl<'a> Texts<'a> {
    /// `None` of other values, and where there is no text.
    fn new(array: &'a ArrayRef) -> Option<Self> {
        if let Some(texts) = array.as_string_opt::<i32>() {
            return Some(Self::Short(texts));
        }
        if let Some(texts) = array.as_string_opt::<i64>() {
            return Some(Self::Long(texts));
        }
        if let Some(texts) = array.as_string_view_opt() {
            return Some(Self::Views(texts));
        }
        let dictionary = array.as_any_dictionary_opt()?;
        if dictionary.values().is_empty() {
            return None;
        }
        let texts = Self::new(dictionary.values())?;
        Some(Self::Keyed(dictionary, dictionary.normalized_keys(), Box::new(texts)))
    }

    fn length(&self, row: usize) -> usize {
        match self {
            Self::Short(texts) if texts.is_valid(row) => {
                usize::try_from(texts.value_length(row)).unwrap_or(0)
            }
            Self::Long(texts) if texts.is_valid(row) => {
                usize::try_from(texts.value_length(row)).unwrap_or(usize::MAX)
            }
            Self::Views(texts) if texts.is_valid(row) => texts.value(row).len(),
            Self::Keyed(keys, places, texts) if keys.is_valid(row) => {
                places.get(row).map_or(0, |place| texts.length(*place))
            }
            _ => 0,
        }
    }
}
