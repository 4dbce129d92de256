//! Counts of distinct values (contract-15-values): of the rows that a plan selects, and of a table
//! that is being published. Holds a page of values of each column, and hashes of
//! [`MAX_COUNTED`] distinct ones.

mod compression;
mod selected;
mod stored_values_cache;
mod values_pass;

use std::collections::hash_map::RandomState;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{BuildHasher, Hash};
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::datatypes::{DataType, Float64Type, Int64Type};
use arrow::error::ArrowError;
use futures::TryStreamExt;
use yearbook_domain::read_plan::{ColumnValue, FloatKey};
use yearbook_domain::values::{
    ColumnValues, MAX_COUNTED, MAX_TEXT_BYTES, StoredValues, ValueRows, ValuesPage, ValuesTarget,
};
use yearbook_domain::{Column, ColumnRole, Date, ReadPlan, Snapshot};
use yearbook_storage::ObjectStorage;

use crate::schema::batch_schema;
use crate::texts::Texts;
use crate::{Reader, Scan, StorageFailure};

pub use compression::compress_values;
pub use stored_values_cache::DistinctCounts;
pub(crate) use stored_values_cache::StoredValuesCache;
pub use values_pass::ValuesPass;

/// Bytes that the hash of a distinct value takes, with the free places of its table.
const HASH_BYTES: u64 = 20;

/// Bytes that a value takes that is kept, besides its text.
const VALUE_BYTES: u64 = 160;

/// Bytes of text in a value that room is taken for, where rows are few.
const MEAN_TEXT_BYTES: u64 = 1 << 10;

/// Bytes that a [`ValuesPass`] holds at most, about: the values, and hashes of all of one column.
const MAX_PASS_BYTES: u64 = 32 << 20;

impl Reader {
    /// Reads the rows of `target` and counts the values of its columns; returns the number of rows
    /// too.
    ///
    /// # Errors
    /// A [`StorageFailure`] that names the stored file.
    pub async fn count_values(
        &self,
        target: &ValuesTarget,
    ) -> Result<(u64, Vec<ColumnValues>), StorageFailure> {
        let plan = &target.plan;
        let snapshot = &plan.snapshot;
        let date = snapshot.date_column.as_deref().and_then(|name| snapshot.column_index(name));
        let mut columns = target.columns.clone();
        columns.extend(date.filter(|date| !columns.contains(date)));
        if columns.is_empty() {
            // Rows can only be counted by reading something of them.
            let is_small = |column: &Column| column.role != ColumnRole::Geometry;
            columns.push(snapshot.columns.iter().position(is_small).unwrap_or_default());
        }
        let date = date.and_then(|date| columns.iter().position(|column| *column == date));
        let counter =
            ValueCounter::new(target.columns.iter().copied().enumerate(), date, &target.page);
        let rows = self.scan(&ReadPlan { columns, ..plan.clone() }).await?;
        // Held until the last row is counted. The scan has given its own room back.
        let _room = self.selections.take(held_bytes(target)).await?;
        let counter = self.count(snapshot, rows, counter, ValueCounter::update).await?;
        Ok(counter.finish())
    }

    /// Returns the values that publishing stored beside the file of `snapshot`, from memory where
    /// possible; `None` where there are none, or none that can be read.
    ///
    /// # Errors
    /// The store's refusal.
    pub async fn stored_values(
        &self,
        snapshot: &Snapshot,
    ) -> Result<Option<Arc<StoredValues>>, StorageFailure> {
        // On the heap, and only where values are counted.
        let count = async { Box::pin(self.count_made(snapshot)).await };
        self.values_cache().get(snapshot, &self.workers(), count).await
    }

    /// Counts what publishing would have stored beside a file that was made on this machine;
    /// `None` for other files.
    async fn count_made(
        &self,
        snapshot: &Snapshot,
    ) -> Result<Option<StoredValues>, StorageFailure> {
        if !self.files().is_made(&snapshot.file) {
            return Ok(None);
        }
        let columns = ValuesPass::needed(&snapshot.columns);
        let pass = ValuesPass::new(&snapshot.columns, &columns);
        let _room = self.selections.take(MAX_PASS_BYTES).await?;
        let schema = Arc::new(batch_schema(snapshot, &columns)?);
        let rows = self.scan_rows(snapshot, &columns, schema, 0..snapshot.rows).await?;
        let pass = self.count(snapshot, rows, pass, ValuesPass::update).await?;
        Ok(Some(pass.finish()))
    }

