//! A version of the past, made of a newer one: row groups whose rows all stayed beside each other
//! are copied as they are stored, but for columns in which numbers were revised. The rows of others
//! are read, and cut as publishing cut them.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, RecordBatch};
use arrow::compute::concat;
use futures::stream::BoxStream;
use futures::{StreamExt as _, TryStreamExt as _, stream};
use yearbook_domain::changes::HistorySegment;
use yearbook_domain::{Column, ColumnRole, ColumnType, Snapshot};
use yearbook_scan::schema::unchecked_schema;
use yearbook_scan::{Reader, StoredGroups};
use yearbook_sort::{BlockBuilder, BlockLimits, GROUP_ROWS, RowBlock, SortError};
use yearbook_storage::{ObjectStorage, StorageFailure};
use yearbook_workers::Workers;

use super::STAGE;
use super::old_rows::OldRows;
use super::row_map::Run;
use super::segment_changes::SegmentChanges;
use crate::diff::AlignedSnapshot;
use crate::error::PublishError;
use crate::publish::stages::{PartStream, TablePart, run_on_worker, sort_error};
use crate::write::CopiedGroup;

/// Rows that are put together at once.
const ROWS_AT_ONCE: u64 = 16_384;

/// Parts that are put together at once, while others are written: each holds a row group.
const AT_ONCE: usize = 2;

/// Rows of a version, made of those of a newer one.
pub(super) struct RewoundRows {
    reader: Reader,
    changes: SegmentChanges,
    newer: Arc<NewerVersion>,
    /// Rows of the version, and how many of them came before.
    rows: u64,
    passed: u64,
    /// The window that the next row is in; `None` before the first.
    window: Option<Arc<OldRows>>,
    /// Rows of the newer version that are being read, and the numbers of those to come.
    batches: Option<(RowStream, Range<u64>)>,
    /// The batch at hand: the number of its first row, and the row of the version up to which it
    /// leads.
    batch: Option<(RecordBatch, u64, u64)>,
    /// `None` at the end of all.
    builder: Option<BlockBuilder>,
    ready: VecDeque<Piece>,
}

/// Batches of rows that are read.
type RowStream = BoxStream<'static, Result<RecordBatch, StorageFailure>>;

/// A part of the version.
enum Piece {
    Block(RowBlock),
    Group(GroupToCopy),
}

/// A row group that has to be put together yet.
struct GroupToCopy {
    newer: Arc<NewerVersion>,
    stored: Arc<StoredGroups>,
    number: usize,
    rows: Range<u64>,
    /// The window, and the number of the first row in the older version, where rows were revised.
    revised: Option<(Arc<OldRows>, u64)>,
}

/// The version of which another one is made.
struct NewerVersion {
    snapshot: Snapshot,
    /// As the columns of the older one show it.
    aligned: AlignedSnapshot,
    /// Positions of the columns that were revised.
    revised: Vec<usize>,
    /// The rows of each row group, and these where they may be copied.
    groups: Option<(Vec<Range<u64>>, Arc<StoredGroups>)>,
}

