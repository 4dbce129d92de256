//! Distinct values of columns, each with its rows and dates (contract-15-values): what `/values`
//! asks for, what it answers, and what publishing stores for it. Never touches Arrow or HTTP.

mod labels;
mod query;
mod stored;

use serde::{Serialize, Serializer};

use crate::Date;
use crate::query::MAX_VALUE_BYTES;
use crate::read_plan::ColumnValue;

pub use labels::ValueLabels;
pub use query::{ValuesQuery, ValuesTarget};
pub use stored::{StoredColumn, StoredValues};

/// Values of a column that one answer has at most, and that publishing stores.
pub const MAX_VALUES: usize = 10_000;

/// Values of a column that an answer has where `limit` is left out.
pub const DEFAULT_VALUES: usize = 1_000;

/// Columns of one answer at most.
pub const MAX_COLUMNS: usize = 16;

/// Distinct values of a selection that are counted exactly.
pub const MAX_COUNTED: usize = 100_000;

/// Bytes of text that the values of a column take in one answer at most. Of longer ones there are
/// fewer than `limit`, but always one.
pub const MAX_TEXT_BYTES: usize = 2 << 20;

/// Rows that have a value, and the first and last date among them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ValueRows {
    /// Number of rows.
    pub rows: u64,
    /// First date; `None` without a date axis, and where no row has a date.
    pub first: Option<Date>,
    /// Last date.
    pub last: Option<Date>,
}

impl ValueRows {
    /// So many rows with this date.
    #[must_use]
    pub fn with_date(rows: u64, date: Option<Date>) -> Self {
        Self { rows, first: date, last: date }
    }

    /// Adds other rows with the same value.
    pub fn merge(&mut self, other: Self) {
        self.rows += other.rows;
        // No date sorts before any, so a smallest one has to be looked for among those that are.
        self.first = self.first.into_iter().chain(other.first).min();
        self.last = self.last.max(other.last);
    }
}

/// Counted values of one column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnValues {
    /// Position of the column in the snapshot.
    pub column: usize,
    /// Number of distinct values; `None` if they are more than [`MAX_COUNTED`].
    pub distinct: Option<u64>,
    /// Number of rows without a value.
    pub nulls: u64,
    /// The values that were asked for, ascending.
    pub values: Vec<(ColumnValue, ValueRows)>,
    /// True where further values follow the last one.
    pub has_more: bool,
}

impl ColumnValues {
    /// Ends the values with one that can be sent as `after`, where others follow. Returns false if
    /// all of them are longer than a value of a request may be.
    #[must_use]
    pub fn end_with_short(&mut self) -> bool {
        if self.has_more {
            let is_short =
                |(value, _): &(ColumnValue, ValueRows)| value.text_bytes() <= MAX_VALUE_BYTES;
            let end = self.values.iter().rposition(is_short);
            self.values.truncate(end.map_or(0, |last| last + 1));
        }
        !self.has_more || !self.values.is_empty()
    }
}

/// Values of a column that an answer has: those behind `after`, the smallest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ValuesPage {
    /// Number of values at most.
    pub limit: usize,
    /// Value to go on behind; `None` to begin with the smallest.
    pub after: Option<ColumnValue>,
}

impl Serialize for ColumnValue {
    /// As JSON prints the column's type; NaN and infinities as their words.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Boolean(value) => serializer.serialize_bool(*value),
            Self::Integer(value) => serializer.serialize_i64(*value),
            Self::Number(key) if key.number().is_finite() => serializer.serialize_f64(key.number()),
            Self::Number(_) => serializer.collect_str(self),
            Self::Text(text) => serializer.serialize_str(text),
        }
    }
}

#[cfg(test)]
mod tests;
