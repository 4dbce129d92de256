//! The stream of batches: pulled by the encoder, at most one step ahead, and none where
//! the store is local.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::error::ArrowError;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use tokio::runtime::Handle;
use tokio::task::JoinSet;

use super::batching::{TARGET_BATCH_BYTES, least_batch_rows, split_by_weight};
use super::joined_rows::JoinedRows;
use super::long_text;
use super::read_task::{ReadStep, ReadTask, RowFilter, SMALL_SCAN_ROWS, ScanContext};
use crate::StorageFailure;
use crate::decode::{FileSource, Projection, RowRange, task_ranges};
use crate::row_numbers::append_numbers;

/// The wanted rows of `rows`, with their numbers where those are sent: then all of them are wanted,
/// or it is known which. Must be called in a tokio runtime unless the store is local; may be
/// polled anywhere.
pub(crate) fn stream_batches(
    mut source: FileSource,
    projection: Projection,
    rows: Range<u64>,
    filter: RowFilter,
) -> BoxStream<'static, Result<RecordBatch, StorageFailure>> {
    let numbered = projection.numbered.clone();
    let mut numbers: Box<dyn Iterator<Item = u64> + Send> = match (&numbered, &filter) {
        (Some(_), RowFilter::Selection(known)) => Box::new(known.numbers().into_iter()),
        (Some(_), _) => Box::new(rows.clone()),
        (None, _) => Box::new(std::iter::empty()),
    };
    let parquet = Arc::clone(&source.parquet);
    let mut leaves = projection.leaves.clone();
    if let RowFilter::Predicate(predicate) = &filter {
        leaves.extend(predicate.leaves().iter().filter(|leaf| !projection.leaves.contains(leaf)));
    }
    let wanted = match &filter {
        RowFilter::All => usize::try_from(rows.end - rows.start).unwrap_or(usize::MAX),
        RowFilter::Selection(rows) => rows.count(),
        RowFilter::Predicate(_) => usize::MAX,
    };
    let small = wanted <= SMALL_SCAN_ROWS;
    let kept_limits = source.task_limits.for_small_scan();
    let tasks =
        |limits| task_ranges(limits, Arc::clone(&source.parquet), leaves.clone(), rows.clone());
    let long_text = matches!(filter, RowFilter::All)
        && long_text::is_kept(kept_limits, &source.parquet, &projection, tasks(kept_limits));
    if small || long_text {
        source.task_limits = kept_limits;
    }
    let tasks = tasks(source.task_limits);
    // It is known which rows match, so that the first of them need not leave before the next are
    // found; those of one row group are together anyway.
    let [first, last] = [rows.start, rows.end.saturating_sub(1)];
    let are_apart = || source.parquet.group_of(first) != source.parquet.group_of(last);
    let joined_rows = (matches!(filter, RowFilter::Selection(_)) && are_apart())
        .then(|| least_batch_rows(&source.parquet, &projection));
    let context =
        Arc::new(ScanContext { source, projection, filter, small, long_text, joined_rows });
    let steps: Box<dyn Iterator<Item = RowRange> + Send> = if long_text {
        let context = Arc::clone(&context);
        Box::new(tasks.flat_map(move |range| context.cut(range)))
    } else {
        Box::new(tasks)
    };
    let ahead = (!context.source.files.is_local())
        .then(|| Prefetch { runtime: Handle::current(), tasks: JoinSet::new() });
    let reading = BatchStream {
        context,
        steps,
        ahead,
        current: None,
        joins: false,
        joined: None,
        ready: VecDeque::new(),
    };
    stream::try_unfold(reading, |mut reading| async move {
        Ok(reading.next().await?.map(|batch| (batch, reading)))
    })
    .map(move |batch| match (batch, &numbered) {
        (Ok(batch), Some(schema)) => append_numbers(schema, &batch, &mut numbers)
            .map_err(|error| StorageFailure::damaged(&parquet.key, error.to_string())),
        (batch, _) => batch,
    })
    .boxed()
}

struct BatchStream {
    context: Arc<ScanContext>,
    steps: Box<dyn Iterator<Item = RowRange> + Send>,
    /// None where fetching waits for nothing: a local read costs less than handing it over.
    ahead: Option<Prefetch>,
    current: Option<ReadTask>,
    /// Set where the rows of the current step are joined with others.
    joins: bool,
    /// Rows that were joined since the last batch of them.
    joined: Option<JoinedRows>,
    /// Slices of the batch decoded last.
    ready: VecDeque<RecordBatch>,
}

/// The step that is being fetched, never more than one; stops when this is dropped.
struct Prefetch {
    runtime: Handle,
    tasks: JoinSet<Result<Option<ReadStep>, StorageFailure>>,
}

