//! Keys of rows in Arrow's row format, whose bytes sort as rows do: nulls last in either direction,
//! NaN before them, -0 as 0, false before true, text by bytes.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, UInt64Array};
use arrow::compute::SortOptions;
use arrow::datatypes::{DataType, Float64Type, UInt64Type};
use arrow::error::ArrowError;
use arrow::row::{RowConverter, Rows, SortField};
use yearbook_domain::read_plan::{FloatKey, SortKey};

use super::best_rows::KEY_OVERHEAD_BYTES;
use super::column_reader::ColumnReader;
use crate::StorageFailure;
use crate::decode::ParquetFile;

/// Encoder of the sort key of each row of a file.
pub(super) struct SortKeys {
    reader: ColumnReader,
    keys: RowKeys,
}

/// Encoder of the key of each row of a batch.
pub(crate) struct RowKeys {
    /// Place of each column in a batch, and its direction.
    columns: Vec<(usize, bool)>,
    converter: RowConverter,
}

impl RowKeys {
    /// Keys of columns by their place in a batch, the greatest value first where the place stands
    /// beside true, and their types.
    pub(crate) fn new(
        columns: Vec<(usize, bool)>,
        types: impl Iterator<Item = DataType>,
    ) -> Result<Self, ArrowError> {
        let field = |(&(_, descending), of): (&(usize, bool), DataType)| match of {
            DataType::Float64 => SortField::new_with_options(DataType::UInt64, ascending(false)),
            other => SortField::new_with_options(other, ascending(descending)),
        };
        let converter = RowConverter::new(columns.iter().zip(types).map(field).collect())?;
        Ok(Self { columns, converter })
    }

    /// The keys of a batch.
    pub(crate) fn encode(&self, batch: &RecordBatch) -> Result<Rows, ArrowError> {
        let column = |&(place, descending): &(usize, bool)| {
            let column = batch.columns().get(place).cloned();
            column.map(|column| comparable(column, descending))
        };
        let columns: Vec<ArrayRef> = self.columns.iter().filter_map(column).collect();
        self.converter.convert_columns(&columns)
    }
}

impl SortKeys {
    /// Keys of the columns that `keys` name.
    pub(super) fn new(parquet: &ParquetFile, keys: &[SortKey]) -> Result<Self, StorageFailure> {
        let leaf = |key: &SortKey| Ok((parquet.column_index(key.column)?, key.descending));
        let leaves = keys.iter().map(leaf).collect::<Result<Vec<_>, StorageFailure>>()?;
        let reader = ColumnReader::new(leaves.iter().map(|(leaf, _)| *leaf));
        let columns =
            leaves.iter().map(|&(leaf, descending)| (reader.place(leaf), descending)).collect();
        let types = leaves.iter().map(|(leaf, _)| ColumnReader::data_type(parquet, *leaf));
        let keys = RowKeys::new(columns, types)
            .map_err(|error| StorageFailure::damaged(&parquet.key, error.to_string()))?;
        Ok(Self { reader, keys })
    }

    /// Reader of the sort columns.
    pub(super) fn reader(&self) -> &ColumnReader {
        &self.reader
    }

    /// The keys of a batch of the sort columns.
    pub(super) fn encode(&self, batch: &RecordBatch) -> Result<Rows, ArrowError> {
        self.keys.encode(batch)
    }

    /// Bytes that `keys` held keys take, by the averages of the file.
    pub(super) fn held_bytes(&self, parquet: &ParquetFile, keys: u64) -> u64 {
        keys.saturating_mul(self.reader.mean_bytes(parquet).saturating_add(KEY_OVERHEAD_BYTES))
    }
}

fn ascending(descending: bool) -> SortOptions {
    SortOptions { descending, nulls_first: false }
}

/// `column` with numbers as integers that sort like them, ascending in either direction, since NaN
/// comes last in both.
fn comparable(column: ArrayRef, descending: bool) -> ArrayRef {
    let Some(numbers) = column.as_primitive_opt::<Float64Type>() else { return column };
    let key = |number: f64| {
        let key = FloatKey::new(number);
        if descending && !key.is_nan() { !key.sort_key() } else { key.sort_key() }
    };
    let keys: UInt64Array = numbers.unary::<_, UInt64Type>(key);
    debug_assert_eq!(keys.null_count(), numbers.null_count());
    Arc::new(keys)
}
