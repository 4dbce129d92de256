//! `/cite/{name}/{snapshot}`: the citation of a snapshot, or of a query's result in it, as a page
//! or in a format for programs (contract-13-formats). Made from the catalog; rows are read for
//! `verify=true` alone, which needs a key and is charged as a read (contract-13-verify).

mod page;
mod proof;
mod request;
mod verify;

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use http::header::VARY;
use http::request::Parts;
use http::{HeaderValue, Method};
use yearbook_catalog::{CitedSnapshot, CitedState};
use yearbook_domain::read_plan::{self, AppliedTransforms};
use yearbook_domain::{
    CanonicalQuery, Citation, Dataset, DatasetName, Millis, ReadPlan, Refusal, SnapshotId,
};
use yearbook_http::cited_transforms::CitedRows;
use yearbook_http::document::CachePolicy;
use yearbook_http::reservation::Patience;
use yearbook_http::{
    AuthenticatedCaller, Core, EntityTag, Error, RenderedDocument, authentication, body, rate_limit,
};
use yearbook_shares::CallerShare;

pub(crate) use self::proof::prove;

use self::page::CitePage;
use self::request::CitationRequest;
use super::html;
use crate::{PageRefusal, PagesState};

/// Checks the key of a request to verify, and bounds all others by address.
pub(super) async fn guard(State(core): State<Arc<Core>>, request: Request, next: Next) -> Response {
    if request::wants_verification(request.uri()) {
        authentication::check(State(core), request, next).await
    } else {
        rate_limit::limit_by_address(State(core), request, next).await
    }
}

/// `GET /cite/{name}/{snapshot}`.
pub(crate) async fn show(
    State(app): State<Arc<PagesState>>,
    request: Request,
) -> Result<Response, Error> {
    let (parts, _) = request.into_parts();
    let request = CitationRequest::parse(&parts, &*app.cited_rows)?;
    let cited = app.core.catalog_cache.cited_snapshot(&request.name, &request.snapshot_id).await?;
    let Some(cited) = cited else {
        return Err(unknown(&app, &request.name, &request.snapshot_id));
    };
    let past = match cited.state {
        CitedState::Dropped(_) => app.core.past_time(&request.name, &request.snapshot_id).await?,
        CitedState::Retained | CitedState::Retired(_) => None,
    };
    let subject = Subject::new(&app, &parts, &request, cited, past)?;
    let document = subject.document(&app)?;
    if !request.verify {
        return subject.respond(&app, &parts, &document, CachePolicy::Public).await;
    }
    let auth = parts.extensions.get::<AuthenticatedCaller>().cloned().ok_or(Refusal::KeyMissing)?;
    if subject.cited.state != CitedState::Retained {
        let id = request.snapshot_id.to_string();
        return Err(Refusal::SnapshotGone { id, as_of: subject.past }.into());
    }
    if let Some(release) = subject.request.gone_release() {
        return Err(PageRefusal::TransformGone { release: release.to_owned() }.into());
    }
    read_plan::check_order(&subject.plan)?;
    if let Some(dataset) = &subject.dataset {
        Box::pin(app.core.check_series(dataset, &subject.plan)).await?;
    }
    // Rows and digest follow from what is stated without them, so 304 and 412 need no read.
    let tag = EntityTag::from_bytes(format!("verified {}", document.tag().as_str()).as_bytes());
    let document = document.with_tag(tag.clone());
    let policy = CachePolicy::Private;
    let known = document.not_modified(&app.core, &parts.headers, policy)?.is_some();
    if known || parts.method == Method::HEAD {
        let response = subject.respond(&app, &parts, &document, policy).await?;
        // The length is not known without the read.
        return Ok(response.map(|_| body::empty()));
    }
    let reservation = app.core.reserve(&auth, Patience::Queue).await?;
    let holder = reservation.holder().clone();
    let verified = async {
        let (rows, digest) = match subject.computed_rows(&auth, &holder)? {
            None => verify::compute(&app, &holder, &subject.plan).await?,
            Some(computed) => app.cited_rows.digest(computed).await?,
        };
        let citation = Citation { rows: Some(rows), digest: Some(digest), ..subject.citation };
        let subject = Subject { citation, is_verified: true, ..subject };
        let document = subject.document(&app)?.with_tag(tag);
        subject.respond(&app, &parts, &document, policy).await
    };
    reservation.settle(Box::pin(verified).await).await
}

/// Subject of a citation.
struct Subject {
    request: CitationRequest,
    cited: Arc<CitedSnapshot>,
    /// Time as of which the rows of a dropped snapshot are read.
    past: Option<Millis>,
    /// The dataset, where it is served.
    dataset: Option<Arc<Dataset>>,
    /// The rows and columns that the query selects, or those that the first transform sees.
    plan: ReadPlan,
    citation: Citation,
    /// True where rows and digest were read for this answer.
    is_verified: bool,
    base_url: String,
}

