//! Versions of a table: by number, by time, and with the changes between them
//! (contract-12-time-travel, contract-12-changes). A version that was dropped may still have its
//! changes.

mod version_times;

use std::ops::RangeInclusive;

use yearbook_catalog::ChangeRange;
use yearbook_domain::changes::ChangeSet;
use yearbook_domain::{Dataset, SnapshotSummary};
use yearbook_http::Error;

pub(super) use version_times::VersionTimes;

use super::ShareRefusal;
use crate::ShareState;

/// Versions that a refusal names at most, besides the newest.
const LISTED_VERSIONS: usize = 5;

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

/// The refusal of a version that was dropped, with the versions after it that are kept: the newest
/// always is.
fn version_gone(dataset: &Dataset, version: u64) -> ShareRefusal {
    let kept = dataset.snapshots.iter().map(|summary| summary.version);
    let later: Vec<String> =
        kept.filter(|kept| *kept > version).map(|kept| kept.to_string()).collect();
    let ways = match later.as_slice() {
        [only] => format!("version {only}"),
        [first @ .., newest] if first.len() >= LISTED_VERSIONS => {
            let listed = first[..LISTED_VERSIONS].join(", ");
            format!("one of {listed}, or a later one up to {newest}")
        }
        few => format!("one of {}", few.join(", ")),
    };
    ShareRefusal::VersionGone(format!("Version {version} is not kept any more; read {ways}."))
}

/// Reads the changes that lead to each of `versions`, oldest first, those of dropped versions
/// included. Version 0 has none: all of its rows are its changes.
///
/// # Errors
/// 400 for a range that is empty or goes beyond the newest version, and where the changes of a
/// version are not known any more; 503 where the database does not answer.
pub(super) async fn read_changes(
    app: &ShareState,
    dataset: &Dataset,
    versions: &RangeInclusive<u64>,
) -> Result<Vec<ChangeSet>, Error> {
    let stored = stored_versions(dataset, versions)?;
    if stored.is_empty() {
        return Ok(Vec::new());
    }
    let newest = newest(dataset)?.version;
    app.core.catalog_cache.settled().await?;
    match app.core.catalog.change_range(&dataset.name, stored, newest).await? {
        ChangeRange::Known(sets) => Ok(sets),
        ChangeRange::KnownFrom(oldest) => Err(changes_gone(oldest, newest).into()),
    }
}

/// Returns the part of `versions` that has stored changes.
///
/// # Errors
/// 400 for a range that is empty or goes beyond the newest version, and for one that begins with
/// version 0 where that is not kept any more.
fn stored_versions(
    dataset: &Dataset,
    versions: &RangeInclusive<u64>,
) -> Result<RangeInclusive<u64>, Error> {
    let (first, last) = (*versions.start(), *versions.end());
    let newest = newest(dataset)?.version;
    if first > last || last > newest {
        let sentence = format!(
            "The versions {first} to {last} are no range of this table; its newest version is {newest}."
        );
        return Err(ShareRefusal::InvalidParameter(sentence).into());
    }
    if first == 0 {
        by_number(dataset, 0)?;
    }
    Ok(first.max(1)..=last)
}

/// The refusal of changes that are known from version `oldest` on; beyond `newest`: not at all.
fn changes_gone(oldest: u64, newest: u64) -> ShareRefusal {
    ShareRefusal::VersionGone(if oldest > newest {
        format!("It is not known what led to version {newest}; read it whole.")
    } else {
        format!(
            "Changes are known from version {oldest} on; read version {} whole and go on from there.",
            oldest - 1
        )
    })
}

#[cfg(test)]
mod tests;
