//! Changes of a segment, read from its files, oldest first. Files number their rows, so nothing is
//! sorted, and of a row that was revised many times one is kept: the first.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{BooleanBufferBuilder, RecordBatch};
use arrow::error::ArrowError;
use futures::{StreamExt as _, TryStreamExt as _, stream};
use yearbook_domain::changes::{ChangeSet, HistorySegment, REVISED};
use yearbook_domain::{Column, Snapshot};
use yearbook_scan::Reader;
use yearbook_scan::schema::unchecked_schema;
use yearbook_sort::SortError;
use yearbook_workers::Workers;

use super::STAGE;
use super::change_columns::{kinds, numbered, row_numbers};
use super::old_rows::{OldRowBatch, OldRows, place};
use super::row_map::RowMap;
use super::stored_rows::{change_file, read};
use crate::error::PublishError;
use crate::publish::stages::{run_on_worker, sort_error};

/// Files of changes that are opened at once.
const OPENED_AT_ONCE: usize = 8;

/// Everything that changed in a segment, as files of changes have it.
pub(super) struct SegmentChanges {
    reader: Reader,
    workers: Arc<Workers>,
    /// Columns of the old version.
    columns: Vec<Column>,
    /// Rows of the old version.
    rows: u64,
    /// The newer version.
    last: Snapshot,
    /// Files of changes, oldest first.
    sets: Vec<SetFile>,
    /// Positions of the columns in which rows were revised that stayed where they were.
    revised: Vec<usize>,
    /// Bytes of the rows of a window.
    budget: usize,
}

/// A file of changes.
struct SetFile {
    set: ChangeSet,
    /// Set where rows may have moved with their update, which then went and came.
    moves: bool,
}

/// The window in progress.
struct Collecting {
    rows: OldRows,
    /// A bit for each row of the window, set where it was revised.
    seen: BooleanBufferBuilder,
    /// Bytes of the rows that are held.
    bytes: usize,
}

/// A row of the version before in a file of changes.
struct ChangedRow {
    number: u64,
    /// Its number in the window, where it is a row of it.
    in_window: Option<u32>,
    /// Set where it went, clear where it was revised.
    went: bool,
}

/// Rows of a file of changes that went, of the version before.
#[derive(Default)]
struct GoneRows {
    /// Their numbers in that version.
    ranges: Vec<Range<u64>>,
    /// Places in the file around those in the window.
    places: Range<u64>,
    /// Rows of the file that were read.
    passed: u64,
}

impl SegmentChanges {
    /// Opens the changes of `segment`, which leads to `version`, sorted by the columns in the
    /// positions `order`. The rows of a window are held within `budget` bytes.
    pub(super) async fn open(
        workers: &Arc<Workers>,
        reader: &Reader,
        (version, order): (&Snapshot, &[usize]),
        segment: &HistorySegment,
        budget: usize,
    ) -> Result<Self, PublishError> {
        let columns = version.columns.clone();
        let position = |name: &String| columns.iter().position(|column| column.name == *name);
        let opened = segment.changes.iter().map(|set| async {
            let words = reader.words(&change_file(&segment.last, set), REVISED).await?;
            let names = words.and_then(|words| serde_json::from_str::<Vec<String>>(&words).ok());
            let revised: Option<Vec<usize>> =
                names.map(|names| names.iter().filter_map(position).collect());
            // Of a file that does not say it every column may have been revised.
            let revised = revised.unwrap_or_else(|| (0..columns.len()).collect());
            let moves = revised.iter().any(|column| order.contains(column));
            Ok::<_, PublishError>((SetFile { set: set.clone(), moves }, revised))
        });
        let opened = stream::iter(opened.collect::<Vec<_>>()).buffered(OPENED_AT_ONCE);
        let opened: Vec<(SetFile, Vec<usize>)> = opened.try_collect().await?;
        let staying = opened.iter().filter(|(file, _)| !file.moves && file.set.counts.updated > 0);
        let mut revised: Vec<usize> =
            staying.flat_map(|(_, revised)| revised.iter().copied()).collect();
        revised.sort_unstable();
        revised.dedup();
        Ok(Self {
            reader: reader.clone(),
            workers: Arc::clone(workers),
            columns,
            rows: version.rows,
            last: segment.last.clone(),
            sets: opened.into_iter().map(|(set, _)| set).collect(),
            revised,
            budget,
        })
    }

    /// Positions of the columns in which rows were revised that stayed where they were.
    pub(super) fn revised(&self) -> &[usize] {
        &self.revised
    }

