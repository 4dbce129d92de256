//! Groups of rows, numbered by the values of some columns in the order in which they appear. Values
//! stay here, in a form that is compared and stored as bytes.

use arrow::array::{ArrayRef, RecordBatch, UInt32Array};
use arrow::compute::take;
use arrow::datatypes::Schema;
use arrow::row::{RowConverter, RowParser, SortField};
use indexmap::IndexSet;

use super::budget::HeldBytes;
use super::column_numbers::ColumnNumbers;
use super::columns::comparable;
use crate::guest_error::GuestError;

/// Groups of a transform at most.
pub(super) const GROUPS: usize = 1_000_000;
/// Bytes of their values at most.
pub(super) const VALUE_BYTES: usize = 64 << 20;
/// Bytes that a group or a value of a column takes beside its values.
const GROUP_BYTES: usize = 64;

/// The groups of one instance.
pub(super) struct Groups {
    columns: Vec<ColumnNumbers>,
    /// The numbers of each group's values: one for each column.
    keys: IndexSet<Box<[u32]>>,
    /// The group that each one was followed by last: tables list their series again and again in
    /// one order.
    followers: Vec<u32>,
    /// `None` where all rows are one group.
    rows: Option<(RowConverter, RowParser)>,
    values: Vec<Box<[u8]>>,
    bytes: usize,
    /// Bytes of `columns` that are counted in `held`.
    counted: usize,
    held: HeldBytes,
}

impl Groups {
    /// No groups yet, of the columns of `schema` at these positions.
    ///
    /// # Errors
    /// Fails for a type that has no order.
    pub(super) fn new(
        schema: &Schema,
        columns: &[usize],
        held: HeldBytes,
    ) -> Result<Self, GuestError> {
        let types = || columns.iter().map(|column| schema.field(*column).data_type());
        let rows = if columns.is_empty() {
            None
        } else {
            let fields = types().cloned().map(SortField::new).collect();
            let converter = RowConverter::new(fields).map_err(host_error)?;
            let parser = converter.parser();
            Some((converter, parser))
        };
        let columns = types().map(ColumnNumbers::new).collect::<Result<_, _>>();
        Ok(Self {
            columns: columns.map_err(host_error)?,
            keys: IndexSet::new(),
            followers: Vec::new(),
            rows,
            values: Vec::new(),
            bytes: 0,
            counted: 0,
            held,
        })
    }

    /// Number of each row's group. `columns`: those of the groups in `batch`.
    ///
    /// # Errors
    /// [`GuestError::TooManyGroups`].
    pub(super) fn number(
        &mut self,
        batch: &RecordBatch,
        columns: &[usize],
    ) -> Result<Vec<u32>, GuestError> {
        if self.rows.is_none() {
            self.values = vec![Box::default()];
            return Ok(vec![0; batch.num_rows()]);
        }
        let arrays: Vec<ArrayRef> =
            columns.iter().map(|column| comparable(batch.column(*column))).collect();
        let of_values = self.columns.iter_mut().zip(&arrays);
        let of_values = of_values.map(|(numbers, column)| numbers.number(column));
        let of_values = of_values.collect::<Result<Vec<_>, _>>().map_err(host_error)?;
        self.count_columns()?;
        let mut numbers = Vec::with_capacity(batch.num_rows());
        let mut new = Vec::new();
        let mut key = vec![0; arrays.len()];
        let mut before = None;
        for row in 0..batch.num_rows() {
            let follower = before.and_then(|before: usize| self.followers.get(before)).copied();
            let is_it = |group: &u32| {
                let key = self.keys.get_index(*group as usize);
                key.is_some_and(|key| {
                    key.iter().zip(&of_values).all(|(one, numbers)| *one == numbers[row])
                })
            };
            let number = match follower.filter(is_it) {
                Some(number) => number,
                None => {
                    for (one, numbers) in key.iter_mut().zip(&of_values) {
                        *one = numbers[row];
                    }
                    let number = self.keys.get_index_of(&key[..]).unwrap_or_else(|| {
                        new.push(u32::try_from(row).unwrap_or(u32::MAX));
                        self.keys.insert_full(key.clone().into()).0
                    });
                    if number >= GROUPS {
                        return Err(too_many());
                    }
                    self.followers.resize(self.keys.len(), u32::MAX);
                    let number = u32::try_from(number).map_err(host_error)?;
                    if let Some(before) = before {
                        self.followers[before] = number;
                    }
                    number
                }
            };
            before = Some(number as usize);
            numbers.push(number);
        }
        if !new.is_empty() {
            self.keep_values(&arrays, new)?;
        }
        Ok(numbers)
    }

