//! Citations of what an adapter selects (contract-17-facts), as the pages state them.

use http::request::Parts;
use yearbook_domain::query::last_value;
use yearbook_domain::read_plan::AppliedTransforms;
use yearbook_domain::{CanonicalQuery, Citation, CitationFormat, Refusal};
use yearbook_http::Error;
use yearbook_sandbox::catalogue;

use crate::ApiState;
use crate::request::{DataRequest, SelectedOutput, applied};

impl ApiState {
    /// Returns the citation of the rows of `selection`. Free: nothing is read.
    ///
    /// # Errors
    /// The refusals of `/data` that need no rows.
    pub async fn cite_rows(
        &self,
        parts: &Parts,
        selection: &catalogue::Selection,
    ) -> Result<catalogue::Cited, Error> {
        let limit = selection.limit.unwrap_or(0);
        let output = SelectedOutput::Values { limit };
        let request = DataRequest::of_selection(self, parts, selection, &output)?;
        let dataset = self.core.dataset(&request.name)?;
        let sent = &request.selection;
        let is_transformed = sent.apply.is_some();
        let input = if is_transformed { sent.transform_input() } else { sent.clone() };
        let plan = request.resolve(self, &dataset, &input).await?.plan;
        let named = last_value(&request.pairs, "limit").is_some();
        let limit = CanonicalQuery::explicit_limit(sent, named);
        let limit = limit.filter(|limit| *limit < plan.snapshot.rows);
        let applied = if is_transformed {
            let steps = request.transform_steps().map_err(Refusal::InvalidParameters)?;
            let transforms = steps.iter().map(applied).collect();
            Some(AppliedTransforms { input: plan.clone(), transforms })
        } else {
            None
        };
        let query = match &applied {
            None => CanonicalQuery::new(&plan, limit),
            Some(applied) => CanonicalQuery::of_transforms(applied, sent, limit),
        };
        let (name, snapshot) = (&plan.dataset, &plan.snapshot);
        let digest = if query.is_whole() {
            let cited = self.core.catalog_cache.cited_snapshot(name, &snapshot.id).await?;
            cited.map(|cited| cited.digest)
        } else {
            None
        };
        let base_url = self.core.base_url(parts);
        let citation = Citation {
            rows: query.is_whole().then_some(snapshot.rows),
            digest,
            computed_by: applied.map(|applied| applied.to_citation()),
            ..Citation::new(name, snapshot, query, &base_url)
        };
        let address = if self.settings.has_citation_pages { &*citation.url } else { "" };
        Ok(catalogue::Cited {
            text: citation.render(CitationFormat::Text),
            address: address.to_owned(),
            snapshot: snapshot.id.to_string(),
        })
    }
}