    /// Does `update` with all `rows` of `snapshot`, on workers.
    async fn count<T: Send + 'static>(
        &self,
        snapshot: &Snapshot,
        mut rows: Scan,
        mut counter: T,
        update: fn(&mut T, &RecordBatch) -> Result<(), ArrowError>,
    ) -> Result<T, StorageFailure> {
        let key = ObjectStorage::key(&snapshot.file);
        while let Some(batch) = rows.batches.try_next().await? {
            let job = move || update(&mut counter, &batch).map(|()| counter);
            let counted = self.workers().run(job).await;
            let counted =
                counted.map_err(|_| StorageFailure::ShuttingDown { what: key.clone() })?;
            counter = counted
                .map_err(|error| StorageFailure::damaged(&key, format!("values: {error}")))?;
        }
        Ok(counter)
    }

    /// Returns the number of values of each column of `snapshot` that publishing stored.
    ///
    /// # Errors
    /// The store's refusal.
    pub async fn distinct_counts(
        &self,
        snapshot: &Snapshot,
    ) -> Result<DistinctCounts, StorageFailure> {
        self.values_cache().counts(snapshot, &self.workers()).await
    }
}

/// Bytes that counting `target` holds at most, texts of a kilobyte and less provided.
fn held_bytes(target: &ValuesTarget) -> u64 {
    let rows = target.plan.snapshot.rows;
    let hashes = rows.min(MAX_COUNTED as u64) * HASH_BYTES;
    let values = rows.min(target.page.limit as u64) * VALUE_BYTES;
    let texts = rows.saturating_mul(MEAN_TEXT_BYTES).min(MAX_TEXT_BYTES as u64);
    (hashes + values + texts) * target.columns.len() as u64
}

/// Distinct values of columns, being counted.
struct ValueCounter {
    rows: u64,
    /// Position of the dates among the columns of a batch.
    date: Option<usize>,
    columns: Vec<ColumnCounter>,
}

impl ValueCounter {
    /// Counts `columns`, each by its position in the batches and in the snapshot. An answer has
    /// `page` of them.
    fn new(
        columns: impl IntoIterator<Item = (usize, usize)>,
        date: Option<usize>,
        page: &ValuesPage,
    ) -> Self {
        let column = |(position, column)| ColumnCounter::new(position, column, page.clone());
        Self { rows: 0, date, columns: columns.into_iter().map(column).collect() }
    }

    /// Takes in the next rows, whose columns have types that stored ones have.
    fn update(&mut self, batch: &RecordBatch) -> Result<(), ArrowError> {
        self.rows += batch.num_rows() as u64;
        let dates = self.date.and_then(|position| batch.columns().get(position));
        let runs = match dates {
            Some(dates) => date_runs(dates)?,
            None => vec![DateRun { rows: batch.num_rows(), date: None }],
        };
        for column in &mut self.columns {
            column.update(batch, &runs)?;
        }
        Ok(())
    }

    /// Stops counting the columns that have more values than a page, and whose values take more
    /// than `text_bytes`.
    fn drop_large_columns(&mut self, text_bytes: usize) {
        self.columns.retain(|column| column.ceiling.is_none() && column.text_bytes <= text_bytes);
    }

    /// Returns the number of rows and the values of the columns, in their order.
    fn finish(self) -> (u64, Vec<ColumnValues>) {
        (self.rows, self.columns.into_iter().map(ColumnCounter::finish).collect())
    }
}

/// Values of one column.
struct ColumnCounter {
    /// Position in the batches.
    position: usize,
    /// Position in the snapshot.
    column: usize,
    nulls: u64,
    /// Hashes of the distinct values; `None` once there are too many. Of a hundred thousand, two
    /// share one of the 2^64 in one of three billion columns.
    distinct: Option<HashSet<u64>>,
    hasher: RandomState,
    page: ValuesPage,
    /// The smallest values behind `page.after`.
    kept: BTreeMap<ColumnValue, ValueRows>,
    text_bytes: usize,
    /// The smallest value that was not kept: neither is any above it.
    ceiling: Option<ColumnValue>,
}

impl ColumnCounter {
    fn new(position: usize, column: usize, page: ValuesPage) -> Self {
        Self {
            position,
            column,
            nulls: 0,
            distinct: Some(HashSet::new()),
            hasher: RandomState::new(),
            page,
            kept: BTreeMap::new(),
            text_bytes: 0,
            ceiling: None,
        }
    }

