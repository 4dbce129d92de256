//! A version of the past, made of a newer one: row groups into which no change falls are copied as
//! they are stored; the rows of others are read, rewound, and cut as publishing cut them.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use futures::stream::BoxStream;
use futures::{StreamExt as _, TryStreamExt as _, stream};
use yearbook_domain::{Column, ColumnRole, Snapshot};
use yearbook_scan::schema::unchecked_schema;
use yearbook_scan::{Reader, StoredGroups};
use yearbook_sort::{BlockBuilder, BlockLimits, GROUP_ROWS, KeyEncoder};
use yearbook_storage::StorageFailure;
use yearbook_workers::Workers;

use super::STAGE;
use super::rewind::{Rewinder, SegmentChanges, encode};
use crate::diff::AlignedSnapshot;
use crate::error::PublishError;
use crate::publish::stages::{PartStream, TablePart, run_on_worker, sort_error};

/// Rows of a version, made of those of a newer one.
pub(super) struct RewoundRows {
    reader: Reader,
    /// The newer version, as the older one's columns show it.
    newer: Arc<AlignedSnapshot>,
    schema: SchemaRef,
    /// Row groups of the newer version; `None` where they have to be read.
    groups: Option<RowGroups>,
    /// Rows that are still to come, by row group where these may be copied.
    windows: VecDeque<Range<u64>>,
    /// Rows that are being read; `None` between two windows.
    batches: Option<BoxStream<'static, Result<RecordBatch, StorageFailure>>>,
    /// `None` at the end of all.
    cutting: Option<Cutting>,
    ready: VecDeque<TablePart>,
}

/// The version in progress.
struct Cutting {
    rewinder: Rewinder,
    builder: BlockBuilder,
}

/// Row groups of the newer version.
struct RowGroups {
    stored: StoredGroups,
    /// The newer version with the columns by which it is sorted.
    ordered: AlignedSnapshot,
    schema: SchemaRef,
    keys: KeyEncoder,
    /// Number of those that came before.
    passed: usize,
}

impl RewoundRows {
    /// Opens the rows of `version`, made of those of `newer` by `changes`.
    pub(super) async fn open(
        reader: Reader,
        changes: &SegmentChanges,
        version: &Snapshot,
        newer: &Snapshot,
    ) -> Result<Self, PublishError> {
        let columns = &version.columns;
        let rewinder = Rewinder::new(changes).map_err(sort_error(STAGE))?;
        let mut windows = VecDeque::from([0..newer.rows]);
        let mut groups = None;
        if are_stored_alike(columns, &newer.columns) {
            let order = changes.order().iter();
            let ordered: Vec<_> = order.filter_map(|at| columns.get(*at).cloned()).collect();
            let positions: Vec<usize> = (0..ordered.len()).collect();
            let schema = unchecked_schema(&ordered);
            let keys = KeyEncoder::new(&schema, &positions);
            let stored = reader.stored_groups(newer).await?;
            windows = stored.windows().collect();
            let keys = keys.map_err(|error| sort_error(STAGE)(error.into()))?;
            let ordered = AlignedSnapshot::of_same_types(newer, &ordered);
            groups = Some(RowGroups { stored, ordered, schema, keys, passed: 0 });
        }
        Ok(Self {
            newer: Arc::new(AlignedSnapshot::of_same_types(newer, columns)),
            schema: unchecked_schema(columns),
            reader,
            groups,
            windows,
            batches: None,
            cutting: Some(Cutting { rewinder, builder: BlockBuilder::new(BlockLimits::FILE) }),
            ready: VecDeque::new(),
        })
    }

