//! A refresh of packages: which sources are due, who asks them, and what becomes of their answers
//! (contract-8). Packages do not touch each other: one that fails leaves the others alone.

mod source_check;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use futures::StreamExt;
use tokio::sync::Semaphore;
use yearbook_catalog::{Catalog, ClaimOutcome, FailedCheck, SourceState};
use yearbook_domain::{CheckOutcome, DatasetName, Millis, SnapshotId};
use yearbook_outbound::ClientSetupError;
use yearbook_publish::{Publisher, SourcePackage};

use crate::failure::{CheckFailure, one_line};
use crate::fetch::SourceClient;
use crate::packages::FoundPackage;
use crate::report::{RefreshOutcome, RefreshReport, RefreshReporter};
use crate::settings::RefreshSettings;

/// Refreshes packages into one catalog.
pub struct Refresher {
    catalog: Arc<Catalog>,
    publisher: Publisher,
    client: SourceClient,
    settings: RefreshSettings,
    /// One table is published at a time.
    publishing: Semaphore,
    at: Option<Millis>,
}

/// Datasets of one run, each with the descriptor that came first.
type ClaimedNames = Mutex<HashMap<DatasetName, PathBuf>>;

impl Refresher {
    /// A refresher that publishes with `publisher`, into the same catalog.
    ///
    /// # Errors
    /// [`ClientSetupError`] when no client for HTTP can be made.
    pub fn new(
        catalog: Arc<Catalog>,
        publisher: Publisher,
        settings: RefreshSettings,
    ) -> Result<Self, ClientSetupError> {
        let client = SourceClient::new(&settings)?;
        Ok(Self { catalog, publisher, client, settings, publishing: Semaphore::new(1), at: None })
    }

    /// The same at an instant that is not the present, for histories that are made elsewhere.
    #[must_use]
    pub fn with_time(self, at: Millis) -> Self {
        Self { publisher: self.publisher.with_created_at(at), at: Some(at), ..self }
    }

    /// Refreshes `packages`, [`RefreshSettings::parallel`] at a time, and reports each as it ends.
    /// With `due_only` it skips those whose cadence has not passed. Dropping the future leaves each
    /// dataset as it was or as its source says; a source that was being asked stays claimed for a
    /// while.
    pub async fn refresh(
        &self,
        packages: &[FoundPackage],
        due_only: bool,
        reporter: &dyn RefreshReporter,
    ) -> Vec<RefreshReport> {
        reporter.begin(packages.len());
        let names = ClaimedNames::default();
        let refresh_one = |package| {
            let names = &names;
            async move {
                let report = Box::pin(self.refresh_one(package, names, due_only, reporter)).await;
                reporter.end(&report);
                report
            }
        };
        let parallel = self.settings.parallel.get() as usize;
        futures::stream::iter(packages).map(refresh_one).buffer_unordered(parallel).collect().await
    }

    async fn refresh_one(
        &self,
        found: &FoundPackage,
        names: &ClaimedNames,
        due_only: bool,
        reporter: &dyn RefreshReporter,
    ) -> RefreshReport {
        let FoundPackage { path, fault } = found;
        if let Some(fault) = fault {
            return failed(path.display().to_string(), None, fault.clone());
        }
        let RefreshSettings { max_bytes, max_loss, .. } = &self.settings;
        let package = match SourcePackage::open(path, max_bytes.get(), *max_loss) {
            Ok(package) => package,
            Err(error) => return self.report_bad_descriptor(path, names, error.into()).await,
        };
        let name = package.name().clone();
        if let Some(first) = name_taken(names, &name, path) {
            let reason = format!(
                "{} describes it too, and so does {}; give one of them another name",
                first.display(),
                path.display()
            );
            return failed(path.display().to_string(), None, reason);
        }
        match self.claim(&package, due_only).await {
            Ok(Ok(state)) => self.check(package, &state, reporter).await,
            Ok(Err(skipped)) => skipped,
            Err(failure) => failed(name.to_string(), None, failure.reason),
        }
    }

