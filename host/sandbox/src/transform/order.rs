//! Order of rows that a transform makes. It gives them ascending by made columns, which is checked,
//! and cannot know the order of its groups' values. So rows that are equal in the made columns are
//! held here and sorted by those of groups.

use std::cmp::Ordering;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::compute::{SortOptions, interleave_record_batch};
use arrow::datatypes::Schema;
use arrow::row::{RowConverter, SortField};

use super::budget::HeldBytes;
use super::columns::comparable;
use super::crossing::{SLICE_ROWS, batch_bytes};
use super::groups::host_error;
use crate::guest_error::GuestError;

/// Rows that are sorted at once, at most.
const SORTED_ROWS: usize = 1_000_000;
/// Bytes of them at most.
const SORTED_BYTES: usize = 128 << 20;

/// Brings rows into the order of an output.
pub(super) struct RowSorter {
    /// Positions in the batches.
    columns: Vec<usize>,
    /// Number of `columns` that come first and are made.
    made: usize,
    by_made: RowConverter,
    by_all: RowConverter,
    /// Made columns of the last row.
    last: Option<Box<[u8]>>,
    /// Rows that are equal in the made columns.
    held: Vec<RecordBatch>,
    rows: usize,
    bytes: HeldBytes,
    /// Rows that were in order as they came.
    ready: Option<RecordBatch>,
    sorted: Option<SortedRows>,
}

/// Rows in order, of which some have left.
struct SortedRows {
    batches: Vec<RecordBatch>,
    /// Place of each row: its batch, and its row there.
    places: Vec<(usize, usize)>,
    left: usize,
    _bytes: HeldBytes,
}

/// Rows that cannot be brought into order.
pub(super) enum OrderError {
    /// They do not ascend by made columns: the transform's fault.
    Descending,
    /// Another error.
    Guest(GuestError),
}

impl From<GuestError> for OrderError {
    fn from(error: GuestError) -> Self {
        Self::Guest(error)
    }
}

impl RowSorter {
    /// For batches of `schema`, by `columns` of it, of which the first `made` are made.
    pub(super) fn new(
        schema: &Schema,
        columns: Vec<usize>,
        made: usize,
        bytes: HeldBytes,
    ) -> Result<Self, GuestError> {
        let options = SortOptions { descending: false, nulls_first: false };
        let converter = |columns: &[usize]| {
            let fields = columns.iter().map(|column| schema.field(*column).data_type().clone());
            let fields = fields.map(|field| SortField::new_with_options(field, options));
            RowConverter::new(fields.collect()).map_err(host_error)
        };
        Ok(Self {
            by_made: converter(&columns[..made])?,
            by_all: converter(&columns)?,
            columns,
            made,
            last: None,
            held: Vec::new(),
            rows: 0,
            bytes,
            ready: None,
            sorted: None,
        })
    }

    /// Takes rows. Those that [`RowSorter::next`] has must have been taken before.
    ///
    /// # Errors
    /// [`OrderError`].
    pub(super) fn push(&mut self, batch: RecordBatch) -> Result<(), OrderError> {
        let (closed, begins) = self.closed_rows(&batch)?;
        if self.made == self.columns.len() {
            self.ready = Some(batch);
        } else if closed > 0 {
            let rest = batch.num_rows() - closed;
            self.hold(batch.slice(0, closed))?;
            self.sort()?;
            self.hold(batch.slice(closed, rest))?;
        } else {
            if begins {
                self.sort()?;
            }
            self.hold(batch)?;
        }
        Ok(())
    }

    /// Ends the input.
    ///
    /// # Errors
    /// Fails for rows that cannot be compared.
    pub(super) fn finish(&mut self) -> Result<(), GuestError> {
        self.sort()
    }

    /// Returns whether [`RowSorter::next`] has rows.
    pub(super) fn has_rows(&self) -> bool {
        self.ready.is_some() || self.sorted.is_some()
    }

    /// The next rows in order.
    ///
    /// # Errors
    /// Fails as arrays do that are too large.
    pub(super) fn next(&mut self) -> Result<Option<RecordBatch>, GuestError> {
        if let Some(batch) = self.ready.take() {
            return Ok(Some(batch));
        }
        let batch = self.sorted.as_mut().map(SortedRows::next).transpose()?.flatten();
        if batch.is_none() {
            self.sorted = None;
        }
        Ok(batch)
    }

