//! The primary key is unique (contract-7-key): each row that repeats an earlier one's key is named
//! together with it. Numbers are compared by value, text by its bytes.

use std::sync::Arc;

use arrow::array::{AsArray, RecordBatch};
use arrow::datatypes::{Float64Type, Schema, UInt64Type};
use arrow::error::ArrowError;
use arrow::row::OwnedRow;
use arrow::util::display::array_value_to_string;
use yearbook_sort::{BlockLimits, ExternalSorter, KeyEncoder, SortError, SortedRows};

use crate::faults::{FaultList, MAX_LISTED};

/// Keys in the order of the input, as they are read. Strictly ascending keys cannot repeat, and
/// most tables come with them.
pub(crate) struct KeyOrder {
    keys: KeyEncoder,
    last: Option<OwnedRow>,
    is_ascending: bool,
}

impl KeyOrder {
    /// Keys of the columns `key` (positions) of `schema`.
    pub(crate) fn new(schema: &Schema, key: &[usize]) -> Result<Self, ArrowError> {
        Ok(Self { keys: KeyEncoder::new(schema, key)?, last: None, is_ascending: true })
    }

    /// The rows with every -0 of the key as 0: they are one number, and so one key.
    pub(crate) fn unsign_zeros(&self, batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
        let mut columns = batch.columns().to_vec();
        for position in self.keys.positions() {
            let Some(column) = columns.get_mut(*position) else { continue };
            if let Some(floats) = column.as_primitive_opt::<Float64Type>() {
                // -0 and 0 make 0.
                *column = Arc::new(floats.unary::<_, Float64Type>(|value| value + 0.0));
            }
        }
        RecordBatch::try_new(batch.schema(), columns)
    }

    /// Takes in the next rows.
    pub(crate) fn update(&mut self, batch: &RecordBatch) -> Result<(), ArrowError> {
        if !self.is_ascending {
            return Ok(());
        }
        let Some(keys) = self.keys.encode(batch)? else { return Ok(()) };
        let first = keys.iter().next();
        self.is_ascending = keys.iter().is_sorted_by(|a, b| a < b)
            && self.last.as_ref().zip(first).is_none_or(|(last, first)| last.row() < first);
        self.last = keys.num_rows().checked_sub(1).map(|last| keys.row(last).owned());
        Ok(())
    }

    /// Returns true when no key can repeat another.
    pub(crate) fn is_strictly_ascending(&self) -> bool {
        self.is_ascending
    }
}

/// Reports rows whose key columns (positions) equal those of an earlier row. `rows` have the number
/// of the row behind their columns. Sorts the keys, within `budget` bytes, unless the order of the
/// rows shows that none repeats.
pub(crate) fn check(
    rows: &SortedRows,
    key: &[usize],
    budget: usize,
    faults: &mut FaultList,
) -> Result<(), SortError> {
    if key.is_empty() || (has_same_columns(key, rows.sorted_by()) && !has_equal_neighbours(rows)?) {
        return Ok(());
    }
    let columns: Vec<usize> =
        key.iter().copied().chain([rows.schema().fields().len() - 1]).collect();
    let schema = Arc::new(rows.schema().project(&columns)?);
    // By key, and rows of the same key by number.
    let all: Vec<usize> = (0..columns.len()).collect();
    let mut sorter = ExternalSorter::new(schema, &all, budget)?;
    let mut unsorted = rows.read(columns, BlockLimits::FILE)?;
    while let Some(block) = unsorted.next_block()? {
        sorter.push(block.rows);
        if sorter.is_full() {
            sorter.spill()?;
        }
    }
    report_repeats(&sorter.finish()?, faults)
}

fn has_same_columns(left: &[usize], right: &[usize]) -> bool {
    left.len() == right.len() && left.iter().all(|column| right.contains(column))
}

/// Returns true when two rows have the same sort key.
fn has_equal_neighbours(rows: &SortedRows) -> Result<bool, SortError> {
    let columns = rows.sorted_by().to_vec();
    let schema = rows.schema().project(&columns)?;
    let mut order = KeyOrder::new(&schema, &(0..columns.len()).collect::<Vec<_>>())?;
    let mut ordered = rows.read(columns, BlockLimits::FILE)?;
    while let Some(block) = ordered.next_block()? {
        // Sorted keys that do not ascend strictly are equal.
        order.update(&block.rows)?;
        if !order.is_strictly_ascending() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Names repeats among `sorted` keys, the last column of which is the number of the row.
fn report_repeats(sorted: &SortedRows, faults: &mut FaultList) -> Result<(), SortError> {
    let key_columns = sorted.schema().fields().len() - 1;
    let key: Vec<usize> = (0..key_columns).collect();
    let fields = sorted.schema().fields().iter().take(key_columns);
    let names = fields.map(|field| field.name().as_str()).collect::<Vec<_>>().join(", ");
    let keys = KeyEncoder::new(sorted.schema(), &key)?;
    let mut ordered = sorted.read((0..=key_columns).collect(), BlockLimits::FILE)?;
    // The first row with the key at hand.
    let mut earlier: Option<(OwnedRow, u64)> = None;
    let mut listed = 0;
    let mut unlisted = 0;
    while let Some(block) = ordered.next_block()? {
        let Some(of_rows) = keys.encode(&block.rows)? else { continue };
        let numbers = block.rows.column(key_columns).as_primitive::<UInt64Type>().values();
        for (row, (key, number)) in of_rows.iter().zip(numbers).enumerate() {
            match &earlier {
                Some((same, first)) if same.row() == key => {
                    if listed == MAX_LISTED {
                        unlisted += 1;
                        continue;
                    }
                    listed += 1;
                    let values = format_values(&block.rows, key_columns, row)?;
                    faults.between(*number, &names, || {
                        format!("repeats the primary key ({values}) of row {first}")
                    });
                }
                _ => earlier = Some((key.owned(), *number)),
            }
        }
    }
    faults.add_unlisted(unlisted);
    Ok(())
}

/// The first `columns` values of a row.
fn format_values(rows: &RecordBatch, columns: usize, row: usize) -> Result<String, ArrowError> {
    let values = rows.columns().iter().take(columns);
    let texts = values.map(|array| array_value_to_string(array, row));
    Ok(texts.collect::<Result<Vec<_>, _>>()?.join(", "))
}
