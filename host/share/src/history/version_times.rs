//! Times of a table's versions: the version that was the newest at an instant, and the first one
//! from an instant on (contract-12-time-travel). Memory has those of retained versions; those of
//! dropped ones are read where an instant lies between two versions that do not follow each other.

use std::collections::BTreeMap;
use std::ops::Range;

use yearbook_domain::{Dataset, Millis, SnapshotSummary};
use yearbook_http::Error;

use super::{by_number, newest, version_gone};
use crate::ShareRefusal;
use crate::ShareState;

/// Times of the versions of a table that are known.
pub(crate) struct VersionTimes<'a> {
    dataset: &'a Dataset,
    times: BTreeMap<u64, Millis>,
}

impl<'a> VersionTimes<'a> {
    /// Returns what has to be known about the instant `at`.
    ///
    /// # Errors
    /// 503 where the database is asked and does not answer.
    pub(crate) async fn around(
        app: &ShareState,
        dataset: &'a Dataset,
        at: Millis,
    ) -> Result<Self, Error> {
        let mut known = Self::new(dataset, []);
        if let Some(dropped) = known.dropped_around(at) {
            known.times.extend(app.core.catalog.commit_times(&dataset.name, dropped).await?);
        }
        Ok(known)
    }

    /// With versions that are not retained, or need not be.
    pub(super) fn new(
        dataset: &'a Dataset,
        others: impl IntoIterator<Item = (u64, Millis)>,
    ) -> Self {
        let mut times: BTreeMap<u64, Millis> = others.into_iter().collect();
        times.extend(dataset.snapshots.iter().map(|summary| (summary.version, summary.created_at)));
        Self { dataset, times }
    }

    /// Versions without a known time of which one may have been the newest at `at`.
    pub(super) fn dropped_around(&self, at: Millis) -> Option<Range<u64>> {
        let (version, time) = self.times.iter().rev().find(|(_, time)| **time <= at)?;
        let (next, _) = self.times.range(version + 1..).next()?;
        (*time < at && *next != version + 1).then_some(version + 1..*next)
    }

    /// The retained version that was the newest at `at`.
    ///
    /// # Errors
    /// As [`VersionTimes::newest_at`], and 400 where that version is not kept any more.
    pub(crate) fn retained_at(&self, at: Millis) -> Result<&'a SnapshotSummary, Error> {
        by_number(self.dataset, self.newest_at(at)?)
    }

    /// The version that was the newest at `at`, kept or not.
    ///
    /// # Errors
    /// 400 for a time after the newest version or before the first known one, and where it is not
    /// known which version it was.
    pub(crate) fn newest_at(&self, at: Millis) -> Result<u64, Error> {
        self.check_not_later(at)?;
        let found = self.times.iter().rev().find(|(_, time)| **time <= at);
        let Some((version, _)) = found else {
            let first = self.times.first_key_value();
            let first = first.map_or_else(String::new, |(_, time)| time.to_rfc3339());
            let sentence = format!("No version of that time is kept; the oldest is of {first}.");
            return Err(ShareRefusal::VersionGone(sentence).into());
        };
        // Between two versions that are kept, others may have come and gone.
        match self.dropped_around(at) {
            Some(dropped) => Err(version_gone(self.dataset, dropped.start).into()),
            None => Ok(*version),
        }
    }

    /// The first known version from `at` on.
    ///
    /// # Errors
    /// 400 for a time after the newest version.
    pub(crate) fn first_from(&self, at: Millis) -> Result<u64, Error> {
        self.check_not_later(at)?;
        let found = self.times.iter().find(|(_, time)| **time >= at).map(|(version, _)| *version);
        found.map_or_else(|| Ok(newest(self.dataset)?.version), Ok)
    }

    fn check_not_later(&self, at: Millis) -> Result<(), Error> {
        let newest = newest(self.dataset)?;
        if at <= newest.created_at {
            return Ok(());
        }
        let time = newest.created_at.to_rfc3339();
        let sentence = format!("The newest version is of {time}; ask for no later time.");
        Err(ShareRefusal::InvalidParameter(sentence).into())
    }
}
