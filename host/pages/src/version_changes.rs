//! Changes that a version brought, in words that the page of versions, feeds and the calendar
//! share.

use yearbook_domain::{ChangeCounts, LargestRevision, SnapshotSummary};

use crate::figures::count;

/// Returns what a version changed of the one before it, without a full stop; `None` if that is not
/// known.
pub(crate) fn changes_sentence(version: &SnapshotSummary) -> Option<String> {
    let ChangeCounts { inserted, deleted, updated } = version.changes?;
    let counts = [(inserted, "inserted"), (deleted, "deleted"), (updated, "updated")];
    let counts = counts.map(|(rows, kind)| format!("{} {kind}", count(rows)));
    let largest = version.largest_revision.as_ref().map(revision_sentence);
    let largest = largest.map(|revision| format!("; largest revision: {revision}"));
    Some(counts.join(", ") + &largest.unwrap_or_default())
}

/// Returns a revision in words.
pub(crate) fn revision_sentence(revision: &LargestRevision) -> String {
    let LargestRevision { column, key, before, after } = revision;
    let row: Vec<&str> = key.iter().map(|(_, value)| value.as_str()).collect();
    format!("{column} of {} from {before} to {after}", row.join(", "))
}
