//! Versions of a table: by number, by time, and with the changes between them
//! (contract-12-time-travel, contract-12-changes). A version that was dropped may still have its
//! changes.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use yearbook_domain::changes::ChangeSet;
use yearbook_domain::{Dataset, Millis, SnapshotSummary};

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

/// Everything that is known of the versions of a table, dropped ones included.
pub(super) struct TableHistory<'a> {
    dataset: &'a Dataset,
    /// Changes without a gap up to the newest version, oldest first.
    changes: Vec<ChangeSet>,
    /// Time of each known version.
    times: BTreeMap<u64, Millis>,
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
        let mut times: BTreeMap<u64, Millis> =
            changes.iter().map(|set| (set.version, set.committed_at)).collect();
        times.extend(dataset.snapshots.iter().map(|summary| (summary.version, summary.created_at)));
        Self { dataset, changes, times }
    }

    /// The version that was the newest at `at`.
    ///
    /// # Errors
    /// 400 for a time after the newest version or before the first known one, and where the version
    /// of that time is not kept any more.
    pub(super) fn at(&self, at: Millis) -> Result<&'a SnapshotSummary, Error> {
        let newest = newest(self.dataset)?;
        if at > newest.created_at {
            let time = newest.created_at.to_rfc3339();
            let sentence = format!("The newest version is of {time}; ask for no later time.");
            return Err(ShareRefusal::InvalidParameter(sentence).into());
        }
        let version = self.last_until(at)?;
        by_number(self.dataset, version)
    }

    /// The first known version from `at` on.
    ///
    /// # Errors
    /// 400 for a time after the newest version.
    pub(super) fn first_from(&self, at: Millis) -> Result<u64, Error> {
        let found = self.times.iter().find(|(_, time)| **time >= at).map(|(version, _)| *version);
        match found {
            Some(version) => Ok(version),
            None => {
                let time = newest(self.dataset)?.created_at.to_rfc3339();
                let sentence = format!("The newest version is of {time}; ask for no later time.");
                Err(ShareRefusal::InvalidParameter(sentence).into())
            }
        }
    }

    /// The last version until `at`.
    ///
    /// # Errors
    /// 400 for a time before the first known version, and where it is not known which version it
    /// was.
    pub(super) fn last_until(&self, at: Millis) -> Result<u64, Error> {
        let found = self.times.iter().rev().find(|(_, time)| **time <= at);
        let Some((version, time)) = found else {
            let first = self.times.first_key_value();
            let first = first.map_or_else(String::new, |(_, time)| time.to_rfc3339());
            let sentence = format!("No version of that time is kept; the oldest is of {first}.");
            return Err(ShareRefusal::VersionGone(sentence).into());
        };
        let next = self.times.range(version + 1..).next();
        // Between two versions that are kept, others may have come and gone.
        if *time < at && next.is_some_and(|(next, _)| *next != version + 1) {
            return Err(version_gone(self.dataset, version + 1).into());
        }
        Ok(*version)
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
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::sync::Arc;

    use yearbook_domain::credit::Credit;
    use yearbook_domain::{
        DatasetName, Digest, Namespace, Snapshot, SnapshotId, StoredFile, TableLayout,
    };

    use super::*;

    fn id(version: u64) -> SnapshotId {
        SnapshotId::from_digest(Digest::of(&version.to_le_bytes()))
    }

    /// A dataset that retains `kept`; version n is of n × 10 seconds.
    fn dataset(kept: &[u64]) -> Dataset {
        let file = StoredFile { sha256: Digest::of(b""), bytes: 1 };
        let newest = *kept.last().unwrap();
        let current = Snapshot {
            id: id(newest),
            created_at: time(newest),
            rows: 1,
            file,
            title: None,
            description: None,
            keywords: Vec::new(),
            credit: Credit {
                source: String::new(),
                attribution: String::new(),
                licence: String::new(),
                licence_title: None,
                licence_url: None,
                source_url: None,
                source_url_precision: None,
                sources: Vec::new(),
            },
            refresh_cadence: None,
            bulk_redistribution: true,
            columns: Vec::new(),
            primary_key: Vec::new(),
            dimensions: Vec::new(),
            date_column: None,
            date_range: None,
            layout: TableLayout::Wide,
            bbox: None,
        };
        let summary = |version: &u64| SnapshotSummary {
            id: id(*version),
            version: *version,
            created_at: time(*version),
            rows: 1,
            changes: None,
            held: false,
        };
        Dataset {
            name: DatasetName::parse("cpi").unwrap(),
            namespace: Namespace::parse("prices").unwrap(),
            checked_at: Millis(0),
            current: Arc::new(current),
            snapshots: kept.iter().map(summary).collect(),
        }
    }

    fn time(version: u64) -> Millis {
        Millis(i64::try_from(version).unwrap() * 10_000)
    }

    fn changes(versions: RangeInclusive<u64>) -> Vec<ChangeSet> {
        let set = |version: u64| ChangeSet {
            from: id(version - 1),
            to: id(version),
            version,
            committed_at: time(version),
            rows: 1,
            counts: None,
            file: StoredFile { sha256: Digest::of(&version.to_le_bytes()), bytes: 1 },
            columns: Vec::new(),
            from_credit: None,
            to_credit: None,
        };
        versions.map(set).collect()
    }

    #[test]
    fn a_time_names_the_version_that_was_newest_then_contract_12() {
        let dataset = dataset(&[1, 4, 5]);
        let history = TableHistory::new(&dataset, changes(2..=5));
        let at = |millis: i64| history.at(Millis(millis)).ok().map(|found| found.version);
        for (millis, expected) in [
            (9_999, None),
            (10_000, Some(1)),
            (19_999, Some(1)),
            // Version 2 and 3 were dropped, and nothing else was served then.
            (20_000, None),
            (39_999, None),
            (40_000, Some(4)),
            (50_000, Some(5)),
            (50_001, None),
        ] {
            assert_eq!(at(millis), expected, "{millis}");
        }
        // Without the changes nobody knows when version 2 came.
        let history = TableHistory::new(&dataset, Vec::new());
        assert!(history.at(Millis(10_000)).is_ok() && history.at(Millis(10_001)).is_err());
        assert_eq!(history.first_from(Millis(10_001)).ok(), Some(4));
        assert!(history.first_from(Millis(50_001)).is_err());
    }

    #[test]
    fn changes_are_those_of_both_ends_and_between_contract_12() {
        let dataset = dataset(&[0, 3]);
        let history = TableHistory::new(&dataset, changes(1..=3));
        let found = |versions: RangeInclusive<u64>| {
            let sets = history.changes(&versions).ok()?;
            Some(sets.iter().map(|set| set.version).collect::<Vec<_>>())
        };
        for (versions, expected) in [
            (0..=0, Some(vec![])),
            (0..=3, Some(vec![1, 2, 3])),
            (2..=3, Some(vec![2, 3])),
            (3..=3, Some(vec![3])),
            (3..=4, None),
            (4..=4, None),
        ] {
            assert_eq!(found(versions.clone()), expected, "{versions:?}");
        }
        let dropped = self::dataset(&[2, 3]);
        let history = TableHistory::new(&dropped, changes(3..=3));
        for versions in [0..=0, 0..=3, 1..=3, 2..=3, 2..=2] {
            assert!(history.changes(&versions).is_err(), "{versions:?}");
        }
        assert_eq!(history.changes(&(3..=3)).ok().map(<[ChangeSet]>::len), Some(1));
    }
}
