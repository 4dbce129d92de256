//! Changes between versions of a dataset (contract-4-changes-law): which a client is to be sent
//! next, and how far it is then. The law: rows of snapshot A + changes(A→B) = rows of snapshot B.

mod query;

use std::collections::BTreeSet;
use std::ops::Range;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::{
    ChangeCounts, Column, CreditLine, DatasetName, LargestRevision, Millis, Snapshot, SnapshotId,
    StoredFile,
};

pub use query::{DEFAULT_LIMIT, parse_query};

/// Column of the kind of a change, in Delta's words.
pub const CHANGE_TYPE: &str = "_change_type";

/// Column of the snapshot that brought a change.
pub const SNAPSHOT_ID: &str = "_snapshot_id";

/// Column of the time of its commit, RFC 3339 with whole seconds.
pub const COMMITTED_AT: &str = "_committed_at";

/// Column of the time from which a row was published so. Tables of revisions alone have it.
pub const VALID_FROM: &str = "_valid_from";

/// Column of the time from which it was no longer; null: it still is.
pub const VALID_TO: &str = "_valid_to";

/// Column of the number of a row in the version that it stands in, from 0 on: the older one's for
/// rows that went or are what an update began with, the newer one's for rows that came; null for
/// what an update ended with, unless it may have moved the row. Files have it, responses do not.
pub const ROW: &str = "_row";

/// Key of the words of a file of changes by which it names the columns in which rows were revised,
/// as a JSON list.
pub const REVISED: &str = "yearbook.revised";

/// Bytes of the credits and licences of one response, past which it ends: they are headers, which
/// clients bound.
pub const MAX_CREDIT_BYTES: usize = 16 << 10;

/// Every change from one snapshot to the one that followed it, in a stored file: first the rows
/// that went away or are what an update began with, in the older snapshot's order, then those that
/// came or are what an update ended with, in the newer one's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChangeSet {
    /// Id of the older snapshot.
    pub from: SnapshotId,
    /// Id of the newer one.
    pub to: SnapshotId,
    /// Version of the newer one; the commit gives it, and before that it is 0.
    pub version: u64,
    /// Time of the newer one's commit.
    pub committed_at: Millis,
    /// Rows of the file.
    pub rows: u64,
    /// Numbers of rows by kind.
    pub counts: ChangeCounts,
    /// The value that was revised most. `None` if no number was, or if it is not known.
    #[serde(default)]
    pub largest_revision: Option<LargestRevision>,
    /// File that holds them.
    pub file: StoredFile,
    /// Columns of the newer snapshot, which are those of the file besides [`CHANGE_TYPE`] and
    /// [`ROW`]. A column that the older one did not have, or had with another type, is null in its
    /// rows.
    pub columns: Vec<Column>,
    /// Credit of the older snapshot.
    pub from_credit: CreditLine,
    /// Credit of the newer one.
    pub to_credit: CreditLine,
}

/// Versions that follow each other, with the same columns, and what changed from each to the next.
#[derive(Clone, Debug, PartialEq)]
pub struct HistorySegment {
    /// Number of the first version.
    pub first: u64,
    /// The last version; its file can be read.
    pub last: Snapshot,
    /// Changes from each version to the next, oldest first; none where there is one version.
    pub changes: Vec<ChangeSet>,
}

/// Progress of a client: before row `row` of set `set` of a history. Past the last set: it has
/// everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Watermark {
    /// Position of the set in the history.
    pub set: usize,
    /// First row not yet sent.
    pub row: u64,
}

/// Content of one response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangesPage {
    /// Rows of sets (by position), in order, none of them empty, all with the same columns.
    pub ranges: Vec<(usize, Range<u64>)>,
    /// Progress of the client afterwards.
    pub end: Watermark,
    /// True when changes remain.
    pub has_more: bool,
    /// True when the number of rows ended the page.
    pub row_limit_reached: bool,
}

