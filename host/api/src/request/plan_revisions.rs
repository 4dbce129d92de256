//! Plans of `/revisions` (contract-21-revisions): the table of all versions of the rows, made of
//! what publishing kept, is read as a snapshot is. Pages end with the version with which the first
//! one did. Never touches a stored row.

use std::collections::BTreeMap;
use std::sync::Arc;

use yearbook_catalog::{KnownHistory, clock};
use yearbook_domain::changes::MAX_CREDIT_BYTES;
use yearbook_domain::query::parse_since;
use yearbook_domain::{
    Credit, CreditLine, CursorSource, Dataset, Millis, Refusal, Snapshot, ValidationError,
};
use yearbook_http::{AuthenticatedCaller, Error};

use super::DataRequest;
use crate::ApiState;
use crate::response::plan::ResponsePlan;
use crate::state::HistoryKey;

/// Versions of one answer at most.
const MAX_VERSIONS: usize = 1_000;

const TOO_MANY_VERSIONS: Refusal = Refusal::TooManyVersions { limit: MAX_VERSIONS as u64 };

impl DataRequest {
    /// Plans the response with revisions of rows of `dataset`.
    ///
    /// # Errors
    /// Those of rows; 413 for too many versions, 503 while the table is being made.
    pub(super) async fn plan_revisions(
        &self,
        app: &ApiState,
        auth: &AuthenticatedCaller,
        dataset: &Dataset,
    ) -> Result<ResponsePlan, Error> {
        let revised = Box::pin(self.revised_dataset(app, dataset)).await?;
        self.plan_rows(app, auth, &revised).await
    }

    /// The dataset with the table of its revisions as its current version.
    async fn revised_dataset(&self, app: &ApiState, dataset: &Dataset) -> Result<Dataset, Error> {
        let since = parse_since(&self.pairs, clock::now()).map_err(Error::invalid_parameter)?;
        // One that is none is told with everything else that is wrong.
        let begun = self.cursor_position(app).ok().flatten().map(|position| position.source);
        let listed = dataset.snapshots.last().map_or(0, |newest| newest.version);
        let newest = match begun {
            // Another host may have sent it that knew a newer version than the list in memory.
            Some(CursorSource::Revisions { version, .. }) => version.max(listed),
            _ => listed,
        };
        let key = (dataset.name.clone(), newest);
        let times = version_times(app, key.clone()).await?;
        let oldest = times.first_key_value().map(|(version, at)| (*version, *at));
        let gone = || Refusal::NoSuchDataset { name: dataset.name.to_string() };
        let (oldest, oldest_time) = oldest.ok_or_else(gone)?;
        let version = match begun {
            Some(CursorSource::Revisions { version, oldest: begun, .. }) => {
                // Rows of then cannot be told any more.
                if begun != oldest || !times.contains_key(&version) {
                    return Err(Refusal::HistoryGone { oldest: oldest_time }.into());
                }
                version
            }
            _ => newest,
        };
        let since = since.and_then(|since| version_at(&times, version, since));
        let point = CursorSource::Revisions { version, since, oldest };
        if begun.is_some_and(|begun| begun != point) {
            let sentence = "the cursor belongs to another since; repeat it as it was, or start again \
                            without the cursor";
            let sent = self.selection.cursor.as_deref().unwrap_or_default();
            let problem = ValidationError::value_error("cursor", sentence, sent);
            return Err(Error::invalid_parameter(problem));
        }
        let told = ToldVersions { since, until: version };
        told.check_number(&times)?;
        let history = read_history(app, key).await?;
        let (credit, forbids_derivatives) = told.credit(&history)?;
        let last = if version == listed {
            Arc::clone(&dataset.current)
        } else {
            let words = app.core.catalog.version_words(&dataset.name, version).await?;
            Arc::new(words.ok_or(Refusal::HistoryGone { oldest: oldest_time })?)
        };
        let table =
            app.core.past_files.revisions(dataset, Arc::clone(&last), (version, since), history);
        let table = table.await?;
        // Headers and cursors tell the version, and tags tell its file from that of the rows.
        let mut current = Snapshot {
            id: last.id,
            credit: Credit {
                attribution: credit.attribution,
                licence: credit.licence,
                ..last.credit.clone()
            },
            ..Snapshot::clone(&table)
        };
        current.meaning.no_derivatives |= forbids_derivatives;
        self.continue_as(point);
        Ok(Dataset { current: Arc::new(current), ..dataset.clone() })
    }
}

