//! The value that a version revised most, found while the changes to it are written: what updates
//! began with is kept in a temporary file until what they ended with comes by, in the same order.

use std::fs::File;
use std::io::{BufReader, BufWriter, Seek};
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::compute::cast;
use arrow::compute::kernels::cmp::{distinct, not_distinct};
use arrow::datatypes::{DataType, Float64Type, Int64Type, Schema, SchemaRef};
use arrow::error::ArrowError;
use arrow::ipc::reader::StreamReader;
use arrow::ipc::writer::StreamWriter;
use arrow::util::display::array_value_to_string;
use serde_json::Number;
use yearbook_domain::{Column, ColumnRole, ColumnType, LargestRevision};

use super::row_fates::ChangeType;

/// Finder of the value that was revised most.
pub(super) struct RevisionFinder {
    /// Positions of the primary key, then of the values, among the columns of changed rows.
    read: Vec<usize>,
    /// Number of columns of the key.
    keys: usize,
    side: Side,
    best: Option<(RevisionSize, LargestRevision)>,
}

/// Progress through the changed rows: those of the older version come first.
enum Side {
    /// Nothing can be said: there are no numbers, or the rows have changed places.
    Unknown,
    /// Rows before their updates, on their way into a file.
    Before(Option<StreamWriter<BufWriter<File>>>),
    /// The same rows, on their way out of it, and those of a batch that are not yet compared.
    After(StreamReader<BufReader<File>>, Option<RecordBatch>),
}

/// Size of a revision, the most telling part first: its share of the greater amount, and the
/// difference itself.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
struct RevisionSize(f64, f64);

impl RevisionFinder {
    /// For rows with these columns, whose primary key stands at the positions `key`.
    pub(super) fn new(columns: &[Column], key: &[usize]) -> Self {
        let is_number = |column: &Column| {
            matches!(column.column_type, ColumnType::Integer | ColumnType::Number)
        };
        let values = columns.iter().enumerate().filter_map(|(place, column)| {
            (column.role == ColumnRole::Value && is_number(column) && !key.contains(&place))
                .then_some(place)
        });
        let read: Vec<usize> = key.iter().copied().chain(values).collect();
        let is_known = !key.is_empty() && read.len() > key.len();
        let side = if is_known { Side::Before(None) } else { Side::Unknown };
        Self { read, keys: key.len(), side, best: None }
    }

    /// Takes rows before or after their update, in the order of the file of changes.
    pub(super) fn update(
        &mut self,
        kind: ChangeType,
        updates: &RecordBatch,
    ) -> Result<(), ArrowError> {
        if matches!(self.side, Side::Unknown) {
            return Ok(());
        }
        let updates = updates.project(&self.read)?;
        match kind {
            ChangeType::Preimage => self.store(&updates),
            _ => self.compare(updates),
        }
    }

    /// Returns the value that was revised most, if it is known.
    pub(super) fn finish(self) -> Option<LargestRevision> {
        self.best.map(|(_, revision)| revision)
    }

    /// Stores rows before their updates.
    fn store(&mut self, rows: &RecordBatch) -> Result<(), ArrowError> {
        let Side::Before(writer) = &mut self.side else { return Ok(()) };
        if writer.is_none() {
            let file = BufWriter::new(tempfile::tempfile()?);
            *writer = Some(StreamWriter::try_new(file, &nullable(rows))?);
        }
        writer.as_mut().map_or(Ok(()), |writer| writer.write(rows))
    }

