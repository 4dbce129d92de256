//! Events of rows, read from stored files: rows that went or came with a version, and rows
//! of the last version of a segment. Equal rows are brought together, in the order in which it
//! happened. Rows of the newest version to which nothing happened are told at once.

use std::collections::HashSet;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, BooleanArray, RecordBatch, UInt64Array};
use arrow::compute::filter_record_batch;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::error::ArrowError;
use yearbook_domain::Column;
use yearbook_domain::changes::{HistorySegment, ROW};
use yearbook_scan::Reader;
use yearbook_scan::schema::{change_file_columns, unchecked_schema};
use yearbook_sort::{ExternalSorter, KeyEncoder, SortError, SortedRows};
use yearbook_storage::ObjectStorage;
use yearbook_workers::Workers;

use super::STAGE;
use super::dated_rows::{DatedRows, Life};
use super::stored_rows::{change_file, read};
use crate::diff::fingerprints::{halves, hash_rows};
use crate::error::PublishError;
use crate::memory_budget::PublishMemory;
use crate::publish::stages::{run_on_worker, sort_error};

/// Columns behind those of the rows: the upper and the lower half of the row's hash, and what
/// happened. No stored column has such a name.
pub(super) const NAMES: [&str; 3] = ["#high", "#low", "#event"];

/// Bytes that a hash takes in the set of those that changed, about.
const HASH_BYTES: usize = 40;

/// Something that happened to a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Event {
    /// It was no longer there in this version.
    Went(u64),
    /// It was there until this version, with which other columns begin.
    Ended(u64),
    /// It was new in this version.
    Came(u64),
    /// It is there in the newest version.
    Lasts,
}

impl Event {
    /// A number that sorts as events happen: of one version, rows go before others come.
    fn encode(self) -> u64 {
        match self {
            Self::Went(version) => version * 4,
            Self::Ended(version) => version * 4 + 1,
            Self::Came(version) => version * 4 + 2,
            Self::Lasts => u64::MAX,
        }
    }

    /// The numbers of `events` as a column.
    fn encode_all(events: &[Self]) -> ArrayRef {
        Arc::new(UInt64Array::from_iter_values(events.iter().map(|event| event.encode())))
    }

    /// The opposite of [`Event::encode`].
    pub(super) fn decode(number: u64) -> Self {
        match (number, number % 4) {
            (u64::MAX, _) => Self::Lasts,
            (_, 0) => Self::Went(number / 4),
            (_, 1) => Self::Ended(number / 4),
            _ => Self::Came(number / 4),
        }
    }
}

/// Collects what happened to rows with `columns`.
pub(super) struct EventCollector {
    hasher: KeyEncoder,
    /// The columns of a row and [`NAMES`].
    schema: SchemaRef,
    sorter: ExternalSorter,
    /// Hashes of the rows to which something happened; `None` where there are too many, so that
    /// every row is sorted.
    touched: Option<HashSet<u128>>,
    most_touched: usize,
    /// Taker of rows to which nothing happened.
    sink: DatedRows,
}

/// Rows with what happened to them: equal rows together, oldest event first. The columns behind
/// those of the rows are [`NAMES`].
pub(super) struct SortedEvents {
    pub(super) rows: SortedRows,
    pub(super) sink: DatedRows,
}

/// Reads everything that happened in `segments`, within half of the memory. Rows of the newest
/// version to which nothing happened go to `sink`, in their order.
pub(super) async fn collect(
    memory: PublishMemory,
    files: &ObjectStorage,
    workers: &Arc<Workers>,
    columns: &[Column],
    segments: &[HistorySegment],
    sink: DatedRows,
) -> Result<SortedEvents, PublishError> {
    let reader = Reader::new(files.clone(), Arc::clone(workers));
    let mut collector = EventCollector::new(columns, memory, sink).map_err(sort_error(STAGE))?;
    // Rows outlive changes of columns, so all of each last version count.
    if segments.len() > 1 {
        collector.touched = None;
    }
    for segment in segments {
        collector = read_changes(workers, &reader, columns, segment, collector).await?;
    }
    let next = segments.iter().skip(1).map(|next| Event::Ended(next.first));
    for (segment, event) in segments.iter().zip(next.chain([Event::Lasts])) {
        let take = move |collector: &mut EventCollector, rows: &RecordBatch| {
            collector.take_last(rows, event)
        };
        let file = (&segment.last, 0..segment.last.rows);
        collector = read(workers, &reader, file, columns, collector, take).await?;
    }
    let EventCollector { sorter, sink, .. } = collector;
    let rows = run_on_worker(workers, STAGE, move || sorter.finish()).await?;
    Ok(SortedEvents { rows: rows.map_err(sort_error(STAGE))?, sink })
}

