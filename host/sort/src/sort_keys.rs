//! Comparable keys of rows: Arrow's row format, whose bytes sort like the values. Text sorts by its
//! UTF-8 bytes, numbers by value.

use arrow::array::{ArrayRef, RecordBatch};
use arrow::datatypes::{DataType, Schema};
use arrow::error::ArrowError;
use arrow::row::{RowConverter, Rows, SortField};

/// Encoder of the key of each row.
pub struct KeyEncoder {
    /// Positions of the key's columns in a batch.
    positions: Vec<usize>,
    converter: RowConverter,
}

impl KeyEncoder {
    /// Keys of the columns at `positions` of `schema`.
    ///
    /// # Errors
    /// A column of a type that has no order.
    pub fn new(schema: &Schema, positions: &[usize]) -> Result<Self, ArrowError> {
        let fields = positions.iter().filter_map(|position| schema.fields().get(*position));
        Self::of_types(fields.map(|field| field.data_type().clone()), positions.to_vec())
    }

    /// Keys of columns of these types, which stand at `positions` of a batch.
    ///
    /// # Errors
    /// A type that has no order.
    pub fn of_types(
        types: impl Iterator<Item = DataType>,
        positions: Vec<usize>,
    ) -> Result<Self, ArrowError> {
        let converter = RowConverter::new(types.map(SortField::new).collect())?;
        Ok(Self { positions, converter })
    }

    /// Positions of the key's columns.
    pub fn positions(&self) -> &[usize] {
        &self.positions
    }

    /// The keys of a batch; `None` where a key has no columns.
    ///
    /// # Errors
    /// Columns of other types than the key's.
    pub fn encode(&self, batch: &RecordBatch) -> Result<Option<Rows>, ArrowError> {
        if self.positions.is_empty() {
            return Ok(None);
        }
        let columns: Vec<ArrayRef> = self
            .positions
            .iter()
            .filter_map(|position| batch.columns().get(*position).cloned())
            .collect();
        self.converter.convert_columns(&columns).map(Some)
    }

    /// The values of one encoded key, a column each; empty where a key has no columns.
    ///
    /// # Errors
    /// Bytes that are no key of these types.
    pub fn decode(&self, key: &[u8]) -> Result<Vec<ArrayRef>, ArrowError> {
        if self.positions.is_empty() {
            return Ok(Vec::new());
        }
        self.converter.convert_rows([self.converter.parser().parse(key)])
    }
}
