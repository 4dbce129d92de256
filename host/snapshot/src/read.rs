//! Reading rows of a snapshot (spec-4.1-bounds, spec-4.1-dimensions). Turns a [`ReadPlan`] into a
//! [`Scan`]: what is not asked for is not read. Knows nothing of formats, plans or HTTP.

mod budget;
mod cached_columns;
mod date_window;
mod decode;
mod dictionary;
mod fetch;
mod footer;
mod metrics;
mod page_cache;
mod page_locations;
mod preview;
mod projection;
mod row_counts;
mod search_pattern;

use std::ops::Range;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use moka::future::Cache;
use tracing::Instrument;
use yearbook_domain::{ReadPlan, Snapshot};
use yearbook_workers::Workers;

use crate::scan::{self, ReadTaskLimits, Scan};
use crate::{ObjectStorage, StorageFailure};

use self::page_cache::PageCache;

pub use metrics::{CacheMetricsSnapshot, ReadMetricsSnapshot};
pub use preview::PreviewLimits;
pub use row_counts::RowCounts;

pub(crate) use budget::{BudgetPermit, FetchBudget};
pub(crate) use decode::{FileSource, RowRange};
pub(crate) use dictionary::ColumnDictionary;
pub(crate) use footer::{ParquetFile, is_dictionary_encoded};
pub(crate) use page_cache::ReadMetrics;
pub(crate) use projection::{Projection, credit_metadata, sources_json, with_column_metadata};
pub(crate) use search_pattern::{CaseFolded, SearchPattern};

/// Bytes of footers and page indexes kept in memory. A file of a million rows and ten columns needs
/// about 100 kB.
const FOOTER_CACHE_BYTES: u64 = 64 << 20;

/// Reads snapshots. Cheap to clone; clones share what is kept in memory.
#[derive(Clone)]
pub struct Reader {
    files: ObjectStorage,
    workers: Arc<Workers>,
    /// By digest of the file and id of the snapshot, which decides how columns are read.
    footers: Cache<(String, String), Arc<ParquetFile>>,
    kept: Arc<PageCache>,
    budget: FetchBudget,
    steps: ReadTaskLimits,
}

impl Reader {
    /// A reader of the snapshots in `files` that decodes on `workers`.
    #[must_use]
    pub fn new(files: ObjectStorage, workers: Arc<Workers>) -> Self {
        let weigh = |_: &(String, String), opened: &Arc<ParquetFile>| {
            u32::try_from(opened.memory_bytes()).unwrap_or(u32::MAX)
        };
        let footers = Cache::builder().max_capacity(FOOTER_CACHE_BYTES).weigher(weigh).build();
        Self {
            files,
            workers,
            footers,
            kept: Arc::new(PageCache::new()),
            budget: FetchBudget::new(budget::FETCH_BUDGET_BYTES),
            steps: ReadTaskLimits::default(),
        }
    }

    /// The same with room for `bytes` that are fetched and not yet decoded, over all scans
    /// together. Default 128 MiB. Nothing waits for room: a scan that finds none fetches one batch
    /// at a time, and makes the same batches.
    #[must_use]
    pub fn with_fetch_budget(self, bytes: u64) -> Self {
        Self { budget: FetchBudget::new(bytes), ..self }
    }

    /// Whether stored files lie on this machine. Then what [`Reader::scan`] returns is ready when
    /// it is first polled on a worker, and so is every batch: all of a small response can be made
    /// in one job.
    #[must_use]
    pub fn is_local(&self) -> bool {
        self.files.is_local()
    }

    /// Finds the rows of `plan` and starts reading them. When this returns, [`Scan::counts`] are
    /// known; rows are read as the stream is polled. Needs a tokio runtime unless
    /// [`Reader::is_local`]. Dropping the future or the stream stops the work.
    ///
    /// # Errors
    /// A [`Failure`] that names the stored file. The stream ends after its first failure.
    pub async fn scan(&self, plan: &ReadPlan) -> Result<Scan, StorageFailure> {
        let snapshot = &plan.snapshot;
        let span = tracing::debug_span!("scan", snapshot = %snapshot.id, columns = plan.columns.len(), searched = plan.search_text.is_some());
        self.find(plan).instrument(span).await
    }