    /// Number of rows of `batch` before those that equal its last one in all made columns, and
    /// whether its first row differs from the one before it.
    fn closed_rows(&mut self, batch: &RecordBatch) -> Result<(usize, bool), OrderError> {
        if self.made == 0 {
            return Ok((0, false));
        }
        let columns = sort_columns(batch, &self.columns[..self.made]);
        let keys = self.by_made.convert_columns(&columns).map_err(host_error)?;
        let (mut closed, mut begins) = (0, false);
        let mut before = self.last.as_deref();
        for (row, key) in keys.iter().enumerate() {
            match before.map(|before| before.cmp(key.data())) {
                Some(Ordering::Greater) => return Err(OrderError::Descending),
                Some(Ordering::Less) => {
                    closed = row;
                    begins |= row == 0;
                }
                Some(Ordering::Equal) | None => {}
            }
            before = Some(key.data());
        }
        let last = before.map(Box::from);
        self.last = last;
        Ok((closed, begins))
    }

    fn hold(&mut self, batch: RecordBatch) -> Result<(), GuestError> {
        let bytes = batch_bytes(&batch);
        self.rows += batch.num_rows();
        if self.rows > SORTED_ROWS || self.bytes.bytes().saturating_add(bytes) > SORTED_BYTES {
            return Err(GuestError::TooManyRows(format!(
                "the result has more than {SORTED_ROWS} rows, or {} MiB of them, to be sorted by the values of groups",
                SORTED_BYTES >> 20
            )));
        }
        self.bytes.take(bytes)?;
        self.held.push(batch);
        Ok(())
    }

    /// Sorts the rows that are held; equal ones stay as the transform gave them.
    fn sort(&mut self) -> Result<(), GuestError> {
        let batches = std::mem::take(&mut self.held);
        self.rows = 0;
        let keys = batches.iter().map(|batch| {
            self.by_all.convert_columns(&sort_columns(batch, &self.columns)).map_err(host_error)
        });
        let keys = keys.collect::<Result<Vec<_>, _>>()?;
        let rows = keys.iter().enumerate().flat_map(|(batch, keys)| {
            keys.iter().enumerate().map(move |(row, key)| (key, (batch, row)))
        });
        let mut rows: Vec<_> = rows.collect();
        rows.sort_by(|one, other| one.0.cmp(&other.0));
        let places = rows.into_iter().map(|(_, place)| place).collect();
        let bytes = self.bytes.split_off();
        self.sorted = Some(SortedRows { batches, places, left: 0, _bytes: bytes });
        Ok(())
    }
}

impl SortedRows {
    fn next(&mut self) -> Result<Option<RecordBatch>, GuestError> {
        let end = (self.left + SLICE_ROWS).min(self.places.len());
        let places = &self.places[self.left..end];
        if places.is_empty() {
            return Ok(None);
        }
        self.left = end;
        let batches: Vec<&RecordBatch> = self.batches.iter().collect();
        interleave_record_batch(&batches, places).map(Some).map_err(host_error)
    }
}

