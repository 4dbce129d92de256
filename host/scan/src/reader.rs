//! The reader of snapshots (spec-4.1-bounds, spec-4.1-dimensions, contract-15-conditions). Turns a
//! [`ReadPlan`] into a [`Scan`] that reads nothing but what the plan asks for. Knows nothing of
//! formats, plans or HTTP.

use std::ops::Range;
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use tracing::Instrument;
use yearbook_cache::Cache;
use yearbook_counters::Metric as _;
use yearbook_domain::read_plan::{MAX_SERIES, RowOrder};
use yearbook_domain::{Date, Digest, ReadPlan, Snapshot, SnapshotId};
use yearbook_shares::CallerShare;
use yearbook_storage::ObjectStorage;
use yearbook_workers::Workers;

use crate::decode::{
    COLUMN_CACHE_BYTES, CallerWorkers, ColumnCache, FETCH_BUDGET_BYTES, FetchBudget, FileSource,
    PageCache, ParquetFile, Projection, ReadMetricsSnapshot, ReadTaskLimits,
};
use crate::filter::RowPredicate;
use crate::order::{self, OrderedScan, SELECTION_BUDGET_BYTES, SelectionBudget, WantedRows};
use crate::row_bounds::RowBoundsCache;
use crate::row_counts::RowCounts;
use crate::row_numbers::numbered_schema;
use crate::scan::{self, Scan};
use crate::values::StoredValuesCache;
use crate::{StorageFailure, date_window, schema};

mod footer;

/// Bytes of footers and page indexes kept in memory. A file of a million rows and ten columns needs
/// about 100 kB.
const FOOTER_CACHE_BYTES: u64 = 64 << 20;

/// Snapshots of which the number of series is kept.
const KNOWN_SERIES: u64 = 10_000;

/// Reads snapshots. Cheap to clone; clones share what is kept in memory.
#[derive(Clone)]
pub struct Reader {
    /// In one piece: a request clones the reader more than once.
    parts: Arc<ReaderParts>,
    pub(crate) selections: SelectionBudget,
}

/// Parts that clones share.
#[derive(Clone)]
struct ReaderParts {
    files: Arc<ObjectStorage>,
    workers: Arc<Workers>,
    /// By digest of the file and id of the snapshot, which decides how columns are read.
    footers: Cache<(Digest, SnapshotId), Arc<ParquetFile>>,
    cache: Arc<PageCache>,
    columns: Arc<ColumnCache>,
    budget: FetchBudget,
    task_limits: ReadTaskLimits,
    values: StoredValuesCache,
    bounds: RowBoundsCache,
    /// Number of series by id of the snapshot.
    series: Cache<SnapshotId, u64>,
}

impl Reader {
    /// A reader of the snapshots in `files` that decodes on `workers`.
    #[must_use]
    pub fn new(files: ObjectStorage, workers: Arc<Workers>) -> Self {
        let weigh = |_: &(Digest, SnapshotId), parquet: &Arc<ParquetFile>| {
            u32::try_from(parquet.memory_bytes()).unwrap_or(u32::MAX)
        };
        let parts = ReaderParts {
            values: StoredValuesCache::new(files.clone()),
            bounds: RowBoundsCache::new(files.clone()),
            files: Arc::new(files),
            workers,
            footers: Cache::weighted(FOOTER_CACHE_BYTES, weigh),
            cache: Arc::new(PageCache::new()),
            columns: Arc::new(ColumnCache::new(COLUMN_CACHE_BYTES)),
            budget: FetchBudget::new(FETCH_BUDGET_BYTES),
            task_limits: ReadTaskLimits::default(),
            series: Cache::new(KNOWN_SERIES),
        };
        let selections = SelectionBudget::new(SELECTION_BUDGET_BYTES);
        Self { parts: Arc::new(parts), selections }
    }

    /// Parts of this reader alone.
    fn parts_mut(&mut self) -> &mut ReaderParts {
        Arc::make_mut(&mut self.parts)
    }

    /// The same with room for `bytes` that are fetched and not yet decoded, over all scans
    /// together. Default 128 MiB. Nothing waits for room: a scan that finds none fetches one batch
    /// at a time, and makes the same batches.
    #[must_use]
    pub fn with_fetch_budget(mut self, bytes: u64) -> Self {
        self.parts_mut().budget = FetchBudget::new(bytes);
        self
    }