/// Reads the rows of all changes of `segment`, as `columns` show them.
async fn read_changes(
    workers: &Arc<Workers>,
    reader: &Reader,
    columns: &[Column],
    segment: &HistorySegment,
    mut collector: EventCollector,
) -> Result<EventCollector, PublishError> {
    let width = columns.len();
    let mut target = change_file_columns(columns);
    target.retain(|column| column.name != ROW);
    for set in &segment.changes {
        let version = set.version;
        let take = move |collector: &mut EventCollector, rows: &RecordBatch| {
            let events = events_of_changes(rows, width, version)?;
            collector.take_changes(&rows.project(&(0..width).collect::<Vec<_>>())?, &events)
        };
        let file = change_file(&segment.last, set);
        collector = read(workers, reader, (&file, 0..set.rows), &target, collector, take).await?;
    }
    Ok(collector)
}

/// The events of rows of a file of changes that lead to `version`; their kind stands behind their
/// `columns`.
fn events_of_changes(
    rows: &RecordBatch,
    columns: usize,
    version: u64,
) -> Result<Vec<Event>, ArrowError> {
    let kinds = rows.columns().get(columns).and_then(|kinds| kinds.as_string_opt::<i32>());
    let kinds = kinds.ok_or_else(|| ArrowError::SchemaError("a change has no kind".to_owned()))?;
    let event = |kind: Option<&str>| match kind {
        Some("delete" | "update_preimage") => Event::Went(version),
        _ => Event::Came(version),
    };
    Ok(kinds.iter().map(event).collect())
}

impl EventCollector {
    fn new(columns: &[Column], memory: PublishMemory, sink: DatedRows) -> Result<Self, SortError> {
        let rows = unchecked_schema(columns);
        let all: Vec<usize> = (0..columns.len()).collect();
        let fields = NAMES.map(|name| Arc::new(Field::new(name, DataType::UInt64, false)));
        let schema: SchemaRef =
            Arc::new(Schema::new(rows.fields().iter().cloned().chain(fields).collect::<Vec<_>>()));
        let sorted_by: Vec<usize> = (columns.len()..schema.fields().len()).collect();
        let budget = memory.table_bytes() / 2;
        Ok(Self {
            hasher: KeyEncoder::new(&rows, &all)?,
            sorter: ExternalSorter::new(Arc::clone(&schema), &sorted_by, budget)?,
            schema,
            touched: Some(HashSet::new()),
            most_touched: memory.key_bytes() / HASH_BYTES,
            sink,
        })
    }

    /// Takes in rows that changed.
    fn take_changes(&mut self, rows: &RecordBatch, events: &[Event]) -> Result<(), SortError> {
        let hashes = hash_rows(&self.hasher, rows)?;
        if let Some(touched) = &mut self.touched {
            touched.extend(&hashes);
            if touched.len() > self.most_touched {
                self.touched = None;
            }
        }
        self.push(rows, &hashes, events)
    }

    /// Takes in rows of the last version of a segment.
    fn take_last(&mut self, rows: &RecordBatch, event: Event) -> Result<(), SortError> {
        let hashes = hash_rows(&self.hasher, rows)?;
        let Some(touched) = &self.touched else {
            return self.push(rows, &hashes, &vec![event; hashes.len()]);
        };
        let is_touched: Vec<bool> = hashes.iter().map(|hash| touched.contains(hash)).collect();
        let others = BooleanArray::from_iter(is_touched.iter().map(|touched| Some(!touched)));
        let untouched = filter_record_batch(rows, &others)?;
        if untouched.num_rows() > 0 {
            let lives = vec![Life { from: None, to: None }; untouched.num_rows()];
            self.sink.take(&untouched, &lives)?;
        }
        if untouched.num_rows() == rows.num_rows() {
            return Ok(());
        }
        let rows = filter_record_batch(rows, &BooleanArray::from(is_touched.clone()))?;
        let hashes: Vec<u128> = hashes
            .into_iter()
            .zip(is_touched)
            .filter_map(|(hash, found)| found.then_some(hash))
            .collect();
        self.push(&rows, &hashes, &vec![event; hashes.len()])
    }

    fn push(
        &mut self,
        rows: &RecordBatch,
        hashes: &[u128],
        events: &[Event],
    ) -> Result<(), SortError> {
        if rows.num_rows() == 0 {
            return Ok(());
        }
        let [high, low] = halves(hashes);
        let behind = [high, low, Event::encode_all(events)];
        let columns = rows.columns().iter().cloned().chain(behind).collect();
        self.sorter.add(RecordBatch::try_new(Arc::clone(&self.schema), columns)?)
    }
}
