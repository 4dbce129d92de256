//! Rendered previews in memory, each read and rendered once.

use std::sync::Arc;

use tokio::sync::Semaphore;
use tracing::Instrument;
use yearbook_cache::Cache;
use yearbook_domain::{ColumnRole, Dataset, DatasetName, SnapshotId};
use yearbook_http::{Error, RenderedDocument};
use yearbook_scan::{PreviewLimits, Reader};
use yearbook_shares::CallerShare;
use yearbook_workers::Workers;

use super::cells::{self, Cells};
use super::fit::{self, Preview, PreviewColumn};

/// Rows of a preview at most (spec-4-preview).
pub(crate) const MAX_ROWS: usize = 10;

/// Previews that are read at once, whoever asks: each holds a batch of rows in memory, which is one
/// row where rows are as heavy as they may be.
const CONCURRENT_READS: usize = 4;

/// Bounds of what is read of a snapshot.
const SAMPLE_LIMITS: PreviewLimits = PreviewLimits {
    rows: MAX_ROWS,
    characters: cells::MAX_TEXT_CHARACTERS,
    row_bytes: fit::MAX_BYTES,
};

/// Rendered previews by dataset and snapshot, so that anonymous traffic reads each once.
#[derive(Clone)]
pub(crate) struct PreviewCache {
    cache: Cache<(DatasetName, SnapshotId), RenderedDocument>,
    permits: Arc<Semaphore>,
}

impl PreviewCache {
    /// Holding up to `bytes` of documents.
    pub(crate) fn new(bytes: u64) -> Self {
        let weigh = |_: &(DatasetName, SnapshotId), document: &RenderedDocument| {
            u32::try_from(document.byte_count()).unwrap_or(u32::MAX)
        };
        Self {
            cache: Cache::weighted(bytes, weigh),
            permits: Arc::new(Semaphore::new(CONCURRENT_READS)),
        }
    }

    /// The preview of `dataset`, from memory or made on a worker. It is made once for all who ask,
    /// and to its end: clients that go away do not have it begun again for the next.
    ///
    /// # Errors
    /// Those of reading, which were logged when they were found: whoever waits for the same preview
    /// shares them.
    pub(super) async fn get(
        &self,
        reader: &Reader,
        workers: &Arc<Workers>,
        dataset: Arc<Dataset>,
    ) -> Result<RenderedDocument, Error> {
        let key = (dataset.name.clone(), dataset.current.id);
        if let Some(document) = self.cache.get(&key).await {
            return Ok(document);
        }
        let (previews, reader, workers) = (self.clone(), reader.clone(), Arc::clone(workers));
        let make = async move {
            let _permit = previews
                .permits
                .acquire()
                .await
                .map_err(|closed| Error::internal("wait for a preview", &closed))?;
            let rendered = workers
                .drive(CallerShare::default(), render(reader, dataset).in_current_span())
                .await;
            rendered.map_err(|panicked| Error::internal("show a preview", &panicked))?
        };
        let cache = self.cache.clone();
        let rendered = tokio::spawn(
            async move { Box::pin(cache.try_get_with(key, make)).await }.in_current_span(),
        )
        .await;
        rendered
            .map_err(|stopped| Error::internal("wait for a preview", &stopped))?
            .map_err(Arc::unwrap_or_clone)
    }
}

/// Reads and renders on a worker.
async fn render(reader: Reader, dataset: Arc<Dataset>) -> Result<RenderedDocument, Error> {
    let snapshot = &dataset.current;
    let batch = reader.preview(snapshot, SAMPLE_LIMITS).await?;
    let (hidden, shown): (Vec<_>, Vec<_>) =
        snapshot.columns.iter().partition(|column| column.role == ColumnRole::Geometry);
    let columns: Vec<PreviewColumn<'_>> = shown.into_iter().map(PreviewColumn::new).collect();
    let broken = |failure: String| Error::internal("show a preview", &failure);
    let cells = Cells::new(&batch, columns.iter().map(|column| column.name)).map_err(broken)?;
    let preview = Preview {
        name: &dataset.name,
        snapshot_id: &snapshot.id,
        row_count: snapshot.rows,
        columns: &columns,
        hidden_columns: hidden.iter().map(|column| column.name.as_str()).collect(),
        rows: Vec::new(),
    };
    let rows = (0..batch.num_rows().min(MAX_ROWS)).map(|row| cells.row(row));
    RenderedDocument::new(&preview.fill(rows).map_err(broken)?)
}
