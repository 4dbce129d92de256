//! The order of rows in a snapshot: date column ascending, then primary key, then file order
//! (contract-3-order). Text sorts by UTF-8 bytes, numbers by value.

use arrow::array::ArrayRef;
use arrow::error::ArrowError;
use arrow::row::{Row, RowConverter, Rows, SortField};
use rayon::slice::ParallelSliceMut;

use super::PackageTable;

/// Position of a row: chunk, row in the chunk.
pub(crate) type RowPosition = (u32, u32);

/// Every row's place, in the snapshot's order.
#[derive(Debug)]
pub(crate) struct RowOrder {
    pub(crate) places: Vec<RowPosition>,
}

impl RowOrder {
    /// Sorts by these columns (positions), then by file order.
    pub(crate) fn sort_by(table: &PackageTable, columns: &[usize]) -> Result<Self, ArrowError> {
        let mut places = file_order(table)?;
        if !columns.is_empty() {
            let keys = SortKeys::new(table, columns)?;
            // Most packages come sorted already, and then looking is all it takes.
            if !places.is_sorted_by(|a, b| keys.row(*a) <= keys.row(*b)) {
                keys.sort(&mut places);
            }
        }
        Ok(Self { places })
    }
}

/// Comparable keys of all rows.
pub(crate) struct SortKeys {
    chunks: Vec<Rows>,
    empty: Rows,
}

impl SortKeys {
    pub(crate) fn new(table: &PackageTable, columns: &[usize]) -> Result<Self, ArrowError> {
        let fields = columns.iter().filter_map(|column| table.schema.fields().get(*column));
        let converter = RowConverter::new(
            fields.map(|field| SortField::new(field.data_type().clone())).collect(),
        )?;
        let encode = |chunk: &super::TableChunk| {
            let arrays: Vec<ArrayRef> = columns
                .iter()
                .filter_map(|column| chunk.batch.columns().get(*column).cloned())
                .collect();
            converter.convert_columns(&arrays)
        };
        let chunks = table.chunks.iter().map(encode).collect::<Result<_, _>>()?;
        Ok(Self { chunks, empty: converter.empty_rows(0, 0) })
    }

    /// Sorts by key, rows of the same key by position.
    pub(crate) fn sort(&self, places: &mut [RowPosition]) {
        places.par_sort_unstable_by(|a, b| self.row(*a).cmp(&self.row(*b)).then(a.cmp(b)));
    }

    /// The key of the row at `place`, which must come from the same table.
    pub(crate) fn row(&self, (chunk, row): RowPosition) -> Row<'_> {
        self.chunks.get(chunk as usize).unwrap_or(&self.empty).row(row as usize)
    }
}

/// Every row's place, as the file has them.
pub(crate) fn file_order(table: &PackageTable) -> Result<Vec<RowPosition>, ArrowError> {
    let mut places = Vec::with_capacity(usize::try_from(table.rows()).unwrap_or_default());
    for (index, chunk) in table.chunks.iter().enumerate() {
        let too_many = |_| ArrowError::ComputeError("more chunks than a u32 counts".to_owned());
        let index = u32::try_from(index).map_err(too_many)?;
        let rows = u32::try_from(chunk.batch.num_rows()).map_err(too_many)?;
        places.extend((0..rows).map(|row| (index, row)));
    }
    Ok(places)
}