/// The times of the versions of a dataset as far as its history is known, from memory where
/// possible. Who asks together waits for one read.
async fn version_times(
    app: &ApiState,
    key: HistoryKey,
) -> Result<Arc<BTreeMap<u64, Millis>>, Error> {
    let (name, newest) = key.clone();
    let read = async move {
        app.core.catalog_cache.settled().await?;
        Ok::<_, Error>(Arc::new(app.core.catalog.known_times(&name, newest).await?))
    };
    app.history_times.try_get_with(key, read).await.map_err(Arc::unwrap_or_clone)
}

/// The history of a dataset, as [`version_times`] has its times.
async fn read_history(app: &ApiState, key: HistoryKey) -> Result<Arc<KnownHistory>, Error> {
    let (name, newest) = key.clone();
    let read = async move {
        app.core.catalog_cache.settled().await?;
        let known = app.core.catalog.known_history(&name, newest).await?;
        let gone = || Refusal::NoSuchDataset { name: name.to_string() };
        Ok::<_, Error>(Arc::new(known.ok_or_else(gone)?))
    };
    app.histories.try_get_with(key, read).await.map_err(Arc::unwrap_or_clone)
}

/// The version that was current at `at`, of those up to `until`, the newest of the first page:
/// today is not over, and versions come in between. `None` where all are later.
fn version_at(times: &BTreeMap<u64, Millis>, until: u64, at: Millis) -> Option<u64> {
    let begun = times.range(..=until).filter(|(_, time)| **time <= at);
    begun.map(|(version, _)| *version).max()
}

/// Versions that an answer tells of.
#[derive(Clone, Copy)]
struct ToldVersions {
    /// The first one; `None` for the oldest that is known.
    since: Option<u64>,
    /// The last one.
    until: u64,
}

impl ToldVersions {
    fn has(self, version: u64) -> bool {
        version <= self.until && self.since.is_none_or(|since| version >= since)
    }

    /// Checks that one answer may tell of these among the versions of `times`, before more is read
    /// of them.
    ///
    /// # Errors
    /// 413 for more.
    fn check_number(self, times: &BTreeMap<u64, Millis>) -> Result<(), Refusal> {
        match times.keys().filter(|version| self.has(**version)).count() {
            // What was current at the beginning comes before those that followed.
            number if number > MAX_VERSIONS + 1 => Err(TOO_MANY_VERSIONS),
            _ => Ok(()),
        }
    }

    /// Returns their credit, and whether a licence of them forbids to pass changed rows on.
    ///
    /// # Errors
    /// 413 for more of it than one answer has.
    fn credit(self, history: &KnownHistory) -> Result<(CreditLine, bool), Refusal> {
        let versions = history.times.keys().zip(&history.credits);
        let told = versions.filter(|(version, _)| self.has(**version)).map(|(_, credit)| credit);
        let lines: Vec<CreditLine> = told.clone().map(|(line, _)| line.clone()).collect();
        let line = CreditLine::join(&lines);
        if line.attribution.len() + line.licence.len() > MAX_CREDIT_BYTES {
            return Err(TOO_MANY_VERSIONS);
        }
        Ok((line, told.clone().any(|(_, forbids)| *forbids)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_versions_are_refused_before_they_are_read_contract_21() {
        let times: BTreeMap<u64, Millis> =
            (0..=1_001).map(|version| (version, Millis(0))).collect();
        let is_refused = |since, until| ToldVersions { since, until }.check_number(&times).is_err();
        assert!(is_refused(None, 1_001) && is_refused(Some(0), 1_001));
        assert!(!is_refused(Some(1), 1_001), "a thousand follow the first one");
        assert!(!is_refused(None, 1_000) && !is_refused(Some(7), 3));
    }
}
