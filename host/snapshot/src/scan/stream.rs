//! The stream of batches: pulled by whoever encodes them, at most one step ahead, and none where the store is local.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{BooleanArray, RecordBatch};
use arrow::buffer::BooleanBuffer;
use arrow::compute::filter;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use parquet::arrow::arrow_reader::ParquetRecordBatchReader;
use parquet::errors::ParquetError;
use tokio::runtime::Handle;
use tokio::task::JoinSet;

use super::matches::in_piece;
use super::search::Search;
use super::slicing::{batch_rows, slices};
use super::steps::steps;
use crate::Failure;
use crate::read::{Piece, Projection, Source};

/// Rows of a scan that is small: it takes decoded pages from memory and leaves what it decodes there. Larger ones would
/// only drive out what others come back for.
const SMALL: usize = 16 << 10;

/// Which rows of the range are wanted.
pub(super) enum Filter {
    /// All of them.
    All,
    /// Those that contain this, to be found step by step.
    Needle(Arc<Search>),
    /// Those whose bit is set; the first bit stands for the first row of the range.
    Known {
        /// One bit a row.
        rows: BooleanBuffer,
    },
}

/// The wanted rows of `rows`. Must be called in a tokio runtime unless the store is local; may be polled anywhere.
pub(super) fn batches(
    source: Source,
    projection: Projection,
    rows: Range<u64>,
    filter: Filter,
) -> BoxStream<'static, Result<RecordBatch, Failure>> {
    let mut leaves = projection.leaves.clone();
    if matches!(filter, Filter::Needle(_)) {
        leaves.extend(source.opened.dimensions.iter().filter(|leaf| !projection.leaves.contains(leaf)));
    }
    let steps = Box::new(steps(source.steps, Arc::clone(&source.opened), leaves, rows.clone()));
    let wanted = match &filter {
        Filter::All => usize::try_from(rows.end - rows.start).unwrap_or(usize::MAX),
        Filter::Known { rows } => rows.count_set_bits(),
        Filter::Needle(_) => usize::MAX,
    };
    let context = Arc::new(Context { source, projection, from: rows.start, filter, small: wanted <= SMALL });
    let ahead = (!context.source.files.is_local()).then(|| Ahead { runtime: Handle::current(), tasks: JoinSet::new() });
    let reading = Reading { context, steps, ahead, current: None, ready: VecDeque::new() };
    stream::try_unfold(reading, |mut reading| async move { Ok(reading.next().await?.map(|batch| (batch, reading))) }).boxed()
}

/// What every step needs.
struct Context {
    source: Source,
    projection: Projection,
    from: u64,
    filter: Filter,
    /// See [`SMALL`].
    small: bool,
}

/// A step whose bytes are here.
enum Step {
    /// To be decoded.
    Fetched {
        group: usize,
        reader: ParquetRecordBatchReader,
        /// Rows that the reader still has: its end is known without another trip to a worker.
        left: usize,
    },
    /// Decoded already, in slices.
    Decoded(Vec<RecordBatch>),
}

struct Reading {
    context: Arc<Context>,
    steps: Box<dyn Iterator<Item = Piece> + Send>,
    /// None where fetching waits for nothing: a local read costs less than handing it over.
    ahead: Option<Ahead>,
    current: Option<Step>,
    /// Slices of the batch decoded last.
    ready: VecDeque<RecordBatch>,
}

/// The step that is being fetched, never more than one; stops when this is dropped.
struct Ahead {
    runtime: Handle,
    tasks: JoinSet<Result<Option<Step>, Failure>>,
}

impl Reading {
    async fn next(&mut self) -> Result<Option<RecordBatch>, Failure> {
        loop {
            if let Some(batch) = self.ready.pop_front() {
                return Ok(Some(batch));
            }
            self.fetch_ahead();
            if let Some(step) = self.current.take() {
                self.decode(step).await?;
            } else if let Some(ahead) = &mut self.ahead {
                match ahead.tasks.join_next().await {
                    None => return Ok(None),
                    Some(Ok(step)) => self.current = step?,
                    Some(Err(_)) => return Err(Failure::Stopped { what: self.context.source.opened.key.clone() }),
                }
            } else {
                let Some(piece) = self.next_piece() else { return Ok(None) };
                self.current = self.context.fetch(piece).await?;
            }
        }
    }