impl RewoundRows {
    /// Opens the rows of `version`, the first one of `segment`, which is sorted by the columns in
    /// the positions `order`; what changed is held within `budget` bytes.
    pub(super) async fn open(
        reader: Reader,
        workers: &Arc<Workers>,
        (version, order): (&Snapshot, &[usize]),
        segment: &HistorySegment,
        budget: usize,
    ) -> Result<Self, PublishError> {
        let (columns, last) = (&version.columns, &segment.last);
        let changes =
            SegmentChanges::open(workers, &reader, (version, order), segment, budget).await?;
        let groups = if are_stored_alike(columns, &last.columns) {
            let stored = reader.stored_groups(last).await?;
            Some((stored.windows().collect(), Arc::new(stored)))
        } else {
            None
        };
        let newer = NewerVersion {
            snapshot: last.clone(),
            aligned: AlignedSnapshot::new(last, columns),
            revised: changes.revised().to_vec(),
            groups,
        };
        Ok(Self {
            reader,
            changes,
            newer: Arc::new(newer),
            rows: version.rows,
            passed: 0,
            window: None,
            batches: None,
            batch: None,
            builder: Some(BlockBuilder::new(BlockLimits::FILE)),
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
            let Some(builder) = self.builder.take() else { return Ok(None) };
            self.builder = self.advance(workers, builder).await?;
        }
    }

    /// Makes the next pieces; returns `None` at the end.
    async fn advance(
        &mut self,
        workers: &Workers,
        builder: BlockBuilder,
    ) -> Result<Option<BlockBuilder>, PublishError> {
        let window = match &self.window {
            Some(window) if self.passed < window.window.end || self.passed == self.rows => {
                Arc::clone(window)
            }
            _ => self.open_window().await?,
        };
        if let Some((batch, first, end)) = self.batch.take() {
            let until = end.min(self.passed + ROWS_AT_ONCE);
            let newer = Some((batch.clone(), first));
            let builder = self.push_rows(workers, builder, until, newer).await?;
            self.batch = (self.passed < end).then_some((batch, first, end));
            return Ok(Some(builder));
        }
        if let Some((batches, rest)) = &mut self.batches {
            let Some(batch) = batches.try_next().await? else {
                if !rest.is_empty() {
                    return Err(damaged_history(&self.newer.snapshot).into());
                }
                self.batches = None;
                return Ok(Some(builder));
            };
            let first = rest.start;
            rest.start += batch.num_rows() as u64;
            // Rows that went behind the last one come with what follows them.
            let end = window.map.older_end(rest.start).unwrap_or(self.passed);
            self.batch = Some((batch, first, end));
            return Ok(Some(builder));
        }
        if self.passed == self.rows {
            let last = run_on_worker(workers, STAGE, || builder.finish()).await?;
            self.ready.extend(last.map_err(sort_error(STAGE))?.map(Piece::Block));
            return Ok(None);
        }
        let next = window.map.next_run(self.passed);
        let end = window.window.end.min(self.passed + ROWS_AT_ONCE);
        let Some(run) = next.filter(|run| run.older < end) else {
            return self.push_rows(workers, builder, end, None).await.map(Some);
        };
        let builder = match self.find_group(&window, run) {
            Some(number) if run.older == self.passed => {
                let (builder, copied) = self.try_copy(workers, builder, &window, number).await?;
                if copied {
                    return Ok(Some(builder));
                }
                builder
            }
            _ => builder,
        };
        let end = window.map.newer_end().min(self.newer.group_end(run.newer));
        let rows = run.newer..end;
        if rows.is_empty() {
            return Err(damaged_history(&self.newer.snapshot).into());
        }
        let scan = self.newer.aligned.scan_window(&self.reader, rows.clone()).await?;
        self.batches = Some((scan.batches.boxed(), rows));
        Ok(Some(builder))
    }

    /// Reads the window that begins with the next row.
    async fn open_window(&mut self) -> Result<Arc<OldRows>, PublishError> {
        self.window = None;
        let window = self.changes.read(self.passed).await?;
        if !window.is_complete(self.newer.snapshot.rows) {
            return Err(damaged_history(&self.newer.snapshot).into());
        }
        let window = Arc::new(window);
        self.window = Some(Arc::clone(&window));
        Ok(window)
    }

    /// Puts the rows up to `end` together, those that stayed from `newer`.
    async fn push_rows(
        &mut self,
        workers: &Workers,
        mut builder: BlockBuilder,
        end: u64,
        newer: Option<(RecordBatch, u64)>,
    ) -> Result<BlockBuilder, PublishError> {
        let rows = self.passed..end.max(self.passed);
        let (Some(window), version) = (self.window.clone(), Arc::clone(&self.newer)) else {
            return Ok(builder);
        };
        self.passed = rows.end;
        if rows.is_empty() {
            return Ok(builder);
        }
        let job = move || {
            let align = |batch| version.aligned.align(&batch, Arc::clone(&window.schema));
            let newer = newer.map(|(batch, first)| Ok::<_, SortError>((align(batch)?, first)));
            let newer = newer.transpose()?;
            let newer = newer.as_ref().map(|(batch, first)| (batch, *first));
            let blocks = builder.push(&window.rows(rows, newer)?)?;
            Ok((blocks, builder))
        };
        let (blocks, builder) =
            run_on_worker(workers, STAGE, job).await?.map_err(sort_error(STAGE))?;
        self.ready.extend(blocks.into_iter().map(Piece::Block));
        Ok(builder)
    }

    /// The row group that begins with `run` and may be copied: all of its rows stayed, only numbers
    /// of them were revised, and it ended where it does.
    fn find_group(&self, window: &OldRows, run: Run) -> Option<usize> {
        let (groups, _) = self.newer.groups.as_ref()?;
        let number = groups.binary_search_by_key(&run.newer, |group| group.start).ok()?;
        let rows = groups[number].end - groups[number].start;
        let older = run.older..run.older + rows;
        // One that is not full ended there because of the row behind it.
        let with_next = match groups[number].end {
            _ if rows == GROUP_ROWS as u64 => older.clone(),
            end if end < self.newer.snapshot.rows => older.start..older.end + 1,
            _ if older.end == self.rows => older.clone(),
            _ => return None,
        };
        let stayed = rows > 0 && run.rows >= with_next.end - with_next.start;
        let have_same_sizes = self.newer.revises_numbers() || !window.is_revised(&with_next);
        (stayed && have_same_sizes).then_some(number)
    }

    /// Copies row group `number` where a row group of the version began with its first row.
    async fn try_copy(
        &mut self,
        workers: &Workers,
        mut builder: BlockBuilder,
        window: &Arc<OldRows>,
        number: usize,
    ) -> Result<(BlockBuilder, bool), PublishError> {
        let Some((groups, stored)) = &self.newer.groups else { return Ok((builder, false)) };
        let rows = groups[number].clone();
        if !builder.is_empty() {
            let aligned = &self.newer.aligned;
            let first = rows.start..rows.start + 1;
            let mut first = aligned.scan_window(&self.reader, first).await?.batches;
            let Some(first) = first.try_next().await? else { return Ok((builder, false)) };
            let first = aligned.align(&first, Arc::clone(&window.schema));
            let first = first.map_err(|error| sort_error(STAGE)(error.into()))?;
            if !builder.begins_group(&first) {
                return Ok((builder, false));
            }
            let end = move || Ok((builder.end_group()?, builder));
            let ended = run_on_worker(workers, STAGE, end).await?;
            let (ended, rest) = ended.map_err(sort_error(STAGE))?;
            self.ready.extend(ended.map(Piece::Block));
            builder = rest;
        }
        let older = self.passed..self.passed + (rows.end - rows.start);
        let revised = window.is_revised(&older).then(|| (Arc::clone(window), older.start));
        let (newer, stored) = (Arc::clone(&self.newer), Arc::clone(stored));
        self.passed = older.end;
        self.ready.push_back(Piece::Group(GroupToCopy { newer, stored, number, rows, revised }));
        Ok((builder, true))
    }
}

impl GroupToCopy {
    /// Reads it as it was.
    async fn copy(self, workers: &Workers, reader: &Reader) -> Result<CopiedGroup, PublishError> {
        let Self { newer, stored, number, rows, revised } = self;
        let revised = match revised {
            Some(revised) => newer.revise(workers, reader, rows, revised).await?,
            None => BTreeMap::new(),
        };
        let left_out: Vec<usize> = revised.keys().copied().collect();
        let group = stored.read(number, &left_out).await?;
        Ok(CopiedGroup { group, revised })
    }
}

impl NewerVersion {
    /// The end of the row group of row `row`; that of the table where row groups are not copied.
    fn group_end(&self, row: u64) -> u64 {
        let groups = self.groups.as_ref().map_or(&[][..], |(groups, _)| groups);
        let number = groups.partition_point(|group| group.end <= row);
        groups.get(number).map_or(self.snapshot.rows, |group| group.end)
    }

