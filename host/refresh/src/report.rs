//! The end of each package's refresh, and what is heard meanwhile.

use serde::Serialize;
use yearbook_domain::{CheckOutcome, DatasetName, SnapshotId};

/// Outcome of one package.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RefreshOutcome {
    /// A new snapshot is current.
    Published,
    /// The current snapshot is what the source says.
    Unchanged,
    /// The source was not asked; the reason says why.
    Skipped,
    /// The dataset is as it was; the reason says why.
    Failed,
}

impl RefreshOutcome {
    /// Returns the word on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Published => CheckOutcome::Published.as_str(),
            Self::Unchanged => CheckOutcome::Unchanged.as_str(),
            Self::Skipped => "skipped",
            Self::Failed => CheckOutcome::Failed.as_str(),
        }
    }
}

/// The end of one package's refresh, as `--json` prints it (contract-8-json).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RefreshReport {
    /// The dataset; where the descriptor names none, the package's path.
    pub name: String,
    /// Outcome.
    pub outcome: RefreshOutcome,
    /// The current snapshot afterwards; `None` where it is not known or there is none.
    pub snapshot: Option<SnapshotId>,
    /// Sentence; `None` where a source was asked and answered.
    pub reason: Option<String>,
}

/// Hears how far a refresh is. Called from whatever thread drives it; must not block.
pub trait RefreshReporter: Send + Sync {
    /// The refresh begins, of so many packages.
    fn begin(&self, packages: usize);

    /// A dataset is in a new stage: `asking`, or one of publishing.
    fn stage(&self, dataset: &DatasetName, stage: &str);

    /// So many bytes of the answer have come.
    fn received(&self, dataset: &DatasetName, bytes: u64);

    /// A package is done.
    fn end(&self, report: &RefreshReport);
}

/// Tells nobody.
#[derive(Clone, Copy, Debug, Default)]
pub struct SilentRefreshReporter;

impl RefreshReporter for SilentRefreshReporter {
    fn begin(&self, _packages: usize) {}
    fn stage(&self, _dataset: &DatasetName, _stage: &str) {}
    fn received(&self, _dataset: &DatasetName, _bytes: u64) {}
    fn end(&self, _report: &RefreshReport) {}
}