impl Subject {
    /// Resolves the query against the snapshot.
    ///
    /// # Errors
    /// 422 for columns that the snapshot does not have.
    fn new(
        app: &PagesState,
        parts: &Parts,
        request: &CitationRequest,
        cited: Arc<CitedSnapshot>,
        past: Option<Millis>,
    ) -> Result<Self, Error> {
        let dataset = app.core.catalog_cache.dataset(request.name.as_str());
        let plan = request.plan(&cited.snapshot, dataset.as_deref())?;
        // A limit that no result of this snapshot reaches cuts nothing.
        let limit = plan.max_rows.filter(|limit| *limit < cited.snapshot.rows);
        let applied = request.transforms.as_ref().map(|cited| AppliedTransforms {
            input: plan.clone(),
            transforms: cited.transforms.clone(),
        });
        let query = match &applied {
            None => CanonicalQuery::new(&plan, limit),
            Some(applied) => {
                CanonicalQuery::of_transforms(applied, &request.selection, request.limit)
            }
        };
        let base_url = app.core.base_url(parts);
        let whole = query.is_whole();
        let citation = Citation {
            rows: whole.then_some(cited.snapshot.rows),
            digest: whole.then_some(cited.digest),
            computed_by: applied.map(|applied| applied.to_citation()),
            remark: remark(&cited, past, dataset.as_deref(), request.gone_release()),
            ..Citation::new(&request.name, &cited.snapshot, query, &base_url)
        };
        let request = request.clone();
        Ok(Self { request, cited, past, dataset, plan, citation, is_verified: false, base_url })
    }

    /// The rows to compute again, where transforms make them.
    ///
    /// # Errors
    /// 404 where the dataset is not served.
    fn computed_rows(
        &self,
        auth: &AuthenticatedCaller,
        holder: &CallerShare,
    ) -> Result<Option<CitedRows>, Error> {
        let request = &self.request;
        let steps = request.transforms.as_ref().and_then(|cited| cited.steps.as_ref().ok());
        let Some(steps) = steps else { return Ok(None) };
        let absent = || Refusal::NoSuchDataset { name: request.name.to_string() };
        Ok(Some(CitedRows {
            auth: auth.clone(),
            holder: holder.clone(),
            dataset: self.dataset.clone().ok_or_else(absent)?,
            input: self.plan.clone(),
            steps: steps.clone(),
            selection: request.selection.clone(),
            limit: request.limit,
            pairs: request.pairs.clone(),
        }))
    }

    /// The page, or the text in the format that was asked for.
    ///
    /// # Errors
    /// 500 where a value cannot be written, which is a bug.
    fn document(&self, app: &PagesState) -> Result<RenderedDocument, Error> {
        match self.request.format {
            None => html::render(&CitePage::new(&app.site, self)),
            Some(format) => {
                let text = self.citation.render(format);
                Ok(RenderedDocument::text(format.content_type(), text))
            }
        }
    }

    async fn respond(
        &self,
        app: &PagesState,
        parts: &Parts,
        document: &RenderedDocument,
        policy: CachePolicy,
    ) -> Result<Response, Error> {
        let mut response = document.respond(&app.core, &parts.headers, policy).await?;
        let headers = response.headers_mut();
        if self.request.format.is_none() {
            html::insert_headers(headers);
        }
        headers.append(VARY, HeaderValue::from_static("Accept"));
        Ok(response)
    }
}

/// The sentence for data that is gone, with the time as of which it is read
/// (contract-21-as-of-cited) and the nearest snapshot that is kept (contract-13-after), or for a
/// release that is.
fn remark(
    cited: &CitedSnapshot,
    past: Option<Millis>,
    dataset: Option<&Dataset>,
    release: Option<&str>,
) -> Option<String> {
    match cited.state {
        CitedState::Retained => release.map(|release| {
            format!("{release} is not loaded, so these rows cannot be computed again here.")
        }),
        CitedState::Dropped(at) => {
            let nearest = dataset
                .and_then(|dataset| nearest_kept(cited, dataset))
                .map_or_else(String::new, |nearest| {
                    format!(" The nearest snapshot that is kept is {nearest}.")
                });
            let gone = at.date();
            Some(match past.map(Millis::to_rfc3339) {
                None => format!("The data of this snapshot is gone since {gone}.{nearest}"),
                Some(time) => format!(
                    "This snapshot is gone since {gone}; as_of={time} reads its rows.{nearest}"
                ),
            })
        }
        CitedState::Retired(at) => {
            Some(format!("The data is gone: the dataset was retired on {}.", at.date()))
        }
    }
}

/// Id of the retained snapshot that is nearest in time; of two, the newer one.
fn nearest_kept(cited: &CitedSnapshot, dataset: &Dataset) -> Option<SnapshotId> {
    let distance = |at: i64| at.abs_diff(cited.snapshot.created_at.0);
    let newest_first = dataset.snapshots.iter().rev();
    newest_first.min_by_key(|summary| distance(summary.created_at.0)).map(|summary| summary.id)
}

fn unknown(app: &PagesState, name: &DatasetName, id: &SnapshotId) -> Error {
    if app.core.catalog_cache.dataset(name.as_str()).is_some() {
        return Refusal::NoSuchSnapshot { id: id.to_string() }.into();
    }
    Refusal::NoSuchDataset { name: name.to_string() }.into()
}