    /// The same with `bytes` for columns that are kept for reads of scattered rows; 0: every such
    /// read decodes its pages. Default 320 MiB. Batches do not depend on it.
    #[must_use]
    pub fn with_column_cache(mut self, bytes: u64) -> Self {
        self.parts_mut().columns = Arc::new(ColumnCache::new(bytes));
        self
    }

    /// The same with room for `bytes` that selections hold, over all scans together: sort keys,
    /// counts of series and values, rows in another order. Default 256 MiB. A scan waits for its
    /// room before it reads a row.
    #[must_use]
    pub fn with_selection_budget(self, bytes: u64) -> Self {
        Self { selections: SelectionBudget::new(bytes), ..self }
    }

    /// The same on the account of `holder`: workers put down their time to it, and selections take
    /// their room of its share.
    #[must_use]
    pub fn for_caller(&self, holder: &CallerShare) -> Self {
        Self { parts: Arc::clone(&self.parts), selections: self.selections.for_caller(holder) }
    }

    /// Returns whether stored files lie on this machine. Then the [`Scan`] of a plan is ready when
    /// it is first polled on a worker, and so is every batch: all of a small response can be made
    /// in one job.
    #[must_use]
    pub fn is_local(&self) -> bool {
        self.parts.files.is_local()
    }

    /// Finds the rows of `plan` and starts reading them. When this returns, [`Scan::counts`] are
    /// known; rows are read as the stream is polled. Needs a tokio runtime unless
    /// [`Reader::is_local`]. Dropping the future or the stream stops the work.
    ///
    /// # Errors
    /// A [`StorageFailure`] that names the stored file. The stream ends after its first failure.
    pub async fn scan(&self, plan: &ReadPlan) -> Result<Scan, StorageFailure> {
        let snapshot = &plan.snapshot;
        let span = tracing::debug_span!("scan", snapshot = %snapshot.id, columns = plan.columns.len(), filtered = plan.is_filtered());
        self.find(plan).instrument(span).await
    }

    async fn find(&self, plan: &ReadPlan) -> Result<Scan, StorageFailure> {
        self.parts.cache.metrics.scans.increment();
        if plan.skip == 0 {
            return self.find_page(plan).await;
        }
        // Rows that are skipped are a page; this one begins with the row behind it.
        let skipped = ReadPlan { skip: 0, max_rows: Some(plan.skip), ..plan.clone() };
        let behind = Box::pin(self.find_page(&skipped)).await?.counts.next;
        let page = ReadPlan { skip: 0, first_row: behind, ..plan.clone() };
        if behind.is_some() {
            return Box::pin(self.find_page(&page)).await;
        }
        let none = ReadPlan { max_rows: Some(0), ..page };
        let scan = Box::pin(self.find_page(&none)).await?;
        Ok(Scan { counts: RowCounts { next: None, ..scan.counts }, ..scan })
    }

    async fn find_page(&self, plan: &ReadPlan) -> Result<Scan, StorageFailure> {
        let snapshot = &plan.snapshot;
        let source = self.open_file(snapshot).await?;
        let schema = projected_schema(&source.parquet, plan)?;
        let selection = self.selection(&source, plan).await?;
        let numbered = plan.row_numbers.then(|| numbered_schema(&schema));
        let projection =
            Projection::new(&source.parquet, &plan.columns, schema)?.with_numbers(numbered);
        let bounds = match plan.bbox {
            Some(_) => Box::pin(self.parts.bounds.get(&source)).await?,
            None => None,
        };
        let predicate = RowPredicate::new(&source.parquet, plan, bounds)?;
        if plan.order != RowOrder::Natural || plan.series_rows.is_some() {
            let wanted =
                predicate.map_or(WantedRows::All, |test| WantedRows::Tested(Arc::new(test)));
            let scan = OrderedScan { source, projection, window: selection, wanted };
            return Box::pin(self.scan_ordered(plan, scan)).await;
        }
        let Some(predicate) = predicate else {
            let (first_row, max_rows) = (plan.first_row.unwrap_or(0), plan.max_rows);
            return Ok(scan::scan_window(source, projection, &selection, first_row, max_rows));
        };
        let start = selection.start.max(plan.first_row.unwrap_or(0)).min(selection.end);
        let window = start..selection.end;
        // Which rows are sent must be known where their numbers are.
        let max_rows = plan.max_rows.or(plan.row_numbers.then_some(u64::MAX));
        let found = scan::filter_window(source, projection, window, predicate, max_rows);
        // In a box, as everything here that rows without conditions and dates do not wait for.
        Box::pin(found).await
    }