    /// Reads the rows from number `start` on, as many as there is room for.
    pub(super) async fn read(&self, start: u64) -> Result<OldRows, PublishError> {
        // Numbers in a window have four bytes.
        let window = start..self.rows.min(start.saturating_add(u32::MAX.into()));
        let mut state = Collecting::new(self, window);
        for file in &self.sets {
            let gone;
            (state, gone) = self.read_before(file, state).await?;
            state = self.read_gone(file, gone.places, state).await?;
            let came = self.read_came(file).await?;
            if gone.ranges.is_empty() && came.is_empty() {
                continue;
            }
            let budget = self.budget;
            let job = move || {
                state.rows.map.remove(&gone.ranges);
                state.rows.map.insert(&came);
                state.shrink(budget)?;
                Ok(state)
            };
            let moved = run_on_worker(&self.workers, STAGE, job).await?;
            state = moved.map_err(sort_error(STAGE))?;
        }
        Ok(state.rows)
    }

    /// Reads what rows were before they were revised, and which rows went.
    async fn read_before(
        &self,
        file: &SetFile,
        state: Collecting,
    ) -> Result<(Collecting, GoneRows), PublishError> {
        let went = file.went();
        let revised = self.revised.iter().filter_map(|position| self.columns.get(*position));
        let target = numbered(revised.filter(|_| went != Some(true)), went.is_none());
        let budget = self.budget;
        let take = move |(state, gone): &mut (Collecting, GoneRows), rows: &RecordBatch| {
            state.take_before(rows, went, gone)?;
            Ok(state.shrink(budget)?)
        };
        let counts = &file.set.counts;
        let window = 0..counts.deleted + counts.updated;
        self.scan(file, window, &target, (state, GoneRows::default()), take).await
    }

    /// Reads the rows that went, which stand in `places` of the file.
    async fn read_gone(
        &self,
        file: &SetFile,
        places: Range<u64>,
        state: Collecting,
    ) -> Result<Collecting, PublishError> {
        let (went, budget) = (file.went(), self.budget);
        let target = numbered(self.columns.iter(), went.is_none());
        let take = move |state: &mut Collecting, rows: &RecordBatch| {
            state.take_gone(rows, went)?;
            Ok(state.shrink(budget)?)
        };
        self.scan(file, places, &target, state, take).await
    }

    /// Reads which rows came, by their numbers in the version after.
    async fn read_came(&self, file: &SetFile) -> Result<Vec<Range<u64>>, PublishError> {
        let counts = &file.set.counts;
        if counts.inserted == 0 && !file.moves {
            return Ok(Vec::new());
        }
        let all = file.moves || counts.updated == 0;
        let target = numbered(std::iter::empty(), !all);
        let take = move |ranges: &mut Vec<Range<u64>>, rows: &RecordBatch| {
            let (numbers, kinds) = (row_numbers(rows)?, kinds(rows));
            for (row, number) in numbers.into_iter().enumerate() {
                if all || kinds.is_some_and(|kinds| kinds.value(row) == "insert") {
                    add_number(ranges, number);
                }
            }
            Ok(())
        };
        let window = counts.deleted + counts.updated..file.set.rows;
        self.scan(file, window, &target, Vec::new(), take).await
    }

    async fn scan<T: Send + 'static>(
        &self,
        file: &SetFile,
        window: Range<u64>,
        target: &[Column],
        state: T,
        take: impl Fn(&mut T, &RecordBatch) -> Result<(), SortError> + Send + Sync + 'static,
    ) -> Result<T, PublishError> {
        if window.is_empty() {
            return Ok(state);
        }
        let file = change_file(&self.last, &file.set);
        read(&self.workers, &self.reader, (&file, window), target, state, take).await
    }
}

impl SetFile {
    /// Fate of the rows that stand first in the file: true where they went, `None` where their kind
    /// says it of each.
    fn went(&self) -> Option<bool> {
        match (self.moves, self.set.counts.updated, self.set.counts.deleted) {
            (true, ..) | (_, 0, _) => Some(true),
            (_, _, 0) => Some(false),
            _ => None,
        }
    }
}

impl Collecting {
    fn new(changes: &SegmentChanges, window: Range<u64>) -> Self {
        let rows = place(window.end - window.start);
        let mut seen = BooleanBufferBuilder::new(rows);
        seen.append_n(rows, false);
        Self {
            rows: OldRows {
                map: RowMap::of_rows(window.clone()),
                window,
                schema: unchecked_schema(&changes.columns),
                revised: changes.revised.clone(),
                revisions: Vec::new(),
                gone: Vec::new(),
            },
            seen,
            bytes: 0,
        }
    }

