//! Rows with the time from which and until which they were published so, as a table of revisions
//! has them.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, RecordBatch, StringArray};
use arrow::compute::filter_record_batch;
use arrow::datatypes::SchemaRef;
use yearbook_domain::Millis;
use yearbook_sort::{ExternalSorter, SortError};

/// Versions that a table of revisions tells of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RevisionRange {
    /// Rows that had gone with this version are left out.
    pub since: Option<u64>,
    /// Nothing that happened after this version is told.
    pub until: u64,
}

/// Versions in which a row was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Life {
    /// The first one; `None` where that is the oldest that is known.
    pub(super) from: Option<u64>,
    /// The first one without it; `None` where the newest has it.
    pub(super) to: Option<u64>,
}

/// Rows with their times.
pub(super) struct DatedRows {
    pub(super) sorter: ExternalSorter,
    pub(super) schema: SchemaRef,
    pub(super) times: BTreeMap<u64, Millis>,
    pub(super) range: RevisionRange,
}

impl DatedRows {
    /// Takes in rows, each with its life.
    pub(super) fn take(&mut self, rows: &RecordBatch, lives: &[Life]) -> Result<(), SortError> {
        let RevisionRange { since, until } = self.range;
        let is_told = |life: &Life| {
            let had_ended = life.to.is_some_and(|to| since.is_some_and(|since| to <= since));
            !had_ended && life.from.is_none_or(|from| from <= until)
        };
        let told = BooleanArray::from_iter(lives.iter().map(|life| Some(is_told(life))));
        let rows = filter_record_batch(rows, &told)?;
        let lives: Vec<Life> = lives.iter().copied().filter(is_told).collect();
        if lives.is_empty() {
            return Ok(());
        }
        let oldest = self.times.values().next();
        let text = |at: &Millis| at.to_rfc3339();
        let from = lives.iter().map(|life| match &life.from {
            Some(version) => self.times.get(version).map(text),
            None => oldest.map(text),
        });
        let from: ArrayRef = Arc::new(StringArray::from_iter(from));
        let ended = |life: &Life| life.to.filter(|to| *to <= until);
        let until =
            |life: &Life| ended(life).and_then(|version| self.times.get(&version)).map(text);
        let to: ArrayRef = Arc::new(StringArray::from_iter(lives.iter().map(until)));
        let columns = rows.columns().iter().cloned().chain([from, to]).collect();
        self.sorter.add(RecordBatch::try_new(Arc::clone(&self.schema), columns)?)
    }
}