    /// Compares rows after their updates with what they were.
    fn compare(&mut self, mut rows: RecordBatch) -> Result<(), ArrowError> {
        if let Side::Before(writer) = &mut self.side {
            let Some(writer) = writer.take() else { return Ok(()) };
            let mut file = writer.into_inner()?.into_inner().map_err(|error| error.into_error())?;
            file.rewind()?;
            self.side = Side::After(StreamReader::try_new(BufReader::new(file), None)?, None);
        }
        while rows.num_rows() > 0 {
            let Side::After(reader, pending) = &mut self.side else { return Ok(()) };
            let before = match pending.take() {
                Some(before) => before,
                None => match reader.next().transpose()? {
                    Some(before) => before,
                    None => return self.give_up(),
                },
            };
            let both = before.num_rows().min(rows.num_rows());
            let left = before.num_rows() - both;
            *pending = (left > 0).then(|| before.slice(both, left));
            let after = rows.slice(0, both);
            rows = rows.slice(both, rows.num_rows() - both);
            if !self.compare_pairs(&before.slice(0, both), &after)? {
                return self.give_up();
            }
        }
        Ok(())
    }

    /// Ends the search without a result: rows of one key do not stand beside each other.
    fn give_up(&mut self) -> Result<(), ArrowError> {
        (self.side, self.best) = (Side::Unknown, None);
        Ok(())
    }

    /// Compares as many rows before as after their updates; returns false if the keys differ.
    fn compare_pairs(
        &mut self,
        before: &RecordBatch,
        after: &RecordBatch,
    ) -> Result<bool, ArrowError> {
        for (left, right) in before.columns().iter().zip(after.columns()).take(self.keys) {
            if not_distinct(left, right)?.false_count() > 0 {
                return Ok(false);
            }
        }
        for place in self.keys..self.read.len() {
            let pair = [before, after].map(|rows| Arc::clone(rows.column(place)));
            if let Some((size, row)) = largest_of(&pair)?
                && self.best.as_ref().is_none_or(|(best, _)| size > *best)
            {
                let [before_value, after_value] = pair.map(|values| number_at(&values, row));
                let (Some(before_value), Some(after_value)) = (before_value, after_value) else {
                    continue;
                };
                let schema = after.schema();
                let name = |place: usize| schema.field(place).name().clone();
                let key = (0..self.keys).map(|place| {
                    Ok((name(place), array_value_to_string(after.column(place), row)?))
                });
                let revision = LargestRevision {
                    column: name(place),
                    key: key.collect::<Result<_, ArrowError>>()?,
                    before: before_value,
                    after: after_value,
                };
                self.best = Some((size, revision));
            }
        }
        Ok(true)
    }
}

/// The schema of `rows`, where each column may be null.
fn nullable(rows: &RecordBatch) -> SchemaRef {
    let schema = rows.schema();
    let fields = schema.fields().iter().map(|field| field.as_ref().clone().with_nullable(true));
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

/// The row whose value was revised most, and how much.
fn largest_of(pair: &[ArrayRef; 2]) -> Result<Option<(RevisionSize, usize)>, ArrowError> {
    // Integers that differ may be one float.
    let least = if *pair[0].data_type() == DataType::Int64 { 1.0 } else { 0.0 };
    let differ = distinct(&pair[0], &pair[1])?;
    let floats = [cast(&pair[0], &DataType::Float64)?, cast(&pair[1], &DataType::Float64)?];
    let [before, after] = floats.each_ref().map(|values| values.as_primitive::<Float64Type>());
    let mut best: Option<(RevisionSize, usize)> = None;
    for row in differ.values().set_indices() {
        if before.is_null(row) || after.is_null(row) {
            continue;
        }
        let (before, after) = (before.value(row), after.value(row));
        let greater = before.abs().max(after.abs());
        let difference = (after - before).abs().max(least);
        // Zeros of two signs are equal, and what is infinite or no number has no size.
        if !greater.is_finite() || difference == 0.0 {
            continue;
        }
        // Parts first: the difference of two numbers may be infinite.
        let share = (after / greater - before / greater).abs().max(least / greater);
        let size = RevisionSize(share, difference);
        if best.is_none_or(|(largest, _)| size > largest) {
            best = Some((size, row));
        }
    }
    Ok(best)
}

fn number_at(values: &ArrayRef, row: usize) -> Option<Number> {
    match values.as_primitive_opt::<Int64Type>() {
        Some(integers) => Some(integers.value(row).into()),
        None => Number::from_f64(values.as_primitive_opt::<Float64Type>()?.value(row)),
    }
}
