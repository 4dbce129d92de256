//! Scans with an order or with the first or last rows of each series: what is held for them, their
//! counts, and their rows.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::buffer::BooleanBuffer;
use arrow::datatypes::SchemaRef;
use futures::stream::{self, BoxStream};
use futures::{StreamExt, TryStreamExt};
use tokio::runtime::Handle;
use tokio::task::JoinSet;
use yearbook_domain::ReadPlan;
use yearbook_domain::read_plan::RowOrder;

use super::budget::SelectionBudget;
use super::date_runs::DateRuns;
use super::newest_first::NewestFirst;
use super::numbered_rows::{NumberedRows, ReadRows};
use super::series::{SERIES_BYTES, SeriesKeys};
use super::series_rows::select_series_rows;
use super::sort_keys::SortKeys;
use super::sorted::{SortedNumbers, SortedSearch};
use super::wanted_rows::WantedRows;
use crate::StorageFailure;
use crate::batches::{RowFilter, stream_batches};
use crate::decode::{FileSource, Projection};
use crate::filter::FoundRows;
use crate::row_counts::RowCounts;
use crate::row_numbers::append_numbers;
use crate::scan::Scan;

/// A scan in parts: where rows are, and which of them are wanted.
pub(crate) struct OrderedScan {
    /// The file.
    pub(crate) source: FileSource,
    /// Columns to send.
    pub(crate) projection: Projection,
    /// Rows that dates leave.
    pub(crate) window: Range<u64>,
    /// Rows of the window that conditions leave.
    pub(crate) wanted: WantedRows,
}

type RowStream = BoxStream<'static, Result<RecordBatch, StorageFailure>>;

/// Finds the rows of `plan`. `series` is the number of series of the whole file, where some rows of
/// each are asked for. Room for keys and counts is taken before the first row is read, and given
/// back once rows are found: at most 10,000 numbers, or a bit a row, go with the scan, as with one
/// that has conditions.
pub(crate) async fn scan_ordered(
    plan: &ReadPlan,
    scan: OrderedScan,
    series: u64,
    budget: &SelectionBudget,
) -> Result<Scan, StorageFailure> {
    let OrderedScan { source, projection, window, mut wanted } = scan;
    let schema = projection.sent_schema();
    let parquet = &source.parquet;
    let series_keys = match plan.series_rows {
        Some(rows) => Some((rows, SeriesKeys::new(parquet, &plan.snapshot)?)),
        None => None,
    };
    let sort_keys = match &plan.order {
        RowOrder::By(keys) => Some(SortKeys::new(parquet, keys)?),
        RowOrder::Natural | RowOrder::NewestFirst => None,
    };
    if let Some((rows, keys)) = series_keys {
        let _room = budget.take(series * SERIES_BYTES).await?;
        wanted = select_series_rows(&source, &keys, window.clone(), &wanted, rows, series).await?;
    }
    let (counts, batches) = match (&plan.order, sort_keys) {
        (RowOrder::NewestFirst, _) => {
            newest_first(plan, source, projection, window, wanted, budget).await?
        }
        (_, Some(keys)) => sorted(plan, source, projection, keys, window, wanted, budget).await?,
        (_, None) => natural(plan, source, projection, window, &wanted),
    };
    Ok(Scan { schema, counts, batches })
}

/// The rows whose bits are known, as they are stored.
fn natural(
    plan: &ReadPlan,
    source: FileSource,
    projection: Projection,
    window: Range<u64>,
    wanted: &WantedRows,
) -> (RowCounts, RowStream) {
    let WantedRows::Known { from, rows } = wanted else {
        let rows = RowFilter::All;
        return (RowCounts::default(), stream_batches(source, projection, window, rows));
    };
    let first = plan.first_row.unwrap_or(0).clamp(window.start, window.end);
    let known = |row: u64| usize::try_from(row.saturating_sub(*from)).unwrap_or(usize::MAX);
    let rows = rows.slice(known(first), rows.len().saturating_sub(known(first)));
    let (counts, rows) = match plan.max_rows {
        None => (RowCounts::default(), rows),
        Some(most) => {
            let (rows, next) = cut(rows, most);
            let next = next.map(|index| first + index as u64);
            (RowCounts::from_filter(rows.count_set_bits() as u64, next), rows)
        }
    };
    let rows = FoundRows::Mask { from: first, rows };
    (counts, stream_batches(source, projection, rows.span(), RowFilter::Selection(rows)))
}

/// The first `most` bits that are set, and the place of the one behind them.
fn cut(rows: BooleanBuffer, most: u64) -> (BooleanBuffer, Option<usize>) {
    let next = rows.set_indices().nth(usize::try_from(most).unwrap_or(usize::MAX));
    (next.map_or_else(|| rows.clone(), |end| rows.slice(0, end)), next)
}

