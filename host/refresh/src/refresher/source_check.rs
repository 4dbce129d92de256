//! A check of one source: the question, the judgement "changed or not", and the publication.

use yearbook_catalog::{SourceAnswer, SourceState};
use yearbook_domain::{CheckOutcome, DatasetName, Digest, FailureCause, Millis, SnapshotId};
use yearbook_publish::{DataPackage, ProgressReporter, RemotePackage, SourcePackage, SourceTable};

use super::Refresher;
use crate::failure::CheckFailure;
use crate::fetch::{FetchedAnswer, RequestConditions};
use crate::report::RefreshReporter;

/// Age at which a kept answer is no longer asked about but read again, milliseconds: a source may
/// change without a new validator, and for so long that goes unnoticed at most.
const MAX_ANSWER_AGE: i64 = 30 * 24 * 3_600_000;

impl Refresher {
    /// Asks the package's source and publishes what changed. Returns the outcome and the snapshot
    /// that is current then; the end is recorded.
    pub(super) async fn check_source(
        &self,
        package: SourcePackage,
        state: &SourceState,
        reporter: &dyn RefreshReporter,
    ) -> Result<(CheckOutcome, SnapshotId), CheckFailure> {
        let name = package.name().clone();
        match package.into_table() {
            // Reading a file is what asking it takes, so there is nothing to be spared.
            SourceTable::File(package) => self.publish(&name, &package, None, reporter).await,
            SourceTable::Address(package) => {
                self.check_address(&name, package, state, reporter).await
            }
        }
    }

    async fn check_address(
        &self,
        name: &DatasetName,
        package: RemotePackage,
        state: &SourceState,
        reporter: &dyn RefreshReporter,
    ) -> Result<(CheckOutcome, SnapshotId), CheckFailure> {
        let now = self.at.unwrap_or(state.now);
        let address = package.address();
        let mut kept = published_answer(state, &package);
        // What is missing is stored again of the source's bytes.
        if kept.is_some() && !Box::pin(self.is_stored(name)).await {
            kept = None;
        }
        let asked = kept.map(|kept| conditions(kept, now)).unwrap_or_default();
        let mut fetched = self.ask(name, address, &asked, reporter).await?;
        if let (FetchedAnswer::NotModified, Some(kept)) = (&fetched, kept) {
            if self.record_unchanged(name, kept).await? {
                return Ok((CheckOutcome::Unchanged, kept.snapshot));
            }
            // Somebody published something else meanwhile, about which the source was not asked.
            let unconditional = RequestConditions::default();
            fetched = self.ask(name, address, &unconditional, reporter).await?;
        }
        let FetchedAnswer::Body { download, validators } = fetched else {
            return Err(CheckFailure::new(
                FailureCause::Answer,
                "the source says that nothing changed without having been asked that",
            ));
        };
        let answer = AnswerWithoutSnapshot {
            address: address.to_owned(),
            fetched_at: now,
            validators,
            content: download.content,
            descriptor: package.descriptor(),
        };
        if let Some(kept) = kept.filter(|kept| kept.content == download.content) {
            let same = answer.clone().with_snapshot(kept.snapshot);
            if self.record_unchanged(name, &same).await? {
                return Ok((CheckOutcome::Unchanged, kept.snapshot));
            }
        }
        let package = package.with_table(download.file)?;
        self.publish(name, &package, Some(answer), reporter).await
    }

    /// Returns false where something of the current snapshot is missing. A store that does not
    /// answer keeps no source from being asked.
    async fn is_stored(&self, name: &DatasetName) -> bool {
        self.publisher.is_current_stored(name).await.unwrap_or_else(|failure| {
            tracing::warn!(%name, %failure, "whether everything is stored is not known");
            true
        })
    }

    async fn ask(
        &self,
        name: &DatasetName,
        address: &str,
        conditions: &RequestConditions,
        reporter: &dyn RefreshReporter,
    ) -> Result<FetchedAnswer, CheckFailure> {
        reporter.stage(name, "asking");
        self.client.fetch(address, conditions, &|bytes| reporter.received(name, bytes)).await
    }

    /// Publishes the package and records the end of the check.
    async fn publish(
        &self,
        name: &DatasetName,
        package: &DataPackage,
        answer: Option<AnswerWithoutSnapshot>,
        reporter: &dyn RefreshReporter,
    ) -> Result<(CheckOutcome, SnapshotId), CheckFailure> {
        reporter.stage(name, "waiting to be published");
        let stages = StageReporter { dataset: name, reporter };
        // Never closed.
        let _one_at_a_time = self.publishing.acquire().await;
        let published = Box::pin(self.publisher.publish(package, &stages)).await?;
        let snapshot = published.publication.snapshot.id;
        let outcome =
            if published.unchanged { CheckOutcome::Unchanged } else { CheckOutcome::Published };
        let answer = answer.map(|answer| answer.with_snapshot(snapshot));
        let at = self.at;
        self.catalog.record_good_check(name, outcome, &snapshot, answer.as_ref(), at).await?;
        Ok((outcome, snapshot))
    }

    /// Records that the current snapshot is what the source says; false where another publisher
    /// was faster.
    async fn record_unchanged(
        &self,
        name: &DatasetName,
        answer: &SourceAnswer,
    ) -> Result<bool, CheckFailure> {
        let outcome = CheckOutcome::Unchanged;
        let recorded =
            self.catalog.record_good_check(name, outcome, &answer.snapshot, Some(answer), self.at);
        Ok(recorded.await?)
    }
}

/// An answer before anything was made of it.
#[derive(Clone)]
struct AnswerWithoutSnapshot {
    address: String,
    fetched_at: Millis,
    validators: RequestConditions,
    content: Digest,
    descriptor: Digest,
}

impl AnswerWithoutSnapshot {
    fn with_snapshot(self, snapshot: SnapshotId) -> SourceAnswer {
        let Self { address, fetched_at, validators, content, descriptor } = self;
        let RequestConditions { etag, last_modified } = validators;
        SourceAnswer { address, fetched_at, etag, last_modified, content, descriptor, snapshot }
    }
}

/// The answer that the current snapshot was made of, where address and descriptor are those of now:
/// nothing else tells whether anything changed.
fn published_answer<'a>(
    state: &'a SourceState,
    package: &RemotePackage,
) -> Option<&'a SourceAnswer> {
    state.answer.as_ref().filter(|answer| {
        answer.address == package.address()
            && answer.descriptor == package.descriptor()
            && Some(answer.snapshot) == state.current
    })
}

fn conditions(kept: &SourceAnswer, now: Millis) -> RequestConditions {
    // Below 0 the clock was ahead when it came, so that nobody knows how old it is.
    if !(0..=MAX_ANSWER_AGE).contains(&now.0.saturating_sub(kept.fetched_at.0)) {
        return RequestConditions::default();
    }
    RequestConditions { etag: kept.etag.clone(), last_modified: kept.last_modified.clone() }
}

/// Tells the stages of a publication on.
struct StageReporter<'a> {
    dataset: &'a DatasetName,
    reporter: &'a dyn RefreshReporter,
}

impl ProgressReporter for StageReporter<'_> {
    fn stage(&self, name: &str, _total: Option<u64>) {
        self.reporter.stage(self.dataset, name);
    }

    fn advance(&self, _by: u64) {}
}
