//! Values that publishing stores beside a snapshot's file: those of text, date, boolean and integer
//! columns with at most [`super::MAX_VALUES`] of them, value columns apart
//! (contract-15-values-stored).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{ColumnValues, MAX_TEXT_BYTES, ValueRows, ValuesPage};
use crate::meaning::ValueTexts;
use crate::read_plan::ColumnValue;
use crate::{Column, ColumnRole, ColumnType, Date};

/// Values of the columns of a snapshot that have few.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredValues {
    columns: Vec<StoredColumn>,
    /// Labels of values by position of their column, whether its values are stored or not.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    labels: BTreeMap<usize, ValueTexts>,
}

/// All values of one column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredColumn {
    /// Position of the column in the snapshot.
    column: usize,
    nulls: u64,
    /// Ascending.
    #[serde(with = "entries")]
    values: Vec<(ColumnValue, ValueRows)>,
}

impl StoredValues {
    /// Creates the stored values of columns whose values are all there.
    #[must_use]
    pub fn new(counted: Vec<ColumnValues>) -> Self {
        let whole = counted.into_iter().filter(|column| !column.has_more);
        let column =
            |ColumnValues { column, nulls, values, .. }| StoredColumn { column, nulls, values };
        Self { columns: whole.map(column).collect(), labels: BTreeMap::new() }
    }

    /// Adds labels, by position of their column.
    #[must_use]
    pub fn with_labels(mut self, labels: BTreeMap<usize, ValueTexts>) -> Self {
        self.labels = labels;
        self
    }

    /// Returns the labels of the column at a position of the snapshot; `None` if it has none.
    #[must_use]
    pub fn labels(&self, position: usize) -> Option<&ValueTexts> {
        self.labels.get(&position)
    }

    /// Returns true for columns whose values are stored, where they are few enough.
    #[must_use]
    pub fn has_room_for(column: &Column) -> bool {
        !matches!(column.role, ColumnRole::Value | ColumnRole::Geometry)
            && column.column_type != ColumnType::Number
    }

    /// Returns the values of the column at a position of the snapshot; `None` if it has too many.
    #[must_use]
    pub fn column(&self, position: usize) -> Option<&StoredColumn> {
        self.columns.iter().find(|column| column.column == position)
    }

    /// Returns the stored form.
    #[must_use]
    pub fn to_json(&self) -> Vec<u8> {
        // Neither a map with other keys than text nor a float is in it.
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// Reads the stored form.
    ///
    /// # Errors
    /// Fails with the words of serde where this version does not understand it.
    pub fn from_json(bytes: &[u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(bytes)
    }
}

impl StoredColumn {
    /// Returns the number of its values.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "nobody asks whether there are none")]
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Returns what an answer has of the column: the same as counting its rows.
    #[must_use]
    pub fn page(&self, page: &ValuesPage) -> ColumnValues {
        let is_before = |value: &ColumnValue| page.after.as_ref().is_some_and(|at| value <= at);
        let start = self.values.partition_point(|(value, _)| is_before(value));
        let rest = self.values.get(start..).unwrap_or_default();
        let mut bytes = 0;
        let fits = |(value, _): &&(ColumnValue, ValueRows)| {
            bytes += value.text_bytes();
            bytes <= MAX_TEXT_BYTES
        };
        let count = rest.iter().take(page.limit).take_while(fits).count();
        // A single value fits, whatever its length.
        let count = count.max(usize::from(!rest.is_empty() && page.limit > 0));
        ColumnValues {
            column: self.column,
            distinct: Some(self.values.len() as u64),
            nulls: self.nulls,
            values: rest.iter().take(count).cloned().collect(),
            has_more: count < rest.len(),
        }
    }
}

impl ColumnValue {
    /// Returns the bytes of a text; 0 for other values.
    #[must_use]
    pub fn text_bytes(&self) -> usize {
        if let Self::Text(text) = self { text.len() } else { 0 }
    }
}

/// Values as `[value, rows, first, last]`: there may be ten thousand in a column.
mod entries {
    use serde::{Deserializer, Serializer};

    use super::{ColumnValue, Date, Deserialize, ValueRows};

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Value {
        Boolean(bool),
        Integer(i64),
        Text(String),
    }

    pub(super) fn serialize<S: Serializer>(
        values: &[(ColumnValue, ValueRows)],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let entry = |(value, ValueRows { rows, first, last }): &(ColumnValue, ValueRows)| {
            serde_json::json!([value, rows, first, last])
        };
        serializer.collect_seq(values.iter().map(entry))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<(ColumnValue, ValueRows)>, D::Error> {
        let entries: Vec<(Value, u64, Option<Date>, Option<Date>)> =
            Deserialize::deserialize(deserializer)?;
        let entry = |(value, rows, first, last)| {
            let value = match value {
                Value::Boolean(value) => ColumnValue::Boolean(value),
                Value::Integer(value) => ColumnValue::Integer(value),
                Value::Text(text) => ColumnValue::Text(text),
            };
            (value, ValueRows { rows, first, last })
        };
        Ok(entries.into_iter().map(entry).collect())
    }
}
