//! Texts of a column, whichever way they are held.

use arrow::array::{Array, ArrayRef, AsArray, Int32Array, StringArray};
use arrow::datatypes::Int32Type;
use arrow::error::ArrowError;

/// Texts of a column.
pub(crate) enum Texts<'a> {
    Plain(&'a StringArray),
    Keyed(&'a Int32Array, &'a StringArray),
}

impl<'a> Texts<'a> {
    /// Texts of `array`.
    ///
    /// # Errors
    /// [`ArrowError::SchemaError`] for a column of another type.
    pub(crate) fn new(array: &'a ArrayRef) -> Result<Self, ArrowError> {
        if let Some(plain) = array.as_string_opt::<i32>() {
            return Ok(Self::Plain(plain));
        }
        let keyed = array.as_dictionary_opt::<Int32Type>();
        let words = keyed.and_then(|keyed| keyed.values().as_string_opt::<i32>());
        match (keyed, words) {
            (Some(keyed), Some(words)) => Ok(Self::Keyed(keyed.keys(), words)),
            _ => {
                let of = array.data_type();
                Err(ArrowError::SchemaError(format!("a column of type {of} has no values")))
            }
        }
    }

    /// Text of a row; `None` for null.
    pub(crate) fn get(&self, row: usize) -> Option<&'a str> {
        match self {
            Self::Plain(texts) => texts.is_valid(row).then(|| texts.value(row)),
            Self::Keyed(keys, words) => {
                let word = keys.is_valid(row).then(|| keys.value(row))?;
                let word = usize::try_from(word).ok()?;
                words.is_valid(word).then(|| words.value(word))
            }
        }
    }
}