    async fn find(&self, plan: &ReadPlan) -> Result<Scan, StorageFailure> {
        let snapshot = &plan.snapshot;
        let schema = Self::schema(plan)?;
        ReadMetrics::add(&self.kept.effort.scans, 1);
        let source = self.open_file(snapshot).await?;
        let selection = self.selection(&source, plan).await?;
        let projection = Projection::new(&source.opened, &plan.columns, schema)?;
        let Some(needle) = &plan.search_text else {
            return Ok(scan::plain(source, projection, &selection, plan.first_row, plan.max_rows));
        };
        let window = selection.start.max(plan.first_row).min(selection.end)..selection.end;
        scan::search_window(source, projection, window, SearchPattern::new(needle), plan.max_rows)
            .await
    }

    /// The schema of [`Reader::scan`], with the credits as metadata. No I/O.
    ///
    /// # Errors
    /// [`Failure::Mismatch`] for a column that the snapshot does not have.
    pub fn schema(plan: &ReadPlan) -> Result<SchemaRef, StorageFailure> {
        Ok(Arc::new(
            projection::schema(&plan.snapshot, &plan.columns)?
                .with_metadata(projection::credit_metadata(plan)),
        ))
    }

    /// A sample of up to `limits.rows` rows, geometry left out: the newest first where there is a
    /// date column, the first ones otherwise (contract-4-preview). Text arrives plain, never as
    /// dictionaries, and cut. While it is read, one batch is in memory.
    ///
    /// # Errors
    /// A [`Failure`] that names the stored file.
    pub async fn preview(
        &self,
        snapshot: &Snapshot,
        limits: PreviewLimits,
    ) -> Result<RecordBatch, StorageFailure> {
        preview::preview(self, snapshot, limits).await
    }

    /// The rows of `columns` in `window`, without dates or needle.
    pub(crate) async fn rows(
        &self,
        snapshot: &Snapshot,
        columns: &[usize],
        schema: SchemaRef,
        window: Range<u64>,
    ) -> Result<Scan, StorageFailure> {
        let source = self.open_file(snapshot).await?;
        let projection = Projection::new(&source.opened, columns, schema)?;
        Ok(scan::plain(source, projection, &window, 0, None))
    }

    /// The stored file with its footer; one load at a time.
    async fn open_file(&self, snapshot: &Snapshot) -> Result<FileSource, StorageFailure> {
        let key = (snapshot.file.sha256.clone(), snapshot.id.clone());
        let mut loaded = false;
        let load = async {
            loaded = true;
            footer::open(&self.files, &self.workers, snapshot).await.map(Arc::new)
        };
        let opened = self
            .footers
            .try_get_with(key, load)
            .await
            .map_err(|shared: Arc<StorageFailure>| StorageFailure::clone(&shared));
        self.kept.effort.record_lookup(page_cache::FOOTER_LOOKUPS, !loaded);
        let opened = opened?;
        Ok(FileSource {
            files: self.files.clone(),
            workers: Arc::clone(&self.workers),
            opened,
            kept: Arc::clone(&self.kept),
            budget: self.budget.clone(),
            steps: self.steps,
        })
    }

    /// The rows that dates leave, as one range of the file: rows are sorted by date.
    async fn selection(
        &self,
        source: &FileSource,
        plan: &ReadPlan,
    ) -> Result<Range<u64>, StorageFailure> {
        let mut window = 0..source.opened.rows();
        if let Some(column) = &plan.snapshot.date_column {
            if let Some(start) = &plan.start {
                window.start =
                    date_window::partition_row(source, column, |date| date < start.as_bytes())
                        .await?;
            }
            if let Some(end) = &plan.end {
                window.end =
                    date_window::partition_row(source, column, |date| date <= end.as_bytes())
                        .await?;
            }
        }
        window.start = window.start.min(window.end);
        Ok(window)
    }
}

#[cfg(test)]
mod tests;
