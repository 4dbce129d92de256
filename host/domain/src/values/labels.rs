//! Labels of values in one language (contract-21-labels).

use std::sync::Arc;

use super::StoredValues;
use crate::Column;
use crate::meaning::Language;
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
        let language = self.language.as_ref();
        let labels = self.stored.as_ref().and_then(|stored| stored.labels(position));
        let status = column.status();
        if labels.is_none() && status.is_none() {
            return None;
        }
        let value = value.to_string();
        let label = labels.and_then(|labels| labels.get(&value));
        label
            .map(|label| label.in_language(language))
            .or_else(|| status?.codes.label(&value, language))
    }
}
