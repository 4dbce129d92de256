//! Labels of values in one language (contract-21-labels).

use std::sync::Arc;

use super::StoredValues;
use crate::Column;
use crate::meaning::{Language, ValueTexts};
use crate::read_plan::ColumnValue;

/// Labels of the values of a snapshot.
#[derive(Debug)]
pub struct ValueLabels {
    stored: Option<Arc<StoredValues>>,
    language: Option<Language>,
}

impl ValueLabels {
    /// Takes what publishing stored, where it was read, and a language of the dataset.
    #[must_use]
    pub fn new(stored: Option<Arc<StoredValues>>, language: Option<Language>) -> Self {
        Self { stored, language }
    }

    /// Returns the label of a value of the column at a position of the snapshot: that of the
    /// publisher, else what the list of a status says.
    #[must_use]
    pub fn label<'a>(
        &'a self,
        column: &'a Column,
        position: usize,
        value: &ColumnValue,
    ) -> Option<&'a str> {
        // Most columns have no labels, and texts of their values need not be made.
        self.has_labels(column, position)
            .then(|| self.label_of_text(column, position, &value.to_string()))?
    }

    /// Returns whether values of the column at a position of the snapshot may have labels.
    #[must_use]
    pub fn has_labels(&self, column: &Column, position: usize) -> bool {
        column.status().is_some() || self.listed(position).is_some()
    }

    /// Returns the label of a value, as [`Self::label`], by its text.
    #[must_use]
    pub fn label_of_text<'a>(
        &'a self,
        column: &'a Column,
        position: usize,
        value: &str,
    ) -> Option<&'a str> {
        let language = self.language.as_ref();
        let listed = self.listed(position).and_then(|labels| labels.get(value));
        listed
            .map(|label| label.in_language(language))
            .or_else(|| column.status()?.codes.label(value, language))
    }

    fn listed(&self, position: usize) -> Option<&ValueTexts> {
        self.stored.as_ref()?.labels(position)
    }
}