    /// Takes in rows of the version before: what those were that were revised, and which went.
    fn take_before(
        &mut self,
        rows: &RecordBatch,
        went: Option<bool>,
        gone: &mut GoneRows,
    ) -> Result<(), SortError> {
        let (mut numbers, mut places) = (Vec::new(), Vec::new());
        for (place, change) in self.changes(rows, went)?.into_iter().enumerate() {
            if change.went {
                add_number(&mut gone.ranges, change.number);
                if change.in_window.is_some() {
                    let place = gone.passed + place as u64;
                    let first = if gone.places.is_empty() { place } else { gone.places.start };
                    gone.places = first..place + 1;
                }
            } else if let Some(number) = change.in_window
                && !self.seen.get_bit(number as usize)
            {
                self.seen.set_bit(number as usize, true);
                numbers.push(number);
                places.push(place);
            }
        }
        gone.passed += rows.num_rows() as u64;
        let width = self.rows.revised.len();
        self.bytes += hold(&mut self.rows.revisions, (rows, width), places, numbers)?;
        Ok(())
    }

    /// Takes in rows of the version before of which some went.
    fn take_gone(&mut self, rows: &RecordBatch, went: Option<bool>) -> Result<(), SortError> {
        let changes = self.changes(rows, went)?.into_iter().enumerate();
        let gone = changes.filter(|(_, change)| change.went);
        let (places, numbers) =
            gone.filter_map(|(place, change)| Some((place, change.in_window?))).unzip();
        let width = self.rows.schema.fields().len();
        self.bytes += hold(&mut self.rows.gone, (rows, width), places, numbers)?;
        Ok(())
    }

    /// The rows of a batch, of the version before, which went where `went` is true, or where their
    /// kind says so.
    fn changes(
        &self,
        rows: &RecordBatch,
        went: Option<bool>,
    ) -> Result<Vec<ChangedRow>, ArrowError> {
        let (numbers, kinds) = (row_numbers(rows)?, kinds(rows));
        if !numbers.is_sorted_by(|one, next| one < next) {
            return Err(ArrowError::ComputeError("changes are not in order".to_owned()));
        }
        let mut finder = self.rows.map.finder(numbers.first().copied().unwrap_or(0));
        let change = |(row, number): (usize, u64)| {
            let older = finder.find(number).map(|older| older - self.rows.window.start);
            let is_deleted = || kinds.is_some_and(|kinds| kinds.value(row) == "delete");
            ChangedRow {
                number,
                in_window: older.and_then(|older| u32::try_from(older).ok()),
                went: went.unwrap_or_else(is_deleted),
            }
        };
        Ok(numbers.into_iter().enumerate().map(change).collect())
    }

    /// Ends the window earlier where it holds more than `budget` bytes: with about half of them.
    fn shrink(&mut self, budget: usize) -> Result<(), ArrowError> {
        let OldRows { window, map, revisions, gone, .. } = &mut self.rows;
        if self.bytes + map.bytes() <= budget || window.end - window.start < 2 {
            return Ok(());
        }
        let all = revisions.iter().chain(&*gone);
        let mut starts: Vec<(u32, usize)> =
            all.map(|rows| (rows.numbers[0], rows.bytes())).collect();
        starts.sort_unstable();
        let mut left = self.bytes / 2;
        let middle = starts.iter().find(|(_, bytes)| {
            let is_behind = *bytes > left;
            left = left.saturating_sub(*bytes);
            is_behind
        });
        let end = middle.map(|(start, _)| u64::from(*start)).filter(|start| *start > 0);
        let end = end.unwrap_or((window.end - window.start) / 2);
        window.end = window.start + end;
        map.truncate(window.end);
        self.bytes = 0;
        for rows in [revisions, gone] {
            for mut some in std::mem::take(rows) {
                if some.truncate(end)? {
                    self.bytes += some.bytes();
                    rows.push(some);
                }
            }
        }
        Ok(())
    }
}

/// Adds the rows in `places` of a batch, as many columns of it, to those that are held; returns
/// their bytes.
fn hold(
    held: &mut Vec<OldRowBatch>,
    (rows, width): (&RecordBatch, usize),
    places: Vec<usize>,
    numbers: Vec<u32>,
) -> Result<usize, ArrowError> {
    if numbers.is_empty() {
        return Ok(0);
    }
    let columns = rows.project(&(0..width).collect::<Vec<_>>())?;
    let rows = OldRowBatch::take(&columns, places, numbers)?;
    let bytes = rows.bytes();
    held.push(rows);
    Ok(bytes)
}

/// Adds a number behind those of `ranges`.
fn add_number(ranges: &mut Vec<Range<u64>>, number: u64) {
    match ranges.last_mut() {
        Some(last) if last.end == number => last.end = number.saturating_add(1),
        _ => ranges.push(number..number.saturating_add(1)),
    }
}