    /// Has the next step fetched while the current one is decoded and consumed.
    fn fetch_ahead(&mut self) {
        if self.ahead.as_ref().is_some_and(|ahead| ahead.tasks.is_empty())
            && let Some(piece) = self.next_piece()
            && let Some(ahead) = &mut self.ahead
        {
            let context = Arc::clone(&self.context);
            ahead.tasks.spawn_on(async move { context.fetch(piece).await }, &ahead.runtime);
        }
    }

    /// The next piece that holds a wanted row, as far as that is known.
    fn next_piece(&mut self) -> Option<Piece> {
        self.steps.by_ref().find_map(|piece| self.context.narrowed(piece))
    }

    async fn decode(&mut self, step: Step) -> Result<(), Failure> {
        let (group, reader, left) = match step {
            Step::Fetched { group, reader, left } => (group, reader, left),
            Step::Decoded(slices) => {
                self.ready.extend(slices);
                return Ok(());
            }
        };
        let context = Arc::clone(&self.context);
        let arrange = move |batch: RecordBatch| Ok::<_, ParquetError>(slices(context.projection.arrange(&batch)?));
        if let Some((reader, slices)) = self.context.source.batch(group, reader, arrange).await? {
            let left = left.saturating_sub(slices.iter().map(RecordBatch::num_rows).sum());
            self.ready.extend(slices.into_iter().filter(|slice| slice.num_rows() > 0));
            self.current = (left > 0).then_some(Step::Fetched { group, reader, left });
        }
        Ok(())
    }
}

impl Context {
    /// Fetches a step; none when nothing in it matches.
    async fn fetch(&self, mut piece: Piece) -> Result<Option<Step>, Failure> {
        let opened = &self.source.opened;
        if let Filter::Needle(search) = &self.filter {
            let wanted = in_piece(&self.source, piece.clone(), search, usize::MAX).await?;
            let Some(wanted) = wanted else { return Ok(None) };
            piece.wanted = Some(wanted);
        }
        let group = piece.group;
        let rows = batch_rows(opened, &self.projection, group);
        if self.small && piece.rows.len() <= rows {
            return self.decoded(piece).await.map(Some);
        }
        let left = piece.wanted.as_ref().map_or(piece.rows.len(), BooleanBuffer::count_set_bits);
        let reader = self.source.reader(&opened.output, self.projection.mask(opened), piece, rows).await?;
        Ok(reader.map(|reader| Step::Fetched { group, reader, left }))
    }

    /// A step of one batch, made of pages that are kept.
    async fn decoded(&self, piece: Piece) -> Result<Step, Failure> {
        let Piece { group, rows, wanted } = piece;
        let length = rows.len();
        let mut columns = self.source.columns(group, &self.projection.leaves, rows).await?;
        let mut count = length;
        let arrange = || {
            if let Some(wanted) = wanted {
                let wanted = BooleanArray::new(wanted, None);
                count = wanted.true_count();
                for column in &mut columns {
                    *column = filter(column, &wanted)?;
                }
            }
            self.projection.arranged(&columns, count)
        };
        let batch = arrange().map_err(|error| Failure::damaged(&self.source.opened.key, format!("row group {group}: {error}")))?;
        Ok(Step::Decoded(slices(batch)))
    }

    /// `piece` with the matches that are known; none when there are none in it.
    fn narrowed(&self, mut piece: Piece) -> Option<Piece> {
        if let Filter::Known { rows } = &self.filter {
            let first = self.source.opened.start(piece.group) + piece.rows.start as u64 - self.from;
            let wanted = rows.slice(usize::try_from(first).ok()?, piece.rows.len());
            let (first, last) = (wanted.set_indices().next()?, wanted.set_indices().last()?);
            piece.rows = piece.rows.start + first..piece.rows.start + last + 1;
            piece.wanted = Some(wanted.slice(first, last + 1 - first));
        }
        Some(piece)
    }
}