async fn newest_first(
    plan: &ReadPlan,
    source: FileSource,
    projection: Projection,
    window: Range<u64>,
    wanted: WantedRows,
    budget: &SelectionBudget,
) -> Result<(RowCounts, RowStream), StorageFailure> {
    let column = plan.snapshot.date_column.as_deref().unwrap_or_default();
    let mut runs = DateRuns::new(source.clone(), column, window.clone())?;
    if let Some(first) = plan.first_row {
        runs.skip_to(first).await?;
    }
    let all = runs.rows();
    let (counts, wanted, rows) = match (plan.max_rows, wanted) {
        (most, WantedRows::All) => {
            let rows = most.map_or(all, |most| most.min(all));
            let total = Some(window.end - window.start);
            let counts = RowCounts { rows: Some(rows), total, next: runs.row_behind(rows).await? };
            (counts, WantedRows::All, rows)
        }
        (None, wanted) => (RowCounts::default(), wanted, all),
        (Some(most), wanted) => {
            let behind = most.saturating_add(1);
            let found = NewestFirst::new(source.clone(), runs.clone(), wanted, behind);
            let found = found.find(window).await?;
            (RowCounts::from_filter(found.rows, found.next), found.wanted, found.rows)
        }
    };
    let numbers = NewestFirst::new(source.clone(), runs, wanted, rows);
    let rows = NumberedRows::new(source, projection, rows, budget);
    Ok((counts, stream_numbers(Some(Box::new(numbers)), Vec::new(), rows)))
}

async fn sorted(
    plan: &ReadPlan,
    source: FileSource,
    projection: Projection,
    keys: SortKeys,
    window: Range<u64>,
    wanted: WantedRows,
    budget: &SelectionBudget,
) -> Result<(RowCounts, RowStream), StorageFailure> {
    let total = (!plan.is_filtered()).then_some(window.end - window.start);
    let most = plan.max_rows.unwrap_or(u64::MAX);
    let search = SortedSearch { source: &source, budget, keys: Arc::new(keys) };
    let SortedNumbers { rows, next } = search.find(window, &wanted, plan.first_row, most).await?;
    let count = rows.len() as u64;
    // Of a filtered selection without a limit the number of rows is not told, whatever its order.
    let is_told = plan.max_rows.is_some() || total.is_some();
    let counts = RowCounts { rows: is_told.then_some(count), total, next };
    let reader = NumberedRows::new(source, projection, count, budget);
    Ok((counts, stream_numbers(None, rows, reader)))
}

/// Rows on their way out.
struct NumberedScan {
    /// Numbers that are found as rows are sent; `None` where all of them were found before.
    numbers: Option<Box<NewestFirst>>,
    rows: NumberedRows,
    /// Numbers of rows that have not been read.
    block: VecDeque<u64>,
    /// Rows that were read last.
    read: Option<ReadRows>,
    /// Schema of rows with their numbers, where those are sent.
    numbered: Option<SchemaRef>,
    /// Numbers of the rows that have not been sent.
    unsent: VecDeque<u64>,
}

/// The rows `found`, then those of `numbers`, as batches. Must be called in a tokio runtime unless
/// the store is local; may be polled anywhere.
fn stream_numbers(
    numbers: Option<Box<NewestFirst>>,
    found: Vec<u64>,
    rows: NumberedRows,
) -> RowStream {
    let runtime = (!rows.is_local()).then(Handle::current);
    let numbered = rows.numbered_schema();
    let unsent = if numbered.is_some() { found.clone().into() } else { VecDeque::new() };
    let block = found.into();
    let scan = NumberedScan { numbers, rows, block, read: None, numbered, unsent };
    stream::try_unfold(scan, move |mut scan| {
        let runtime = runtime.clone();
        let step = async move { Ok(scan.next().await?.map(|batch| (batch, scan))) };
        async move {
            let Some(runtime) = runtime else { return step.await };
            // Ends with the stream.
            let mut tasks = JoinSet::new();
            tasks.spawn_on(step, &runtime);
            let stopped = || StorageFailure::ShuttingDown { what: "a scan".to_owned() };
            tasks.join_next().await.and_then(Result::ok).unwrap_or_else(|| Err(stopped()))
        }
    })
    .into_stream()
    .boxed()
}

impl NumberedScan {
    async fn next(&mut self) -> Result<Option<RecordBatch>, StorageFailure> {
        loop {
            if let Some(read) = &mut self.read
                && let Some(batch) = self.rows.next_batch(read).await?
            {
                let Some(schema) = &self.numbered else { return Ok(Some(batch)) };
                let mut numbers = self.unsent.drain(..batch.num_rows().min(self.unsent.len()));
                let batch = append_numbers(schema, &batch, &mut numbers);
                return batch.map(Some).map_err(|error| self.rows.damaged(&error));
            }
            self.read = None;
            if self.block.is_empty() {
                let Some(numbers) = &mut self.numbers else { return Ok(None) };
                let Some(numbers) = numbers.next().await? else { return Ok(None) };
                if self.numbered.is_some() {
                    self.unsent.extend(&numbers);
                }
                self.block = numbers.into();
            }
            self.read = Some(self.rows.read(&mut self.block).await?);
        }
    }
}