    /// Returns whether all that was revised are numbers and truth values, which have one size.
    fn revises_numbers(&self) -> bool {
        self.revised_columns()
            .all(|column| !matches!(column.column_type, ColumnType::String | ColumnType::Date))
    }

    fn revised_columns(&self) -> impl Iterator<Item = &Column> {
        self.revised.iter().filter_map(|position| self.snapshot.columns.get(*position))
    }

    /// The columns of `rows` that were revised, as they were, by position.
    async fn revise(
        &self,
        workers: &Workers,
        reader: &Reader,
        rows: Range<u64>,
        (window, mut number): (Arc<OldRows>, u64),
    ) -> Result<BTreeMap<usize, ArrayRef>, PublishError> {
        let columns: Vec<Column> = self.revised_columns().cloned().collect();
        let side = Arc::new(AlignedSnapshot::new(&self.snapshot, &columns));
        let schema = unchecked_schema(&columns);
        let mut batches = side.scan_window(reader, rows).await?.batches;
        let mut parts: Vec<Vec<ArrayRef>> = Vec::new();
        while let Some(batch) = batches.try_next().await? {
            let (side, schema, window) =
                (Arc::clone(&side), Arc::clone(&schema), Arc::clone(&window));
            let first = number;
            number += batch.num_rows() as u64;
            let job = move || {
                let now = side.align(&batch, schema)?.columns().to_vec();
                Ok::<_, SortError>(window.revise(now, first)?)
            };
            let then = run_on_worker(workers, STAGE, job).await?;
            parts.push(then.map_err(sort_error(STAGE))?);
        }
        let positions = self.revised.clone();
        let job = move || {
            let whole = positions.into_iter().enumerate().map(|(column, position)| {
                let parts = parts.iter().filter_map(|part| part.get(column));
                let parts: Vec<&dyn Array> = parts.map(AsRef::as_ref).collect();
                Ok((position, concat(&parts)?))
            });
            whole.collect::<Result<_, SortError>>()
        };
        run_on_worker(workers, STAGE, job).await?.map_err(sort_error(STAGE))
    }
}

/// The failure of a history that does not lead back to a version that was made of `newer`.
pub(super) fn damaged_history(newer: &Snapshot) -> StorageFailure {
    let why = "what changed since then does not lead back to the rows that it had";
    StorageFailure::damaged(&ObjectStorage::key(&newer.file), why)
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
