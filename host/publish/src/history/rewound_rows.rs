//! A version of the past, made of a newer one: row groups into which no change falls are copied as
//! they are stored, and of those in which numbers were revised all other columns. The rows of other
//! row groups are read, rewound, and cut as publishing cut them.

use std::cmp::Ordering;
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, MutableArrayData, RecordBatch, make_array, make_comparator};
use arrow::compute::{SortOptions, concat};
use arrow::datatypes::SchemaRef;
use futures::stream::BoxStream;
use futures::{StreamExt as _, TryStreamExt as _, stream};
use yearbook_domain::{Column, ColumnRole, Snapshot};
use yearbook_scan::schema::unchecked_schema;
use yearbook_scan::{Reader, StoredGroups};
use yearbook_sort::{BlockBuilder, BlockLimits, GROUP_ROWS, KeyEncoder, RowBlock, SortError};
use yearbook_storage::StorageFailure;
use yearbook_workers::Workers;

use super::STAGE;
use super::rewind::{RevisedRows, Rewinder, SegmentChanges, encode};
use crate::diff::AlignedSnapshot;
use crate::error::PublishError;
use crate::publish::stages::{PartStream, TablePart, run_on_worker, sort_error};
use crate::write::CopiedGroup;

/// Rows of a version, made of those of a newer one.
pub(super) struct RewoundRows {
    reader: Reader,
    /// The newer version, as the older one's columns show it.
    newer: Arc<AlignedSnapshot>,
    schema: SchemaRef,
    /// Row groups of the newer version; `None` where they have to be read.
    groups: Option<Arc<RowGroups>>,
    /// Number of those that came before.
    passed: usize,
    /// Rows that are still to come, by row group where these may be copied.
    windows: VecDeque<Range<u64>>,
    /// Rows that are being read; `None` between two windows.
    batches: Option<BoxStream<'static, Result<RecordBatch, StorageFailure>>>,
    /// `None` at the end of all.
    cutting: Option<Cutting>,
    ready: VecDeque<Piece>,
}

/// A part of the version.
enum Piece {
    Block(RowBlock),
    Group(GroupToCopy),
}

/// A row group that has to be put together yet.
struct GroupToCopy {
    of: Arc<RowGroups>,
    number: usize,
    rows: Range<u64>,
    revised: Option<RevisedRows>,
}

/// Parts that are put together at once, while others are written: each holds a row group.
const AT_ONCE: usize = 2;

/// The version in progress.
struct Cutting {
    rewinder: Rewinder,
    builder: BlockBuilder,
}