    async fn scan_ordered(
        &self,
        plan: &ReadPlan,
        scan: OrderedScan,
    ) -> Result<Scan, StorageFailure> {
        let series = match plan.series_rows {
            Some(_) => self.count_series(&plan.snapshot, None).await?,
            None => 0,
        };
        if series > MAX_SERIES {
            return Err(StorageFailure::Mismatch {
                what: format!("a plan for rows of {series} series"),
                why: "they were not checked".to_owned(),
            });
        }
        order::scan_ordered(plan, scan, series, &self.selections).await
    }

    /// Returns the number of series of `snapshot`, which has a date axis; more than [`MAX_SERIES`]
    /// are not counted to their end. Reads their columns the first time where `stored`, the number
    /// that publishing stored, is not known.
    ///
    /// # Errors
    /// A [`StorageFailure`] that names the stored file.
    pub async fn count_series(
        &self,
        snapshot: &Snapshot,
        stored: Option<u64>,
    ) -> Result<u64, StorageFailure> {
        let count = Box::pin(async {
            if let Some(stored) = stored {
                return Ok(stored);
            }
            let source = self.open_file(snapshot).await?;
            order::count_series(&source, snapshot).await
        });
        let counted = self.parts.series.try_get_with(snapshot.id, count).await;
        counted.map_err(|shared: Arc<StorageFailure>| StorageFailure::clone(&shared))
    }

    /// The schema of [`Reader::scan`], with the credits as metadata. No I/O.
    ///
    /// # Errors
    /// [`StorageFailure::Mismatch`] for a column that the snapshot does not have.
    pub fn schema(plan: &ReadPlan) -> Result<SchemaRef, StorageFailure> {
        let schema = schema::credited_schema(plan, &plan.columns)?;
        Ok(if plan.row_numbers { numbered_schema(&schema) } else { schema })
    }

    /// The rows of `columns` (positions in the snapshot) in `window`, without dates or search, as
    /// batches of `schema`.
    ///
    /// # Errors
    /// A [`StorageFailure`] that names the stored file.
    pub async fn scan_rows(
        &self,
        snapshot: &Snapshot,
        columns: &[usize],
        schema: SchemaRef,
        window: Range<u64>,
    ) -> Result<Scan, StorageFailure> {
        let source = self.open_file(snapshot).await?;
        let projection = Projection::new(&source.parquet, columns, schema)?;
        Ok(scan::scan_window(source, projection, &window, 0, None))
    }

    /// The counts of [`Reader::scan`] without its rows: from the catalog where `plan` has no
    /// dates, else from the file's statistics and at most the pages at both dates. Tells nothing
    /// where only reading rows tells which are sent.
    ///
    /// # Errors
    /// A [`StorageFailure`] that names the stored file.
    pub async fn row_counts(&self, plan: &ReadPlan) -> Result<RowCounts, StorageFailure> {
        if plan.is_filtered() {
            return Ok(RowCounts::default());
        }
        let selection = match (&plan.start, &plan.end) {
            (None, None) => stored_window(plan, plan.snapshot.rows),
            _ => self.selection(&self.open_file(&plan.snapshot).await?, plan).await?,
        };
        let first_row = plan.first_row.unwrap_or(selection.start.saturating_add(plan.skip));
        let (counts, _) = RowCounts::from_range(&selection, first_row, plan.max_rows);
        let is_whole = plan.first_row.is_none() && counts.next.is_none();
        if plan.order == RowOrder::Natural || is_whole {
            return Ok(counts);
        }
        // Rows tell which one a page of another order ends with.
        Ok(RowCounts { rows: None, next: None, ..counts })
    }