/// Returns the watermark of a client that has the snapshot called `id`; `None` when `history`,
/// oldest first and without gaps, does not tell what followed it. Data may have gone back to what
/// it was: then the newest occurrence counts, since the rows are the same.
#[must_use]
pub fn watermark_after(history: &[ChangeSet], id: &SnapshotId) -> Option<Watermark> {
    if history.last().is_some_and(|last| last.to == *id) {
        return Some(Watermark { set: history.len(), row: 0 });
    }
    history.iter().rposition(|set| set.from == *id).map(|set| Watermark { set, row: 0 })
}

/// Returns the next `max_rows` rows from `start` on. A response has one schema, so it ends before a
/// snapshot with other columns: a client that goes on from there projects what it has on them. It
/// ends before a snapshot with which its credit has more than [`MAX_CREDIT_BYTES`], too, and
/// reaches one snapshot whatever that one's credit is.
#[must_use]
pub fn next_page(history: &[ChangeSet], start: Watermark, max_rows: u64) -> ChangesPage {
    let mut page =
        ChangesPage { ranges: Vec::new(), end: start, has_more: false, row_limit_reached: false };
    let mut left = max_rows;
    let mut credit = CreditTexts::default();
    while let Some(set) = history.get(page.end.set) {
        let is_first = page.end.set == start.set;
        if is_first {
            credit.add(&set.from_credit);
        }
        credit.add(&set.to_credit);
        let is_too_long = credit.bytes > MAX_CREDIT_BYTES && !is_first && page.end.row == 0;
        let remaining = page.end.row..set.rows;
        if remaining.is_empty() && !is_too_long {
            page.end = Watermark { set: page.end.set + 1, row: 0 };
            continue;
        }
        let begun = page.ranges.first().and_then(|(first, _)| history.get(*first));
        page.row_limit_reached = left == 0 && !remaining.is_empty();
        let has_other_columns = begun.is_some_and(|begun| !have_same_columns(begun, set));
        if page.row_limit_reached || is_too_long || has_other_columns {
            page.has_more = true;
            break;
        }
        let part = remaining.start..remaining.end.min(remaining.start.saturating_add(left));
        left -= part.end - part.start;
        page.end.row = part.end;
        page.ranges.push((page.end.set, part));
    }
    page
}

/// Returns the credit of what lies between `start` and `end`: of the snapshot at which `start`
/// stands and of each that is reached from there, empty changes included, since the client has that
/// snapshot's rows afterwards. Without a history it is `current`.
#[must_use]
pub fn credit_between(
    history: &[ChangeSet],
    start: Watermark,
    end: Watermark,
    current: &CreditLine,
) -> CreditLine {
    let past = end.set + usize::from(end.row > 0);
    let passed = history.get(start.set..past.min(history.len())).unwrap_or_default();
    let begun = match history.get(start.set) {
        Some(set) => &set.from_credit,
        None => history.last().map_or(current, |last| &last.to_credit),
    };
    let lines = std::iter::once(begun).chain(passed.iter().map(|set| &set.to_credit));
    CreditLine::join(&lines.cloned().collect::<Vec<_>>())
}

/// Distinct texts of credits, as [`credit_between`] joins them.
#[derive(Default)]
struct CreditTexts<'h> {
    attributions: BTreeSet<&'h str>,
    licences: BTreeSet<&'h str>,
    /// Bytes of all of them.
    bytes: usize,
}

impl<'h> CreditTexts<'h> {
    /// Adds those of `line` that are new.
    fn add(&mut self, line: &'h CreditLine) {
        if self.attributions.insert(&line.attribution) {
            self.bytes += line.attribution.len();
        }
        if self.licences.insert(&line.licence) {
            self.bytes += line.licence.len();
        }
    }
}

/// Returns the filters of a signed watermark of `dataset`, so that no cursor of `/data` and no
/// other dataset's watermark passes for one.
#[must_use]
pub fn watermark_fingerprint(dataset: &DatasetName) -> [u8; 16] {
    let mut short = [0; 16];
    short.copy_from_slice(&Sha256::digest(format!("changes {dataset}"))[..16]);
    short
}

/// Returns true when rows of both can stand in one table.
fn have_same_columns(left: &ChangeSet, right: &ChangeSet) -> bool {
    let shape = |column: &Column| (column.name.clone(), column.column_type);
    left.columns.iter().map(shape).eq(right.columns.iter().map(shape))
}

#[cfg(test)]
mod tests;
