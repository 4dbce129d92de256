//! The stream of batches: pulled by the encoder, at most one step ahead, and none where
//! the store is local.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::RecordBatch;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use tokio::runtime::Handle;
use tokio::task::JoinSet;

use super::long_text;
use super::read_task::{ReadTask, RowFilter, SMALL_SCAN_ROWS, ScanContext};
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
        (Some(_), RowFilter::Selection { rows: known }) => {
            let (first, known) = (rows.start, known.clone());
            let set = known.set_indices().map(|index| index as u64).collect::<Vec<_>>();
            Box::new(set.into_iter().map(move |index| first + index))
        }
        _ => Box::new(rows.clone()),
    };
    let key = source.parquet.key.clone();
    let mut leaves = projection.leaves.clone();
    if let RowFilter::Predicate(predicate) = &filter {
        leaves.extend(predicate.leaves().iter().filter(|leaf| !projection.leaves.contains(leaf)));
    }
    let wanted = match &filter {
        RowFilter::All => usize::try_from(rows.end - rows.start).unwrap_or(usize::MAX),
        RowFilter::Selection { rows } => rows.count_set_bits(),
        RowFilter::Predicate(_) => usize::MAX,
    };
    let small = wanted <= SMALL_SCAN_ROWS;
    let kept_limits = source.task_limits.for_small_scan();
    let from = rows.start;
    let tasks =
        |limits| task_ranges(limits, Arc::clone(&source.parquet), leaves.clone(), rows.clone());
    let long_text = matches!(filter, RowFilter::All)
        && long_text::is_kept(kept_limits, &source.parquet, &projection, tasks(kept_limits));
    if small || long_text {
        source.task_limits = kept_limits;
    }
    let tasks = tasks(source.task_limits);
    let context = Arc::new(ScanContext { source, projection, from, filter, small, long_text });
    let steps: Box<dyn Iterator<Item = RowRange> + Send> = if long_text {
        let context = Arc::clone(&context);
        Box::new(tasks.flat_map(move |range| context.cut(range)))
    } else {
        Box::new(tasks)
    };
    let ahead = (!context.source.files.is_local())
        .then(|| Prefetch { runtime: Handle::current(), tasks: JoinSet::new() });
    let reading = BatchStream { context, steps, ahead, current: None, ready: VecDeque::new() };
    stream::try_unfold(reading, |mut reading| async move {
        Ok(reading.next().await?.map(|batch| (batch, reading)))
    })
    .map(move |batch| match (batch, &numbered) {
        (Ok(batch), Some(schema)) => append_numbers(schema, &batch, &mut numbers)
            .map_err(|error| StorageFailure::damaged(&key, error.to_string())),
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
    /// Slices of the batch decoded last.
    ready: VecDeque<RecordBatch>,
}

/// The step that is being fetched, never more than one; stops when this is dropped.
struct Prefetch {
    runtime: Handle,
    tasks: JoinSet<Result<Option<ReadTask>, StorageFailure>>,
}

impl BatchStream {
    async fn next(&mut self) -> Result<Option<RecordBatch>, StorageFailure> {
        loop {
            if let Some(batch) = self.ready.pop_front() {
                return Ok(Some(batch));
            }
            self.start_prefetch();
            if let Some(step) = self.current.take() {
                self.decode(step).await?;
            } else if let Some(ahead) = &mut self.ahead {
                match ahead.tasks.join_next().await {
                    None => return Ok(None),
                    Some(Ok(step)) => self.current = step?,
                    Some(Err(_)) => {
                        return Err(StorageFailure::ShuttingDown {
                            what: self.context.source.parquet.key.clone(),
                        });
                    }
                }
            } else {
                let Some(range) = self.next_range() else { return Ok(None) };
                self.current = self.context.fetch(range).await?;
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

    async fn decode(&mut self, step: ReadTask) -> Result<(), StorageFailure> {
        match step {
            ReadTask::Decoded(slices) => self.ready.extend(slices),
            ReadTask::Fetched(fetched) => {
                let (slices, remains) = self.context.decode(fetched).await?;
                self.ready.extend(slices);
                self.current = remains.map(ReadTask::Fetched);
            }
        }
        Ok(())
    }
}