    /// Returns the counters of reading so far.
    #[must_use]
    pub fn counts(&self) -> ReadMetricsSnapshot {
        let mut counts = self.parts.cache.metrics.read();
        [counts.kept_pages.bytes, counts.kept_dictionaries.bytes] = self.parts.cache.bytes();
        counts.kept_columns.bytes = self.parts.columns.bytes();
        counts.kept_footers.bytes = self.parts.footers.weight();
        counts
    }

    /// The store that is read.
    pub(crate) fn files(&self) -> &ObjectStorage {
        &self.parts.files
    }

    /// Values that publishing stored.
    pub(crate) fn values_cache(&self) -> &StoredValuesCache {
        &self.parts.values
    }

    /// The workers that decode, on the account of the caller.
    pub(crate) fn workers(&self) -> CallerWorkers {
        CallerWorkers::new(&self.parts.workers, self.selections.holder())
    }

    /// The stored file with its footer; one load at a time.
    pub(crate) async fn open_file(
        &self,
        snapshot: &Snapshot,
    ) -> Result<FileSource, StorageFailure> {
        let workers = self.workers();
        let known = self.parts.footers.get(&(snapshot.file.sha256, snapshot.id)).await;
        let parquet = match known {
            Some(known) => {
                self.parts.cache.metrics.kept_footers.record_lookup(true);
                known
            }
            // In a box: the future of every scan would have room for it.
            None => Box::pin(self.load_footer(&workers, snapshot)).await?,
        };
        Ok(FileSource {
            files: Arc::clone(&self.parts.files),
            workers,
            parquet,
            cache: Arc::clone(&self.parts.cache),
            columns: Arc::clone(&self.parts.columns),
            budget: self.parts.budget.clone(),
            task_limits: self.parts.task_limits,
        })
    }

    /// The rows that dates leave, as one range of the file: rows are sorted by date.
    async fn selection(
        &self,
        source: &FileSource,
        plan: &ReadPlan,
    ) -> Result<Range<u64>, StorageFailure> {
        let mut window = stored_window(plan, source.parquet.rows());
        if let Some(column) = &plan.snapshot.date_column {
            // Rows without a date come first, and are on neither side of a bound.
            let has_undated = || plan.snapshot.column(column).is_some_and(|dates| dates.nullable);
            let first_day = plan.end.filter(|_| has_undated()).map(|_| Date::MIN);
            if let Some(start) = plan.start.or(first_day) {
                let first = date_window::partition_row(source, column, |date| {
                    date < start.as_str().as_bytes()
                });
                window.start = window.start.max(Box::pin(first).await?);
            }
            if let Some(end) = &plan.end {
                let behind = date_window::partition_row(source, column, |date| {
                    date <= end.as_str().as_bytes()
                });
                window.end = window.end.min(Box::pin(behind).await?);
            }
        }
        window.start = window.start.min(window.end);
        Ok(window)
    }
}

/// The rows of `plan` without its dates, of a file of `rows` rows.
fn stored_window(plan: &ReadPlan, rows: u64) -> Range<u64> {
    plan.row.map_or(0..rows, |row| row.min(rows)..row.saturating_add(1).min(rows))
}

/// The schema of `plan`, of the one for all columns that the opened file has: making fields and
/// metadata again takes longer than finding a hundred rows.
fn projected_schema(parquet: &ParquetFile, plan: &ReadPlan) -> Result<SchemaRef, StorageFailure> {
    let all = 0..plan.snapshot.columns.len();
    let make = || schema::credited_schema(plan, &all.clone().collect::<Vec<_>>());
    let known = parquet.schema_or_make(make)?;
    let whole =
        if schema::has_credit(known, &plan.snapshot.credit) { Arc::clone(known) } else { make()? };
    if plan.columns.iter().copied().eq(all) {
        return Ok(whole);
    }
    let projected = whole.project(&plan.columns);
    projected.map(Arc::new).map_err(|error| StorageFailure::Mismatch {
        what: format!("snapshot {}", plan.snapshot.id),
        why: error.to_string(),
    })
}

#[cfg(test)]
mod tests;
