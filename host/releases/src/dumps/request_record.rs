//! A generator's request as JSON: everything that crosses to the guest, and the addresses. Facts of
//! datasets that only the host knows are left out.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use yearbook_domain::{Dataset, DatasetName, Millis, Namespace, Plan, PlanLimits, Snapshot};
use yearbook_sandbox::{DatasetWithUrls, GeneratorRequest, OptionValue};

/// [`GeneratorRequest`] as it is written.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RequestRecord {
    base_url: String,
    plan: Plan,
    limits: PlanLimits,
    datasets: Vec<DatasetRecord>,
    options: Vec<OptionValue>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct DatasetRecord {
    name: DatasetName,
    namespace: Namespace,
    snapshot: Snapshot,
    data_url: String,
    changes_url: String,
    bulk_url: Option<String>,
}

impl From<&GeneratorRequest> for RequestRecord {
    fn from(request: &GeneratorRequest) -> Self {
        let dataset = |described: &DatasetWithUrls| DatasetRecord {
            name: described.dataset.name.clone(),
            namespace: described.dataset.namespace.clone(),
            snapshot: Snapshot::clone(&described.dataset.current),
            data_url: described.data_url.clone(),
            changes_url: described.changes_url.clone(),
            bulk_url: described.bulk_url.clone(),
        };
        Self {
            base_url: request.base_url.clone(),
            plan: request.plan,
            limits: request.limits,
            datasets: request.datasets.iter().map(dataset).collect(),
            options: request.options.clone(),
        }
    }
}

impl From<RequestRecord> for GeneratorRequest {
    fn from(written: RequestRecord) -> Self {
        let described = |dataset: DatasetRecord| DatasetWithUrls {
            dataset: Arc::new(Dataset {
                name: dataset.name,
                namespace: dataset.namespace,
                // None of them crosses.
                checked_at: Millis(0),
                column_changes: 0,
                snapshots: Vec::new(),
                current: Arc::new(dataset.snapshot),
            }),
            data_url: dataset.data_url,
            changes_url: dataset.changes_url,
            bulk_url: dataset.bulk_url,
        };
        Self {
            base_url: written.base_url,
            plan: written.plan,
            limits: written.limits,
            datasets: written.datasets.into_iter().map(described).collect(),
            options: written.options,
        }
    }
}