    /// Takes the right to ask the package's source; the report of a skipped package where it is not
    /// to be asked now.
    async fn claim(
        &self,
        package: &SourcePackage,
        due_only: bool,
    ) -> Result<Result<SourceState, RefreshReport>, CheckFailure> {
        let name = package.name();
        // What is due is current before the source is asked.
        self.catalog.settle_due_releases().await?;
        let state = self.catalog.source_state(name).await?;
        if let Some(waiting) = self.catalog.waiting_release(name).await? {
            let until = waiting.release_at.to_rfc3339();
            let reason = format!("release {} waits until {until}", waiting.id);
            return Ok(Err(skipped(name, state.current, reason)));
        }
        if let Some(reason) = self.reason_to_skip(package, &state, due_only) {
            return Ok(Err(skipped(name, state.current, reason)));
        }
        let claimed =
            self.catalog.claim_source(name, self.settings.lease(), !due_only, self.at).await?;
        let state = match claimed {
            ClaimOutcome::Claimed(state) => *state,
            ClaimOutcome::Held(until) => {
                let reason =
                    format!("another refresh asks it, until {} at most", until.to_rfc3339());
                return Ok(Err(skipped(name, state.current, reason)));
            }
        };
        // Another refresh may have ended since the first look.
        if let Some(reason) = self.reason_to_skip(package, &state, due_only) {
            self.catalog.release_source(name).await?;
            return Ok(Err(skipped(name, state.current, reason)));
        }
        Ok(Ok(state))
    }

    fn reason_to_skip(
        &self,
        package: &SourcePackage,
        state: &SourceState,
        due_only: bool,
    ) -> Option<String> {
        if let Some(retired_at) = state.retired_at {
            return Some(format!(
                "retired since {}; `yearbook publish` brings it back",
                retired_at.to_rfc3339()
            ));
        }
        if !due_only {
            return None;
        }
        let now = self.at.unwrap_or(state.now);
        match state.next_check(package.cadence(), now) {
            None => Some("a closed release, which is not checked again".to_owned()),
            Some(next) if next > now => Some(format!("not due before {}", next.to_rfc3339())),
            Some(_) => None,
        }
    }

    /// Asks the source, which is claimed, and records the end.
    async fn check(
        &self,
        package: SourcePackage,
        state: &SourceState,
        reporter: &dyn RefreshReporter,
    ) -> RefreshReport {
        let name = package.name().clone();
        match Box::pin(self.check_source(package, state, reporter)).await {
            Ok((outcome, snapshot)) => RefreshReport {
                name: name.to_string(),
                outcome: match outcome {
                    CheckOutcome::Published => RefreshOutcome::Published,
                    _ => RefreshOutcome::Unchanged,
                },
                snapshot: Some(snapshot),
                reason: None,
            },
            Err(failure) => {
                tracing::info!(%name, reason = failure.reason, "a source failed");
                self.record_failure(&name, &failure).await;
                failed(name.to_string(), state.current, failure.reason)
            }
        }
    }

    async fn report_bad_descriptor(
        &self,
        path: &Path,
        names: &ClaimedNames,
        failure: CheckFailure,
    ) -> RefreshReport {
        let name = SourcePackage::find_name(path);
        let Some(name) = name.filter(|name| name_taken(names, name, path).is_none()) else {
            return failed(path.display().to_string(), None, failure.reason);
        };
        self.record_failure(&name, &failure).await;
        failed(name.to_string(), None, failure.reason)
    }

    async fn record_failure(&self, name: &DatasetName, failure: &CheckFailure) {
        let CheckFailure { cause, reason, .. } = failure;
        let failure = FailedCheck { cause: *cause, reason: reason.clone() };
        if let Err(error) = self.catalog.record_failed_check(name, &failure, self.at).await {
            // The report says what failed; `last_check` cannot.
            tracing::warn!(%name, %error, "a failed check was not recorded");
        }
    }
}

/// Path of another package of this run with that name; none, and the name is this one's.
fn name_taken(names: &ClaimedNames, name: &DatasetName, path: &Path) -> Option<PathBuf> {
    match names.lock().unwrap_or_else(PoisonError::into_inner).entry(name.clone()) {
        Entry::Occupied(first) => Some(first.get().clone()),
        Entry::Vacant(place) => {
            place.insert(path.to_owned());
            None
        }
    }
}

fn skipped(name: &DatasetName, snapshot: Option<SnapshotId>, reason: String) -> RefreshReport {
    let outcome = RefreshOutcome::Skipped;
    RefreshReport { name: name.to_string(), outcome, snapshot, reason: Some(reason) }
}

fn failed(name: String, snapshot: Option<SnapshotId>, reason: String) -> RefreshReport {
    let reason = Some(one_line(&reason));
    RefreshReport { name, outcome: RefreshOutcome::Failed, snapshot, reason }
}

#[cfg(test)]
mod tests;