impl BatchStream {
    async fn next(&mut self) -> Result<Option<RecordBatch>, StorageFailure> {
        loop {
            if let Some(batch) = self.ready.pop_front() {
                return Ok(Some(batch));
            }
            self.start_prefetch();
            if let Some(task) = self.current.take() {
                self.decode(task).await?;
            } else if let Some(ahead) = &mut self.ahead {
                match ahead.tasks.join_next().await {
                    None if self.has_joined() => self.flush()?,
                    None => return Ok(None),
                    Some(Ok(step)) => self.begin(step?)?,
                    Some(Err(_)) => {
                        return Err(StorageFailure::ShuttingDown {
                            what: self.context.source.parquet.key.clone(),
                        });
                    }
                }
            } else if let Some(range) = self.next_range() {
                let step = self.context.fetch(range).await?;
                self.begin(step)?;
            } else if self.has_joined() {
                self.flush()?;
            } else {
                return Ok(None);
            }
        }
    }

    /// Has the next step fetched while the current one is decoded and consumed.
    fn start_prefetch(&mut self) {
        if self.ahead.as_ref().is_some_and(|ahead| ahead.tasks.is_empty())
            && let Some(range) = self.next_range()
            && let Some(ahead) = &mut self.ahead
        {
            let context = Arc::clone(&self.context);
            ahead.tasks.spawn_on(async move { context.fetch(range).await }, &ahead.runtime);
        }
    }

    /// The next range that holds a wanted row, as far as that is known.
    fn next_range(&mut self) -> Option<RowRange> {
        self.steps.by_ref().find_map(|range| self.context.apply_selection(range))
    }

    /// Begins a step, behind what was joined where it cannot join that.
    fn begin(&mut self, step: Option<ReadStep>) -> Result<(), StorageFailure> {
        let Some(ReadStep { rows, task }) = step else { return Ok(()) };
        self.joins = self.context.is_joined(rows);
        let most = self.context.joined_rows.unwrap_or(0);
        let joined = self.joined.as_ref();
        let fits = |joined: &JoinedRows| {
            self.joins
                && joined.rows() + rows <= most
                && (joined.text_bytes() as u64) < TARGET_BATCH_BYTES
        };
        if joined.is_some_and(|joined| joined.rows() > 0 && !fits(joined)) {
            self.flush()?;
        }
        self.current = Some(task);
        Ok(())
    }

    async fn decode(&mut self, task: ReadTask) -> Result<(), StorageFailure> {
        match task {
            ReadTask::Decoded(slices) => self.take_slices(slices),
            ReadTask::Kept(kept) => {
                let context = Arc::clone(&self.context);
                let columns = context.projection.in_order(&kept.columns);
                self.join(columns.map(|column| &column.rows), kept.places.values())
            }
            ReadTask::Fetched(fetched) => {
                let (slices, remains) = Box::pin(self.context.decode(fetched)).await?;
                self.current = remains.map(ReadTask::Fetched);
                self.take_slices(slices)
            }
        }
    }

    fn take_slices(&mut self, slices: Vec<RecordBatch>) -> Result<(), StorageFailure> {
        if !self.joins {
            self.ready.extend(slices);
            return Ok(());
        }
        for slice in slices {
            let places: Vec<u32> = (0..).take(slice.num_rows()).collect();
            self.join(slice.columns().iter(), &places)?;
        }
        Ok(())
    }

    fn join<'a>(
        &mut self,
        columns: impl Iterator<Item = &'a ArrayRef>,
        places: &[u32],
    ) -> Result<(), StorageFailure> {
        let joined = match self.joined.take() {
            Some(joined) => Ok(joined),
            None => JoinedRows::new(&self.context.projection.schema),
        };
        let joined = joined.and_then(|mut joined| {
            joined.add(columns, places)?;
            Ok(joined)
        });
        self.joined = Some(joined.map_err(|error| self.damaged(&error))?);
        Ok(())
    }

    fn has_joined(&self) -> bool {
        self.joined.as_ref().is_some_and(|joined| joined.rows() > 0)
    }

    /// Has what was joined leave.
    fn flush(&mut self) -> Result<(), StorageFailure> {
        if let Some(batch) = self.joined.as_mut().map(JoinedRows::finish) {
            let batch = batch.map_err(|error| self.damaged(&error))?;
            self.ready.extend(split_by_weight(batch));
        }
        Ok(())
    }

    fn damaged(&self, error: &ArrowError) -> StorageFailure {
        StorageFailure::damaged(&self.context.source.parquet.key, error.to_string())
    }
}
