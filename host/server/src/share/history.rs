//! Versions of a table: by number, by time, and with the changes between them
//! (contract-12-time-travel, contract-12-changes). A version that was dropped may still have its
//! changes.

mod version_times;

use std::ops::RangeInclusive;

use yearbook_domain::changes::ChangeSet;
use yearbook_domain::{Dataset, SnapshotSummary};

pub(super) use version_times::VersionTimes;

use super::ShareRefusal;
use crate::error::Error;
use crate::state::AppState;

/// The newest version.
///
/// # Errors
/// 500 for a dataset without snapshots, which the catalog does not have.
pub(super) fn newest(dataset: &Dataset) -> Result<&SnapshotSummary, Error> {
    let missing = || Error::internal("list versions", &"a dataset has no snapshot");
    dataset.snapshots.last().ok_or_else(missing)
}

/// The retained version with this number.
///
/// # Errors
/// 400 for a number beyond the newest, and for a version that is not kept any more.
pub(super) fn by_number(dataset: &Dataset, version: u64) -> Result<&SnapshotSummary, Error> {
    let newest = newest(dataset)?.version;
    if version > newest {
        let sentence = format!("There is no version {version} yet; the newest is {newest}.");
        return Err(ShareRefusal::InvalidParameter(sentence).into());
    }
    let found = dataset.snapshots.iter().find(|summary| summary.version == version);
    found.ok_or_else(|| version_gone(dataset, version).into())
}

fn version_gone(dataset: &Dataset, version: u64) -> ShareRefusal {
    let kept: Vec<String> =
        dataset.snapshots.iter().map(|summary| summary.version.to_string()).collect();
    ShareRefusal::VersionGone(format!(
        "Version {version} is not kept any more; read one of {}.",
        kept.join(", ")
    ))
}

/// Changes of a table, those of dropped versions included.
pub(super) struct TableHistory<'a> {
    dataset: &'a Dataset,
    /// Changes without a gap up to the newest version, oldest first.
    changes: Vec<ChangeSet>,
}

impl<'a> TableHistory<'a> {
    /// Reads the changes of `dataset`.
    ///
    /// # Errors
    /// 503 where the database does not answer.
    pub(super) async fn load(app: &AppState, dataset: &'a Dataset) -> Result<Self, Error> {
        let changes = app.catalog.changes(&dataset.name).await?;
        Ok(Self::new(dataset, changes))
    }

    fn new(dataset: &'a Dataset, mut changes: Vec<ChangeSet>) -> Self {
        let newest = dataset.snapshots.last().map_or(0, |summary| summary.version);
        // Read after `dataset`: another version may have come.
        changes.retain(|set| set.version <= newest);
        Self { dataset, changes }
    }

    /// Times of the versions that are retained or have changes.
    pub(super) fn times(&self) -> VersionTimes<'a> {
        VersionTimes::new(
            self.dataset,
            self.changes.iter().map(|set| (set.version, set.committed_at)),
        )
    }

    /// The changes that lead to each of `versions`, oldest first; version 0 has none: all of its
    /// rows are its changes.
    ///
    /// # Errors
    /// 400 for a range that is empty or goes beyond the newest version, and where the changes of a
    /// version are not known any more.
    pub(super) fn changes(&self, versions: &RangeInclusive<u64>) -> Result<&[ChangeSet], Error> {
        let (first, last) = (*versions.start(), *versions.end());
        let newest = newest(self.dataset)?.version;
        if first > last || last > newest {
            let sentence = format!(
                "The versions {first} to {last} are no range of this table; its newest version is {newest}."
            );
            return Err(ShareRefusal::InvalidParameter(sentence).into());
        }
        if first == 0 {
            by_number(self.dataset, 0)?;
        }
        let from = first.max(1);
        let oldest = self.changes.first().map_or(newest + 1, |set| set.version);
        if last >= from && from < oldest {
            let sentence = if oldest > newest {
                format!("It is not known what led to version {newest}; read it whole.")
            } else {
                format!(
                    "Changes are known from version {oldest} on; read version {} whole and go on from there.",
                    oldest - 1
                )
            };
            return Err(ShareRefusal::VersionGone(sentence).into());
        }
        let position = |version: u64| self.changes.partition_point(|set| set.version < version);
        Ok(&self.changes[position(from)..position(last + 1).max(position(from))])
    }
}

#[cfg(test)]
mod tests;
