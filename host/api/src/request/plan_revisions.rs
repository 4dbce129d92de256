//! Plans of `/revisions` (contract-21-revisions): the table of all versions of the rows, made of
//! what publishing kept, is read as a snapshot is. Pages end with the version with which the first
//! one did. Never touches a stored row.

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

/// Versions of one answer at most.
const MAX_VERSIONS: usize = 1_000;

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

    /// The history of `dataset` up to its version `newest`.
    async fn history(
        &self,
        app: &ApiState,
        dataset: &Dataset,
        newest: u64,
    ) -> Result<Arc<KnownHistory>, Error> {
        let key = (dataset.name.clone(), newest);
        if let Some(history) = app.histories.get(&key).await {
            return Ok(history);
        }
        app.core.catalog_cache.settled().await?;
        let known = app.core.catalog.known_history(&dataset.name, newest).await?;
        let gone = || Refusal::NoSuchDataset { name: dataset.name.to_string() };
        let history = Arc::new(known.ok_or_else(gone)?);
        app.histories.insert(key, Arc::clone(&history)).await;
        Ok(history)
    }

    /// The dataset with the table of its revisions as its current version.
    async fn revised_dataset(&self, app: &ApiState, dataset: &Dataset) -> Result<Dataset, Error> {
        let since = parse_since(&self.pairs, clock::now()).map_err(Error::invalid_parameter)?;
        let newest = dataset.snapshots.last().map_or(0, |newest| newest.version);
        let history = self.history(app, dataset, newest).await?;
        let oldest = history.times.first_key_value();
        let (oldest, oldest_time) = oldest.map_or((0, Millis(0)), |(version, at)| (*version, *at));
        // One that is none is told with everything else that is wrong.
        let begun = self.cursor_position(app).ok().flatten().map(|position| position.source);
        let version = match begun {
            Some(CursorSource::Revisions { version, oldest: begun, .. }) => {
                // Rows of then cannot be told any more.
                if begun != oldest || version > newest {
                    return Err(Refusal::HistoryGone { oldest: oldest_time }.into());
                }
                version
            }
            _ => newest,
        };
        let since = since.and_then(|since| version_at(&history, since));
        let point = CursorSource::Revisions { version, since, oldest };
        if begun.is_some_and(|begun| begun != point) {
            let sentence = "the cursor belongs to another since; repeat it as it was, or start again \
                            without the cursor";
            let sent = self.selection.cursor.as_deref().unwrap_or_default();
            let problem = ValidationError::value_error("cursor", sentence, sent);
            return Err(Error::invalid_parameter(problem));
        }
        let (credit, forbids_derivatives) = credit_of(&history, since, version)?;
        let last = if version == newest {
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

/// The version that was current at `at`; `None` where all are later.
fn version_at(history: &KnownHistory, at: Millis) -> Option<u64> {
    let begun = history.times.iter().filter(|(_, time)| **time <= at);
    begun.map(|(version, _)| *version).max()
}

/// Returns the credit of the versions from `since` to `until`, and whether a licence of them
/// forbids to pass changed rows on.
///
/// # Errors
/// 413 for more versions, or more of them, than one answer has.
fn credit_of(
    history: &KnownHistory,
    since: Option<u64>,
    until: u64,
) -> Result<(CreditLine, bool), Error> {
    let versions = history.times.keys().zip(&history.credits);
    let told = |version: u64| version <= until && since.is_none_or(|since| version >= since);
    let told = versions.filter(|(version, _)| told(**version)).map(|(_, credit)| credit);
    let lines: Vec<CreditLine> = told.clone().map(|(line, _)| line.clone()).collect();
    let line = CreditLine::join(&lines);
    let bytes = line.attribution.len() + line.licence.len();
    if lines.len() > MAX_VERSIONS + 1 || bytes > MAX_CREDIT_BYTES {
        return Err(Refusal::TooManyVersions { limit: MAX_VERSIONS as u64 }.into());
    }
    Ok((line, told.clone().any(|(_, forbids)| *forbids)))
}