/// Row groups of the newer version.
struct RowGroups {
    stored: StoredGroups,
    newer: Snapshot,
    /// Columns by which it is sorted, and their positions.
    order: Vec<Column>,
    positions: Vec<usize>,
    keys: KeyEncoder,
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
        let mut windows: VecDeque<_> = std::iter::once(0..newer.rows).collect();
        let mut groups = None;
        if are_stored_alike(columns, &newer.columns) {
            let positions = changes.order().to_vec();
            let order = positions.iter().filter_map(|at| columns.get(*at).cloned());
            let order: Vec<_> = order.collect();
            let first: Vec<usize> = (0..order.len()).collect();
            let keys = KeyEncoder::new(&unchecked_schema(&order), &first);
            let keys = keys.map_err(|error| sort_error(STAGE)(error.into()))?;
            let stored = reader.stored_groups(newer).await?;
            windows = stored.windows().collect();
            let newer = newer.clone();
            groups = Some(Arc::new(RowGroups { stored, newer, order, positions, keys }));
        }
        Ok(Self {
            newer: Arc::new(AlignedSnapshot::of_same_types(newer, columns)),
            schema: unchecked_schema(columns),
            reader,
            groups,
            passed: 0,
            windows,
            batches: None,
            cutting: Some(Cutting { rewinder, builder: BlockBuilder::new(BlockLimits::FILE) }),
            ready: VecDeque::new(),
        })
    }

    /// The version, part by part.
    pub(super) fn parts(self, workers: &Workers) -> PartStream<'_> {
        let reader = self.reader.clone();
        let pieces = stream::try_unfold(self, move |rows| rows.next(workers));
        let parts = pieces.map(move |piece| {
            let reader = reader.clone();
            async move {
                Ok(match piece? {
                    Piece::Block(block) => TablePart::Block(block),
                    Piece::Group(group) => TablePart::Copy(group.copy(workers, &reader).await?),
                })
            }
        });
        parts.buffered(AT_ONCE).boxed()
    }

    async fn next(mut self, workers: &Workers) -> Result<Option<(Piece, Self)>, PublishError> {
        loop {
            if let Some(piece) = self.ready.pop_front() {
                return Ok(Some((piece, self)));
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
        self.ready.extend(blocks.into_iter().map(Piece::Block));
        Ok(cutting)
    }

    /// Copies the row group `window`, or begins to read it.
    async fn begin(
        &mut self,
        workers: &Workers,
        cutting: Cutting,
        window: Range<u64>,
    ) -> Result<Cutting, PublishError> {
        let (cutting, copied) = self.try_copy(workers, cutting, window.clone()).await?;
        self.passed += 1;
        if !copied {
            let scan = self.newer.scan_window(&self.reader, window).await?;
            self.batches = Some(scan.batches.boxed());
        }
        Ok(cutting)
    }

    /// Copies the row group `window` where it was one of the version too: one began with its first
    /// row, it ended with its last, and nothing came or went in between. Columns that were revised
    /// are put together again.
    async fn try_copy(
        &mut self,
        workers: &Workers,
        mut cutting: Cutting,
        window: Range<u64>,
    ) -> Result<(Cutting, bool), PublishError> {
        let groups = self.groups.as_ref().filter(|_| !window.is_empty());
        let Some(groups) = groups else { return Ok((cutting, false)) };
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
            let Cutting { rewinder, builder } = &mut cutting;
            if first.is_some_and(|first| !builder.begins_group(&first)) {
                return Ok((cutting, None));
            }
            let mut revised = None;
            if rewinder.has_change_until(last.as_deref())? {
                revised = match &last {
                    Some(last) if is_full => rewinder.take_revised(last)?,
                    _ => None,
                };
                if revised.is_none() {
                    return Ok((cutting, None));
                }
            }
            let ended = builder.end_group()?;
            Ok((cutting, Some((ended, revised))))
        };
        let (cutting, copied) =
            run_on_worker(workers, STAGE, job).await?.map_err(sort_error(STAGE))?;
        let Some((ended, revised)) = copied else { return Ok((cutting, false)) };
        self.ready.extend(ended.map(Piece::Block));
        let of = Arc::clone(groups);
        let group = GroupToCopy { of, number: self.passed, rows: window, revised };
        self.ready.push_back(Piece::Group(group));
        Ok((cutting, true))
    }
}

impl GroupToCopy {
    /// Reads it as it was.
    async fn copy(self, workers: &Workers, reader: &Reader) -> Result<CopiedGroup, PublishError> {
        let Self { of, number, rows, revised } = self;
        let revised = match revised {
            Some(revised) if !revised.columns.is_empty() => {
                of.revise(workers, reader, rows, revised).await?
            }
            // What was revised has become again what it was.
            _ => BTreeMap::new(),
        };
        let left_out: Vec<usize> = revised.keys().copied().collect();
        let group = of.stored.read(number, &left_out).await?;
        Ok(CopiedGroup { group, revised })
    }
}

impl RowGroups {
    /// The place of `row` in the order; `None` behind the last row.
    async fn key(&self, reader: &Reader, row: u64) -> Result<Option<Vec<u8>>, PublishError> {
        let schema = unchecked_schema(&self.order);
        let ordered = AlignedSnapshot::of_same_types(&self.newer, &self.order);
        let Some(row) = read_row(&ordered, reader, row, schema).await? else { return Ok(None) };
        let key = encode(&self.keys, &row).map_err(|error| sort_error(STAGE)(error.into()))?;
        Ok(Some(key.row(0).as_ref().to_vec()))
    }