    fn update(&mut self, batch: &RecordBatch, runs: &[DateRun]) -> Result<(), ArrowError> {
        let array = batch.columns().get(self.position);
        let array =
            array.ok_or_else(|| ArrowError::SchemaError(format!("no column {}", self.position)))?;
        match array.data_type() {
            DataType::Int64 => {
                let cells = array.as_primitive::<Int64Type>().iter();
                self.count(cells, runs, |value, of| *of = ColumnValue::Integer(value));
            }
            DataType::Float64 => {
                let cells = array.as_primitive::<Float64Type>().iter();
                let cells = cells.map(|cell| cell.map(FloatKey::new));
                self.count(cells, runs, |value, of| *of = ColumnValue::Number(value));
            }
            DataType::Boolean => {
                let cells = array.as_boolean().iter();
                self.count(cells, runs, |value, of| *of = ColumnValue::Boolean(value));
            }
            _ => {
                let texts = Texts::new(array)?;
                let cells = (0..array.len()).map(|row| texts.get(row));
                self.count(cells, runs, |text, of| match of {
                    ColumnValue::Text(known) => text.clone_into(known),
                    of => *of = ColumnValue::Text(text.to_owned()),
                });
            }
        }
        Ok(())
    }

    /// Counts cells. `write` makes a value of one, in place of another.
    fn count<T: Copy + Eq + Hash>(
        &mut self,
        mut cells: impl Iterator<Item = Option<T>>,
        runs: &[DateRun],
        write: impl Fn(T, &mut ColumnValue),
    ) {
        let mut groups: HashMap<T, ValueRows> = HashMap::new();
        let mut of_date: HashMap<T, u64> = HashMap::new();
        for DateRun { rows, date } in runs {
            // Sorted tables repeat values in runs too.
            let mut run: Option<(T, u64)> = None;
            for cell in cells.by_ref().take(*rows) {
                match (cell, &mut run) {
                    (None, _) => self.nulls += 1,
                    (Some(value), Some((of, rows))) if *of == value => *rows += 1,
                    (Some(value), _) => {
                        if let Some((of, rows)) = run.replace((value, 1)) {
                            *of_date.entry(of).or_default() += rows;
                        }
                    }
                }
            }
            for (of, rows) in run.into_iter().chain(of_date.drain()) {
                groups.entry(of).or_default().merge(ValueRows::with_date(rows, *date));
            }
        }
        let mut value = ColumnValue::Boolean(false);
        for (cell, rows) in groups {
            write(cell, &mut value);
            self.add(&value, rows);
        }
    }

    fn add(&mut self, value: &ColumnValue, rows: ValueRows) {
        if let Some(distinct) = &mut self.distinct {
            distinct.insert(self.hasher.hash_one(value));
            if distinct.len() > MAX_COUNTED {
                self.distinct = None;
            }
        }
        let is_before = self.page.after.as_ref().is_some_and(|after| value <= after);
        if is_before || self.ceiling.as_ref().is_some_and(|ceiling| value >= ceiling) {
            return;
        }
        if let Some(known) = self.kept.get_mut(value) {
            known.merge(rows);
            return;
        }
        self.text_bytes += value.text_bytes();
        self.kept.insert(value.clone(), rows);
        while self.kept.len() > self.page.limit
            || (self.text_bytes > MAX_TEXT_BYTES && self.kept.len() > 1)
        {
            let Some((last, _)) = self.kept.pop_last() else { break };
            self.text_bytes -= last.text_bytes();
            self.ceiling = Some(last);
        }
    }

    fn finish(self) -> ColumnValues {
        ColumnValues {
            column: self.column,
            distinct: self.distinct.map(|distinct| distinct.len() as u64),
            nulls: self.nulls,
            values: self.kept.into_iter().collect(),
            has_more: self.ceiling.is_some(),
        }
    }
}

/// Rows that follow each other and have one date.
struct DateRun {
    rows: usize,
    date: Option<Date>,
}

/// The dates of a batch. Rows are sorted by date, so that runs are few.
fn date_runs(array: &ArrayRef) -> Result<Vec<DateRun>, ArrowError> {
    let texts = Texts::new(array)?;
    let mut runs: Vec<DateRun> = Vec::new();
    let mut last = None;
    for row in 0..array.len() {
        let text = texts.get(row);
        match runs.last_mut() {
            Some(run) if text == last => run.rows += 1,
            _ => runs.push(DateRun { rows: 1, date: text.and_then(Date::parse) }),
        }
        last = text;
    }
    Ok(runs)
}

#[cfg(test)]
mod tests;
