//! Blocks of rows, made and taken on workers: while one is taken, the next one is made.

use std::sync::Arc;

use futures::stream::BoxStream;
use futures::{TryStreamExt as _, future, stream};
use yearbook_sort::{BlockLimits, RowBlock, SortedRows};
use yearbook_workers::Workers;

use super::{run_on_worker, sort_error};
use crate::error::PublishError;
use crate::progress::ProgressReporter;
use crate::write::CopiedGroup;

/// Stage of publishing, as failures name it.
const STAGE: &str = "reading sorted rows";

/// Blocks of a table, in their order.
pub(crate) type BlockStream<'a> = BoxStream<'a, Result<RowBlock, PublishError>>;

/// The blocks of some columns (positions) of `rows`.
pub(crate) fn read_blocks<'a>(
    workers: &'a Workers,
    rows: &Arc<SortedRows>,
    columns: Vec<usize>,
) -> BlockStream<'a> {
    let shared = Arc::clone(rows);
    let open = async move {
        let open = move || shared.read(columns, BlockLimits::FILE);
        run_on_worker(workers, STAGE, open).await?.map_err(sort_error(STAGE))
    };
    let blocks = stream::once(open).map_ok(move |ordered| {
        stream::try_unfold(ordered, move |mut ordered| async move {
            let job = move || Ok(ordered.next_block()?.map(|block| (block, ordered)));
            run_on_worker(workers, STAGE, job).await?.map_err(sort_error(STAGE))
        })
    });
    Box::pin(blocks.try_flatten())
}

/// A part of a table that is to be written.
pub(crate) enum TablePart {
    /// Rows to be encoded.
    Block(RowBlock),
    /// Rows most of which another file has encoded.
    Copy(CopiedGroup),
}

/// Parts of a table, in their order.
pub(crate) type PartStream<'a> = BoxStream<'a, Result<TablePart, PublishError>>;

/// Rows that are taken together.
pub(crate) trait RowCount: Send + 'static {
    fn rows(&self) -> u64;
}

impl RowCount for RowBlock {
    fn rows(&self) -> u64 {
        self.rows.num_rows() as u64
    }
}

impl RowCount for TablePart {
    fn rows(&self) -> u64 {
        match self {
            Self::Block(block) => block.rows(),
            Self::Copy(copied) => copied.group.rows(),
        }
    }
}

/// Does `take` with every one of `parts`.
pub(crate) async fn for_each<P: RowCount, T: Send + 'static>(
    workers: &Workers,
    stage: &'static str,
    mut parts: BoxStream<'_, Result<P, PublishError>>,
    progress: &dyn ProgressReporter,
    mut state: T,
    take: impl Fn(T, &P) -> Result<T, PublishError> + Send + Sync + 'static,
) -> Result<T, PublishError> {
    let take = Arc::new(take);
    let mut next = parts.try_next().await?;
    while let Some(part) = next {
        let rows = part.rows();
        let take = Arc::clone(&take);
        let taking = run_on_worker(workers, stage, move || take(state, &part));
        let (behind, taken) = future::join(parts.try_next(), taking).await;
        (state, next) = (taken??, behind?);
        progress.advance(rows);
    }
    Ok(state)
}
