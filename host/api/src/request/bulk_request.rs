//! Requests for stored files: path and query of `/v1/bulk/{namespace}/{name}`, and the snapshot
//! that they name. Never touches a stored byte or a range.

use std::sync::Arc;

use axum::extract::Request;
use http::request::Parts;
use yearbook_domain::bulk::{self, BulkPlan, Freshness};
use yearbook_domain::query::parse_pairs;
use yearbook_domain::{Dataset, DatasetName, Namespace, Refusal, Snapshot};
use yearbook_http::{AuthenticatedCaller, Error};

use super::bulk_names;
use crate::ApiState;

/// A request for the stored file of one dataset.
pub(crate) struct BulkRequest {
    /// Namespace of the dataset.
    pub(crate) namespace: Namespace,
    /// Name of the dataset.
    pub(crate) name: DatasetName,
    /// The parameter `freshness`; none: the freshest that the plan allows.
    pub(crate) freshness: Option<Freshness>,
    /// Method, address, headers and extensions.
    pub(crate) parts: Parts,
}

impl BulkRequest {
    /// Parses path and query.
    ///
    /// # Errors
    /// 422 with every problem at once, the path's first.
    pub(crate) fn parse(request: Request) -> Result<Self, Error> {
        let (parts, _) = request.into_parts();
        let names = bulk_names(&parts.uri);
        let freshness = Freshness::parse(&parse_pairs(parts.uri.query().unwrap_or_default()));
        match (names, freshness) {
            (Ok((namespace, name)), Ok(freshness)) => {
                Ok(Self { namespace, name, freshness, parts })
            }
            (names, freshness) => Err(Refusal::InvalidParameters(
                names.err().into_iter().flatten().chain(freshness.err()).collect(),
            )
            .into()),
        }
    }

    /// Returns the dataset of this namespace and name.
    ///
    /// # Errors
    /// 404 with both names, since either may be the wrong one.
    pub(crate) fn dataset(&self, app: &ApiState) -> Result<Arc<Dataset>, Error> {
        let Self { namespace, name, .. } = self;
        let dataset = app
            .core
            .catalog_cache
            .dataset(name.as_str())
            .filter(|dataset| dataset.namespace == *namespace);
        dataset.ok_or_else(|| Refusal::NoSuchDataset { name: format!("{namespace}/{name}") }.into())
    }

    /// Plans the download of a file of `dataset`.
    ///
    /// # Errors
    /// 503 where the snapshot was dropped a moment ago; the refusals of the caller's plan.
    pub(crate) async fn plan(
        &self,
        app: &ApiState,
        auth: &AuthenticatedCaller,
        dataset: &Dataset,
    ) -> Result<BulkPlan, Error> {
        let freshness = Freshness::resolve(self.freshness, auth.caller.limits());
        let snapshot = snapshot_of_freshness(app, dataset, freshness).await?;
        Ok(bulk::plan_download(dataset, snapshot, freshness, auth.caller.limits())?)
    }
}

/// Returns the snapshot that `freshness` names.
async fn snapshot_of_freshness(
    app: &ApiState,
    dataset: &Dataset,
    freshness: Freshness,
) -> Result<Arc<Snapshot>, Error> {
    let named = match freshness {
        Freshness::Current => None,
        Freshness::Monthly => {
            // By the database's clock, so that hosts do not differ when a month begins.
            yearbook_catalog::monthly_snapshot(&dataset.snapshots, app.core.catalog_cache.time())
        }
    };
    let Some(named) = named else { return Ok(Arc::clone(&dataset.current)) };
    let found = app.core.catalog_cache.snapshot(dataset, &named.id).await?;
    // Retention keeps the one that `monthly` names, so this view of the catalog is older than a
    // publication.
    found.ok_or_else(|| {
        tracing::warn!(dataset = %dataset.name, snapshot = %named.id, "the monthly snapshot was dropped a moment ago");
        Error::Unavailable
    })
}