    /// The version, part by part.
    pub(super) fn parts(self, workers: &Workers) -> PartStream<'_> {
        Box::pin(stream::try_unfold(self, move |rows| rows.next(workers)))
    }

    async fn next(mut self, workers: &Workers) -> Result<Option<(TablePart, Self)>, PublishError> {
        loop {
            if let Some(part) = self.ready.pop_front() {
                return Ok(Some((part, self)));
            }
            let Some(cutting) = self.cutting.take() else { return Ok(None) };
            let batch = match &mut self.batches {
                Some(batches) => batches.try_next().await?,
                None => None,
            };
            self.cutting = match batch {
                Some(batch) => self.rewind(workers, cutting, Some(batch)).await?,
                None => match self.windows.pop_front() {
                    Some(window) => Some(self.begin(workers, cutting, window).await?),
                    None => self.rewind(workers, cutting, None).await?,
                },
            };
        }
    }

    /// Takes in a batch of the newer version, or what follows all of them; returns `None` at the
    /// end of that.
    async fn rewind(
        &mut self,
        workers: &Workers,
        mut cutting: Cutting,
        batch: Option<RecordBatch>,
    ) -> Result<Option<Cutting>, PublishError> {
        let (newer, schema) = (Arc::clone(&self.newer), Arc::clone(&self.schema));
        let job = move || {
            let Cutting { rewinder, builder } = &mut cutting;
            let rows = match &batch {
                Some(batch) => Some(rewinder.rewind(&newer.align(batch, schema)?)?),
                None => rewinder.next_rest()?,
            };
            Ok(match rows {
                Some(rows) => (builder.push(&rows)?, Some(cutting)),
                None => (cutting.builder.finish()?.into_iter().collect(), None),
            })
        };
        let (blocks, cutting) =
            run_on_worker(workers, STAGE, job).await?.map_err(sort_error(STAGE))?;
        self.ready.extend(blocks.into_iter().map(TablePart::Block));
        Ok(cutting)
    }

    /// Copies the row group `window`, or begins to read it.
    async fn begin(
        &mut self,
        workers: &Workers,
        cutting: Cutting,
        window: Range<u64>,
    ) -> Result<Cutting, PublishError> {
        let (cutting, copied) = self.try_copy(workers, cutting, &window).await?;
        if let Some(groups) = &mut self.groups {
            groups.passed += 1;
        }
        if !copied {
            let scan = self.newer.scan_window(&self.reader, window).await?;
            self.batches = Some(scan.batches.boxed());
        }
        Ok(cutting)
    }

    /// Copies the row group `window` where it was one of the version too: no change falls into it,
    /// one began with its first row, and it ended with its last.
    async fn try_copy(
        &mut self,
        workers: &Workers,
        mut cutting: Cutting,
        window: &Range<u64>,
    ) -> Result<(Cutting, bool), PublishError> {
        let Some(groups) = &self.groups else { return Ok((cutting, false)) };
        // One that is not full ended where it did because of the row behind it.
        let is_full = window.end - window.start == GROUP_ROWS as u64;
        let behind = if is_full { window.end - 1 } else { window.end };
        let last = groups.key(&self.reader, behind).await?;
        let first = if cutting.builder.is_empty() {
            None
        } else {
            let schema = Arc::clone(&self.schema);
            read_row(&self.newer, &self.reader, window.start, schema).await?
        };
        let job = move || {
            let changes = cutting.rewinder.has_change_until(last.as_deref())?;
            if changes || first.is_some_and(|first| !cutting.builder.begins_group(&first)) {
                return Ok((cutting, None));
            }
            let ended = cutting.builder.end_group()?;
            Ok((cutting, Some(ended)))
        };
        let (cutting, ended) =
            run_on_worker(workers, STAGE, job).await?.map_err(sort_error(STAGE))?;
        let Some(ended) = ended else { return Ok((cutting, false)) };
        self.ready.extend(ended.map(TablePart::Block));
        self.ready.push_back(TablePart::Copy(groups.stored.read(groups.passed).await?));
        Ok((cutting, true))
    }
}

impl RowGroups {
    /// The place of `row` in the order; `None` behind the last row.
    async fn key(&self, reader: &Reader, row: u64) -> Result<Option<Vec<u8>>, PublishError> {
        let schema = Arc::clone(&self.schema);
        let Some(row) = read_row(&self.ordered, reader, row, schema).await? else {
            return Ok(None);
        };
        let key = encode(&self.keys, &row).map_err(|error| sort_error(STAGE)(error.into()))?;
        Ok(Some(key.row(0).as_ref().to_vec()))
    }
}

/// A row of `side`; `None` behind its last one.
async fn read_row(
    side: &AlignedSnapshot,
    reader: &Reader,
    row: u64,
    schema: SchemaRef,
) -> Result<Option<RecordBatch>, PublishError> {
    let mut rows = side.scan_window(reader, row..row + 1).await?.batches;
    let Some(row) = rows.try_next().await? else { return Ok(None) };
    let aligned = side.align(&row, schema);
    aligned.map(Some).map_err(|error| sort_error(STAGE)(error.into()))
}

/// Returns whether files of tables with these columns have their values alike. Bounds of geometry
/// stand beside them, and are not copied.
fn are_stored_alike(columns: &[Column], others: &[Column]) -> bool {
    let is_alike = |(one, other): (&Column, &Column)| {
        one.name == other.name
            && one.column_type == other.column_type
            && one.nullable == other.nullable
            && one.few_values == other.few_values
            && one.role != ColumnRole::Geometry
    };
    columns.len() == others.len() && columns.iter().zip(others).all(is_alike)
}