fn sort_columns(batch: &RecordBatch, columns: &[usize]) -> Vec<ArrayRef> {
    columns.iter().map(|column| comparable(batch.column(*column))).collect()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::sync::Arc;

    use arrow::array::{AsArray, Float64Array, Int64Array, StringArray};
    use arrow::datatypes::Int64Type;

    use super::*;
    use crate::admission::MemoryBudget;

    type Row = (Option<i64>, Option<&'static str>, i64);

    fn batch(rows: &[Row]) -> RecordBatch {
        let columns: [(&str, ArrayRef, bool); 3] = [
            ("made", Arc::new(rows.iter().map(|row| row.0).collect::<Int64Array>()), true),
            ("group", Arc::new(rows.iter().map(|row| row.1).collect::<StringArray>()), true),
            ("value", Arc::new(rows.iter().map(|row| Some(row.2)).collect::<Int64Array>()), true),
        ];
        RecordBatch::try_from_iter_with_nullable(columns).unwrap()
    }

    fn order(columns: &[usize], made: usize) -> (RowSorter, Arc<MemoryBudget>) {
        let budget = Arc::new(MemoryBudget::new(1 << 30));
        let schema = batch(&[]).schema();
        let order = RowSorter::new(&schema, columns.to_vec(), made, HeldBytes::new(&budget));
        (order.ok().unwrap(), budget)
    }

    fn drain(order: &mut RowSorter, values: &mut Vec<i64>) {
        while let Some(batch) = order.next().ok().unwrap() {
            values.extend(batch.column(2).as_primitive::<Int64Type>().values());
        }
    }

    #[test]
    fn rows_of_one_made_value_are_sorted_by_groups_wherever_batches_end_contract_16() {
        let rows: [Row; 8] = [
            (Some(1), Some("b"), 2),
            (Some(1), Some("a"), 0),
            (Some(1), Some("a"), 1),
            (Some(2), None, 5),
            (Some(2), Some("z"), 3),
            (Some(2), Some("z"), 4),
            (None, Some("b"), 7),
            (None, Some("a"), 6),
        ];
        for width in 1..=rows.len() {
            let (mut order, budget) = order(&[0, 1], 1);
            let mut values = Vec::new();
            for rows in rows.chunks(width) {
                assert!(order.push(batch(rows)).is_ok(), "{width}");
                drain(&mut order, &mut values);
            }
            assert!(values.len() >= 6 || width > 6, "only rows of one value are held: {width}");
            order.finish().ok().unwrap();
            drain(&mut order, &mut values);
            assert_eq!(values, (0..8).collect::<Vec<_>>(), "{width}");
            assert_eq!(budget.used(), 0, "{width}");
        }
    }

    #[test]
    fn rows_that_descend_by_a_made_column_are_the_transforms_fault_contract_16() {
        for (columns, made) in [(vec![0, 1], 1), (vec![0], 1)] {
            let descending: [&[Row]; 2] =
                [&[(Some(2), None, 0), (Some(1), None, 0)], &[(None, None, 0), (Some(1), None, 0)]];
            for rows in descending {
                let (mut whole, _) = order(&columns, made);
                assert!(matches!(whole.push(batch(rows)), Err(OrderError::Descending)));
                let (mut apart, _) = order(&columns, made);
                assert!(apart.push(batch(&rows[..1])).is_ok());
                drain(&mut apart, &mut Vec::new());
                assert!(matches!(apart.push(batch(&rows[1..])), Err(OrderError::Descending)));
            }
        }
    }

    #[test]
    fn made_numbers_that_are_equal_neither_ascend_nor_descend_contract_16() {
        let made = Float64Array::from(vec![0.0, -0.0, 0.0, f64::NAN, -f64::NAN]);
        let group = StringArray::from(vec!["b", "a", "c", "b", "a"]);
        let columns: [(&str, ArrayRef); 2] = [("made", Arc::new(made)), ("group", Arc::new(group))];
        let rows = RecordBatch::try_from_iter(columns).unwrap();
        let held = HeldBytes::new(&Arc::new(MemoryBudget::new(1 << 20)));
        let mut order = RowSorter::new(&rows.schema(), vec![0, 1], 1, held).ok().unwrap();
        assert!(order.push(rows).is_ok());
        let mut groups = Vec::new();
        let mut drain = |order: &mut RowSorter| {
            while let Some(batch) = order.next().ok().unwrap() {
                let column = batch.column(1).as_string::<i32>();
                groups.extend(column.iter().flatten().map(str::to_owned));
            }
        };
        drain(&mut order);
        order.finish().ok().unwrap();
        drain(&mut order);
        assert_eq!(groups, ["a", "b", "c", "a", "b"]);
    }

    #[test]
    fn no_more_than_a_million_rows_are_held_for_sorting_contract_16() {
        let (mut order, budget) = order(&[1], 0);
        let rows: Vec<Row> = vec![(None, Some("a"), 0); 100_000];
        let rows = batch(&rows);
        for _ in 0..10 {
            assert!(order.push(rows.clone()).is_ok());
        }
        assert!(budget.used() > 10 << 20);
        let refused = order.push(rows);
        assert!(matches!(refused, Err(OrderError::Guest(GuestError::TooManyRows(_)))));
        drop(order);
        assert_eq!(budget.used(), 0);
    }
}