    /// Keeps the values of groups that are new, of these rows.
    fn keep_values(&mut self, columns: &[ArrayRef], rows: Vec<u32>) -> Result<(), GuestError> {
        let Some((converter, _)) = &self.rows else { return Ok(()) };
        let rows = UInt32Array::from(rows);
        let columns = columns.iter().map(|column| take(column, &rows, None));
        let columns = columns.collect::<Result<Vec<_>, _>>().map_err(host_error)?;
        for row in &converter.convert_columns(&columns).map_err(host_error)? {
            let bytes = row.data().len();
            self.bytes = self.bytes.saturating_add(bytes);
            if self.bytes > VALUE_BYTES {
                return Err(too_many());
            }
            let key = columns.len() * size_of::<u32>();
            self.held.take(bytes.saturating_add(key + GROUP_BYTES))?;
            self.values.push(row.data().into());
        }
        Ok(())
    }

    /// Counts what the columns keep. Values without a group are kept too: those of dictionaries.
    fn count_columns(&mut self) -> Result<(), GuestError> {
        let kept = |column: &ColumnNumbers| column.bytes() + column.count() * GROUP_BYTES;
        let bytes = self.columns.iter().map(kept).sum::<usize>();
        self.held.take(bytes.saturating_sub(self.counted))?;
        self.counted = bytes;
        Ok(())
    }

    /// Bytes that the values of these groups have as columns; `None` where a number is no group's.
    pub(super) fn bytes_of(&self, numbers: &[u32]) -> Option<usize> {
        let bytes = |number: &u32| {
            let number = usize::try_from(*number).ok()?;
            self.values.get(number).map(|value| value.len())
        };
        numbers.iter().map(bytes).try_fold(0_usize, |all, bytes| Some(all.saturating_add(bytes?)))
    }

    /// Number of groups from the first on whose values have so many bytes, about; one at least.
    pub(super) fn count_within(&self, numbers: &[u32], bytes: usize) -> usize {
        let mut all = 0;
        let fits = |number: &&u32| {
            all += self.bytes_of(&[**number]).unwrap_or(0);
            all <= bytes
        };
        numbers.iter().take_while(fits).count().max(1)
    }

    /// Values of these groups, without dictionaries: a column for each of those that number them.
    /// The numbers have gone through [`Groups::bytes_of`].
    ///
    /// # Errors
    /// Fails when text has more than 2 GiB.
    pub(super) fn columns(&self, numbers: &[u32]) -> Result<Vec<ArrayRef>, GuestError> {
        let Some((converter, parser)) = &self.rows else { return Ok(Vec::new()) };
        let value = |number: &u32| self.values.get(usize::try_from(*number).ok()?);
        let rows = numbers.iter().filter_map(value).map(|value| parser.parse(value));
        converter.convert_rows(rows).map_err(host_error)
    }
}

fn too_many() -> GuestError {
    GuestError::TooManyGroups { groups: GROUPS, bytes: VALUE_BYTES }
}