    /// The columns of the rows in `window` that were revised, as they were, by position.
    async fn revise(
        &self,
        workers: &Workers,
        reader: &Reader,
        window: Range<u64>,
        revised: RevisedRows,
    ) -> Result<BTreeMap<usize, ArrayRef>, PublishError> {
        let of_newer = |column: &usize| self.newer.columns.get(*column).cloned();
        let columns = self.order.iter().cloned();
        let columns: Vec<_> = columns.chain(revised.columns.iter().filter_map(of_newer)).collect();
        let side = Arc::new(AlignedSnapshot::of_same_types(&self.newer, &columns));
        let schema = unchecked_schema(&columns);
        let mut batches = side.scan_window(reader, window).await?.batches;
        let mut merge = RevisedColumns {
            order: self.positions.clone(),
            parts: vec![Vec::new(); revised.columns.len()],
            revised,
            next: 0,
        };
        while let Some(batch) = batches.try_next().await? {
            let (side, schema) = (Arc::clone(&side), Arc::clone(&schema));
            let job = move || merge.update(&side.align(&batch, schema)?).map(|()| merge);
            merge = run_on_worker(workers, STAGE, job).await?.map_err(sort_error(STAGE))?;
        }
        let job = move || merge.finish();
        run_on_worker(workers, STAGE, job).await?.map_err(sort_error(STAGE))
    }
}

/// Columns being put together of what they are and what they were.
struct RevisedColumns {
    /// Positions in the revised rows of the columns of the order, which come first in the batches.
    order: Vec<usize>,
    parts: Vec<Vec<ArrayRef>>,
    revised: RevisedRows,
    /// The revised row that comes next.
    next: usize,
}

impl RevisedColumns {
    fn update(&mut self, batch: &RecordBatch) -> Result<(), SortError> {
        let places = self.places(batch)?;
        for (at, position) in self.revised.columns.iter().enumerate() {
            let now = batch.column(self.order.len() + at).to_data();
            let then = self.revised.rows.column(*position).to_data();
            let mut joined = MutableArrayData::new(vec![&now, &then], false, now.len());
            let mut behind = 0;
            for (row, revised) in &places {
                joined.try_extend(0, behind, *row)?;
                joined.try_extend(1, *revised, revised + 1)?;
                behind = row + 1;
            }
            joined.try_extend(0, behind, now.len())?;
            self.parts[at].push(make_array(joined.freeze()));
        }
        Ok(())
    }

    /// Rows of a batch that were revised, each with its place among the revised ones: looked up,
    /// since encoding the keys of all rows takes longer than everything else.
    fn places(&mut self, batch: &RecordBatch) -> Result<Vec<(usize, usize)>, SortError> {
        let revised = &self.revised.rows;
        let columns = self.order.iter().enumerate().map(|(at, position)| {
            make_comparator(batch.column(at), revised.column(*position), SortOptions::default())
        });
        let columns = columns.collect::<Result<Vec<_>, _>>()?;
        let compare = |row: usize, revised: usize| {
            let unequal = columns.iter().map(|column| column(row, revised));
            unequal.fold(Ordering::Equal, Ordering::then)
        };
        let mut places = Vec::new();
        let mut from = 0;
        while self.next < revised.num_rows() {
            let (mut at, mut to) = (from, batch.num_rows());
            while at < to {
                let middle = at.midpoint(to);
                if compare(middle, self.next).is_lt() {
                    at = middle + 1;
                } else {
                    to = middle;
                }
            }
            if at == batch.num_rows() || compare(at, self.next).is_ne() {
                break;
            }
            places.push((at, self.next));
            (self.next, from) = (self.next + 1, at + 1);
        }
        Ok(places)
    }

    fn finish(self) -> Result<BTreeMap<usize, ArrayRef>, SortError> {
        let columns = self.revised.columns.into_iter().zip(&self.parts);
        let whole = |(position, parts): (usize, &Vec<ArrayRef>)| {
            let parts: Vec<&dyn Array> = parts.iter().map(AsRef::as_ref).collect();
            Ok((position, concat(&parts)?))
        };
        columns.map(whole).collect()
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
