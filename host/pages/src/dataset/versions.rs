//! Versions of a dataset, newest first, with the number of rows that each changed
//! (contract-9-versions).

use askama::Template;
use yearbook_domain::{Dataset, SnapshotSummary};

use crate::credit_view::CreditView;
use crate::figures::{and_more, count};
use crate::version_changes::revision_sentence;
use crate::{Frame, Section, Site};

/// Versions on the page of a dataset; the others have a page of their own.
pub(super) const LISTED_VERSIONS: usize = 10;

/// Versions on their own page.
const MAX_VERSIONS: usize = 1_000;

/// `/datasets/{name}/versions`.
#[derive(Template)]
#[template(path = "versions.html")]
pub(super) struct VersionsPage<'a> {
    frame: Frame<'a>,
    dataset: &'a Dataset,
    title: &'a str,
    credit: CreditView<'a>,
    versions: VersionList<'a>,
}

/// Some versions, and a sentence about those that are not listed.
pub(super) struct VersionList<'a> {
    pub(super) lines: Vec<VersionLine<'a>>,
    /// True where one of them revised a value of the version before it.
    pub(super) has_revisions: bool,
    /// "and 12 more versions".
    pub(super) left_out: Option<String>,
}

/// One version.
pub(super) struct VersionLine<'a> {
    pub(super) id: &'a str,
    pub(super) date: String,
    pub(super) rows: String,
    pub(super) is_current: bool,
    /// None: what it changed is not known, as of the first.
    pub(super) changes: Option<VersionChanges>,
    /// The value that it revised most.
    pub(super) largest_revision: Option<String>,
}

/// Numbers of rows that a version changed.
pub(super) struct VersionChanges {
    pub(super) inserted: String,
    pub(super) deleted: String,
    pub(super) updated: String,
}

impl<'a> VersionsPage<'a> {
    pub(super) fn new(site: &'a Site, dataset: &'a Dataset) -> Self {
        let title = dataset.title();
        Self {
            frame: site.frame(title, Section::Datasets),
            dataset,
            title,
            credit: CreditView(&dataset.current.credit),
            versions: VersionList::new(dataset, MAX_VERSIONS),
        }
    }
}

impl<'a> VersionList<'a> {
    /// The newest `most` versions.
    pub(super) fn new(dataset: &'a Dataset, most: usize) -> Self {
        let line = |summary: &'a SnapshotSummary| VersionLine {
            id: summary.id.as_str(),
            date: summary.created_at.date().to_string(),
            rows: count(summary.rows),
            is_current: summary.id == dataset.current.id,
            changes: summary.changes.as_ref().map(|changes| VersionChanges {
                inserted: count(changes.inserted),
                deleted: count(changes.deleted),
                updated: count(changes.updated),
            }),
            largest_revision: summary.largest_revision.as_ref().map(revision_sentence),
        };
        let lines: Vec<VersionLine<'_>> =
            dataset.snapshots.iter().rev().take(most).map(line).collect();
        Self {
            has_revisions: lines.iter().any(|line| line.largest_revision.is_some()),
            lines,
            left_out: and_more(
                dataset.snapshots.len().saturating_sub(most) as u64,
                "version",
                "versions",
            ),
        }
    }
}