/// A fault of the host.
pub(super) fn host_error(error: impl ToString) -> GuestError {
    GuestError::Host(error.to_string())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::sync::Arc;

    use arrow::array::{AsArray, DictionaryArray, Float64Array, Int64Array};
    use arrow::datatypes::{DataType, Float64Type, Int32Type, Int64Type};

    use super::*;
    use crate::admission::MemoryBudget;

    fn batch(text: &[Option<&str>], numbers: &[i64]) -> RecordBatch {
        let text: DictionaryArray<Int32Type> = text.iter().copied().collect();
        let numbers = Int64Array::from(numbers.to_vec());
        let columns: [(&str, ArrayRef, bool); 2] =
            [("region", Arc::new(text), true), ("year", Arc::new(numbers), true)];
        RecordBatch::try_from_iter_with_nullable(columns).unwrap()
    }

    fn groups(columns: &[usize], memory: usize) -> (Groups, Arc<MemoryBudget>) {
        let budget = Arc::new(MemoryBudget::new(memory));
        let schema = batch(&[], &[]).schema();
        let groups = Groups::new(&schema, columns, HeldBytes::new(&budget)).ok().unwrap();
        (groups, budget)
    }

    #[test]
    fn groups_are_numbered_as_they_appear_and_have_their_values_contract_16() {
        let (mut groups, budget) = groups(&[0, 1], 1 << 20);
        let one = batch(&[Some("b"), None, Some("b"), Some("b")], &[1, 1, 2, 1]);
        let two = batch(&[Some("a"), None], &[1, 1]);
        let mut number = |rows: &RecordBatch| groups.number(rows, &[0, 1]).ok().unwrap();
        assert_eq!(number(&one), [0, 1, 2, 0]);
        assert_eq!(number(&two), [3, 1], "another dictionary has other keys");
        let columns = groups.columns(&[3, 1, 0, 0]).ok().unwrap();
        assert_eq!(columns[0].data_type(), &DataType::Utf8);
        let text: Vec<_> = columns[0].as_string::<i32>().iter().collect();
        assert_eq!(text, [Some("a"), None, Some("b"), Some("b")]);
        assert_eq!(columns[1].as_primitive::<Int64Type>().values(), &[1, 1, 1, 1]);
        assert!(groups.bytes_of(&[0, 3]).is_some() && groups.bytes_of(&[4]).is_none());
        assert!(budget.used() > 0);
        drop(groups);
        assert_eq!(budget.used(), 0);
    }

    #[test]
    fn a_group_is_its_values_whatever_holds_them() {
        let (mut groups, _) = groups(&[0, 1], 1 << 20);
        let mut number = |rows: &RecordBatch| groups.number(rows, &[0, 1]).ok().unwrap();
        let series = batch(&[Some("a"), Some("b"), None, Some("")], &[1, 1, 1, 1]);
        assert_eq!(number(&series), [0, 1, 2, 3]);
        assert_eq!(number(&series), [0, 1, 2, 3], "the same order again");
        assert_eq!(number(&series.slice(1, 2)), [1, 2]);
        // A dictionary that has more values than there are rows, and one in which a value stands
        // twice and another is null.
        assert_eq!(number(&series.slice(3, 1)), [3]);
        let keys = arrow::array::Int32Array::from(vec![Some(2), Some(0), Some(1), None]);
        let values = arrow::array::StringArray::from(vec![Some("b"), None, Some("b")]);
        let text = DictionaryArray::new(keys, Arc::new(values));
        let years: ArrayRef = Arc::new(Int64Array::from(vec![1, 1, 1, 2]));
        let columns: Vec<ArrayRef> = vec![Arc::new(text), years];
        let rows = RecordBatch::try_new(series.schema(), columns).unwrap();
        assert_eq!(number(&rows), [1, 1, 2, 4]);
        let columns = groups.columns(&[1, 2, 4]).ok().unwrap();
        let text: Vec<_> = columns[0].as_string::<i32>().iter().collect();
        assert_eq!(text, [Some("b"), None, None]);
    }

    #[test]
    fn numbers_that_are_equal_are_one_group_contract_16() {
        let numbers = Float64Array::from(vec![-0.0, 0.0, -f64::NAN, f64::NAN, 1.0]);
        let column: ArrayRef = Arc::new(numbers);
        let rows = RecordBatch::try_from_iter([("value", column)]).unwrap();
        let held = HeldBytes::new(&Arc::new(MemoryBudget::new(1 << 20)));
        let mut groups = Groups::new(&rows.schema(), &[0], held).ok().unwrap();
        assert_eq!(groups.number(&rows, &[0]).ok().unwrap(), [0, 0, 1, 1, 2]);
        let columns = groups.columns(&[0, 1, 2]).ok().unwrap();
        let values = columns[0].as_primitive::<Float64Type>().values();
        let bits: Vec<u64> = values.iter().map(|value| value.to_bits()).collect();
        assert_eq!(bits, [0.0, f64::NAN, 1.0].map(f64::to_bits));
    }

    #[test]
    fn without_columns_all_rows_are_one_group_contract_16() {
        let (mut groups, _) = groups(&[], 1 << 20);
        assert!(groups.bytes_of(&[0]).is_none(), "no row has come yet");
        let numbers = groups.number(&batch(&[None, Some("a")], &[1, 2]), &[]).ok().unwrap();
        assert_eq!(numbers, [0, 0]);
        assert!(groups.bytes_of(&[0]).is_some() && groups.bytes_of(&[1]).is_none());
    }

    #[test]
    fn there_are_a_million_groups_with_64_mib_of_values_at_most_contract_16() {
        let (mut many, _) = groups(&[1], 1 << 30);
        let numbers: Vec<i64> = (0..1_000_001).collect();
        let text = vec![None; numbers.len()];
        let rows = batch(&text, &numbers);
        assert!(many.number(&rows.slice(0, GROUPS), &[1]).is_ok());
        let refused = many.number(&rows, &[1]);
        assert!(matches!(refused, Err(GuestError::TooManyGroups { groups: GROUPS, .. })));
        let (mut long, _) = groups(&[0], 1 << 30);
        let mebibyte = "x".repeat(1 << 20);
        let mut refused = None;
        for n in 0..64 {
            let text = format!("{n}{mebibyte}");
            refused = refused.or(long.number(&batch(&[Some(&text)], &[0]), &[0]).err());
        }
        assert!(matches!(refused, Some(GuestError::TooManyGroups { bytes: VALUE_BYTES, .. })));
        let (mut crowded, _) = groups(&[0], 1000);
        let text = "x".repeat(1000);
        let refused = crowded.number(&batch(&[Some(&text)], &[0]), &[0]);
        assert!(matches!(refused, Err(GuestError::Busy { .. })), "memory is counted");
    }

    #[test]
    fn long_values_leave_in_small_slices() {
        let (mut groups, _) = groups(&[0], 1 << 20);
        let text = "x".repeat(1000);
        groups.number(&batch(&[Some("a"), Some(&text)], &[0, 0]), &[0]).ok().unwrap();
        assert_eq!(groups.count_within(&[0, 0, 0], 1 << 10), 3);
        assert_eq!(groups.count_within(&[1, 1, 1], 2300), 2);
        assert_eq!(groups.count_within(&[1, 1], 10), 1, "one at least");
    }
}
