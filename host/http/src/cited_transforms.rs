//! Seam between the pages, which cite computed rows and run no transform, and the room that runs
//! them (contract-16-citations).

use std::sync::Arc;

use futures::future::BoxFuture;
use yearbook_domain::read_plan::AppliedTransform;
use yearbook_domain::{Dataset, ReadPlan, ResultDigest, Selection, ValidationError};
use yearbook_sandbox::TransformStep;
use yearbook_shares::CallerShare;

use crate::{AuthenticatedCaller, Error};

/// The room that runs transforms.
pub trait CitedRowSource: Send + Sync {
    /// Returns the transforms that `apply` names, with their `options`, names and values as sent.
    ///
    /// # Errors
    /// The problem of `apply`, or those of the options.
    fn transforms(
        &self,
        apply: &str,
        options: &[(String, String)],
    ) -> Result<CitedTransforms, Vec<ValidationError>>;

    /// Computes cited rows again, and returns their number and their digest.
    fn digest(&self, rows: CitedRows) -> BoxFuture<'_, Result<(u64, ResultDigest), Error>>;
}

/// Transforms of a citation.
#[derive(Clone)]
pub struct CitedTransforms {
    /// All of them.
    pub transforms: Vec<AppliedTransform>,
    /// The releases, pinned; `Err` has the first one that is not loaded.
    pub steps: Result<Vec<TransformStep>, String>,
}

/// Rows that transforms make, as a citation names them.
pub struct CitedRows {
    /// Caller who pays.
    pub auth: AuthenticatedCaller,
    /// Account on which rows are read and held.
    pub holder: CallerShare,
    /// The dataset.
    pub dataset: Arc<Dataset>,
    /// Rows that the first transform sees.
    pub input: ReadPlan,
    /// The transforms.
    pub steps: Vec<TransformStep>,
    /// The whole selection, of which this shapes what the last transform gives.
    pub selection: Selection,
    /// Rows at most; `None` for all.
    pub limit: Option<u64>,
    /// Parameters as sent, which problems repeat.
    pub pairs: Vec<(String, String)>,
}
