//! Request for a generator: the domain's own values. How they cross to a guest is not known here.

use std::sync::Arc;

use yearbook_domain::{Dataset, Plan, PlanLimits};

use crate::options::OptionValue;

/// A client's request for a project.
#[derive(Clone, Debug)]
pub struct GeneratorRequest {
    /// Absolute address of the service, without a trailing slash.
    pub base_url: String,
    /// The caller's plan.
    pub plan: Plan,
    /// Limits of that plan.
    pub limits: PlanLimits,
    /// In the order that the client named them.
    pub datasets: Vec<DatasetWithUrls>,
    /// Options that the client named; the rest are defaults.
    pub options: Vec<OptionValue>,
}

impl GeneratorRequest {
    /// Columns of all datasets together: what a generator is told grows with them.
    pub(crate) fn columns(&self) -> usize {
        self.datasets.iter().map(|described| described.dataset.current.columns.len()).sum()
    }
}

/// A dataset with the absolute addresses of its routes.
#[derive(Clone, Debug)]
pub struct DatasetWithUrls {
    /// The dataset; its current snapshot is described.
    pub dataset: Arc<Dataset>,
    /// Of the rows.
    pub data_url: String,
    /// Of the changes.
    pub changes_url: String,
    /// Of the file; none where the licence forbids bulk redistribution.
    pub bulk_url: Option<String>,
}
