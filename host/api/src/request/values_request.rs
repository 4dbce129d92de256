//! Requests for values: path and query of `/values`, and what they select of a dataset
//! (contract-15-values).

use std::sync::Arc;

use axum::extract::Request;
use http::request::Parts;
use yearbook_catalog::clock;
use yearbook_domain::query::parse_pairs;
use yearbook_domain::values::{ValuesQuery, ValuesTarget};
use yearbook_domain::{Dataset, DatasetName, ReadPlan, Refusal, Snapshot};
use yearbook_http::Error;
use yearbook_http::language::WantedLanguages;

use super::version::{NamedVersion, unlisted_snapshot};
use super::{dataset_name, wanted_languages};
use crate::ApiState;

/// A request for the values of columns of one dataset.
pub(crate) struct ValuesRequest {
    /// Name of the dataset.
    pub(crate) name: DatasetName,
    /// Method, address, headers and extensions.
    pub(crate) parts: Parts,
    pub(crate) query: ValuesQuery,
    /// Languages of labels.
    pub(crate) wanted: WantedLanguages,
}

impl ValuesRequest {
    /// Parses path and query.
    ///
    /// # Errors
    /// 422 with every problem at once, the path's first.
    pub(crate) fn parse(request: Request) -> Result<Self, Error> {
        let (parts, _) = request.into_parts();
        let pairs = parse_pairs(parts.uri.query().unwrap_or_default());
        let wanted = wanted_languages(&parts);
        match (dataset_name(&parts.uri), ValuesQuery::parse(&pairs, clock::now()), wanted) {
            (Ok(name), Ok(query), Ok(wanted)) => Ok(Self { name, parts, query, wanted }),
            (name, query, wanted) => {
                let problems = query.err().unwrap_or_default();
                let problems = name.err().into_iter().chain(problems).chain(wanted.err()).collect();
                Err(Refusal::InvalidParameters(problems).into())
            }
        }
    }

    /// Returns what the request selects of `dataset`.
    ///
    /// # Errors
    /// 422, then those of the version ([`NamedVersion`]).
    pub(crate) async fn resolve(
        &self,
        app: &ApiState,
        dataset: &Dataset,
    ) -> Result<ValuesTarget, Error> {
        let resolve = |snapshot: &Arc<Snapshot>| {
            let (name, namespace) = (dataset.name.clone(), dataset.namespace.clone());
            let all = ReadPlan::full_scan(name, namespace, Arc::clone(snapshot));
            self.query.resolve(all).map_err(|found| Error::from(Refusal::InvalidParameters(found)))
        };
        let version = NamedVersion::find(app, dataset, None, self.query.selection()).await?;
        let target = resolve(version.readable_or_current(dataset))?;
        match version {
            NamedVersion::Readable(_) => Ok(target),
            NamedVersion::Refused(refusal) => Err(refusal.into()),
            NamedVersion::Unlisted(id) => resolve(&unlisted_snapshot(app, dataset, &id).await?),
        }
    }
}
