//! `/`: what the service is, search, the newest refreshes, topics, agencies, and how to get a key
//! (contract-9-home).

use std::sync::Arc;

use askama::Template;
use axum::extract::{Request, State};
use axum::response::Response;
use yearbook_domain::{Dataset, PlanLimits};
use yearbook_http::document::CachePolicy;
use yearbook_http::{Error, RenderedDocument};
use yearbook_search::{Facet, FacetValue, SearchIndex, SearchQuery};

use super::cache::PageKey;
use super::facet_link::FacetLink;
use super::figures::{count, counted};
use super::newest::newest_first;
use super::{Frame, Section, html};
use crate::PagesState;

/// Datasets among the newest refreshes.
const NEWEST: usize = 8;

/// Topics, and agencies; the search has them all.
const LISTED: usize = 24;

/// `/`.
#[derive(Template)]
#[template(path = "home.html")]
struct HomePage<'a> {
    frame: Frame<'a>,
    datasets: String,
    agency_count: String,
    newest: Vec<RefreshLine<'a>>,
    topics: Vec<FacetLink>,
    topics_left_out: usize,
    agencies: Vec<FacetLink>,
    agencies_left_out: usize,
    free_requests: Option<String>,
    preview_url: Option<String>,
}

/// A dataset that was refreshed.
struct RefreshLine<'a> {
    name: &'a str,
    title: &'a str,
    agency: &'a str,
    licence: &'a str,
    date: String,
    rows: String,
}

/// `GET /`.
pub(crate) async fn show(
    State(app): State<Arc<PagesState>>,
    request: Request,
) -> Result<Response, Error> {
    let (parts, _) = request.into_parts();
    let base_url = app.core.base_url(&parts);
    // Before the datasets: what is cached under a revision is at least as new.
    let revision = app.core.catalog_cache.revision();
    let datasets = app.core.catalog_cache.datasets();
    let index = app.index().await?;
    let key = PageKey {
        base_url: base_url.clone(),
        address: "/".to_owned(),
        version: format!("{revision} {}", index.version()),
    };
    let render = async {
        let (app, workers) = (app.clone(), Arc::clone(&app.core.workers));
        let job = move || page(&app, &datasets, &index, &base_url);
        workers.run(job).await.map_err(|panic| Error::internal("render a page", &panic))?
    };
    let page = app.cache.get(key, render).await?;
    html::respond(&app, &parts.headers, &page, CachePolicy::Public).await
}

fn page(
    app: &PagesState,
    datasets: &[Arc<Dataset>],
    index: &SearchIndex,
    base_url: &str,
) -> Result<RenderedDocument, Error> {
    let newest = newest_first(datasets, NEWEST);
    let free: PlanLimits = app.core.settings.plans.free;
    html::render(&HomePage {
        frame: app.site.frame(&app.site.title, Section::Other),
        datasets: counted(datasets.len() as u64, "dataset", "datasets"),
        agency_count: counted(index.agencies().len() as u64, "agency", "agencies"),
        preview_url: newest
            .first()
            .map(|dataset| format!("{base_url}/v1/datasets/{}/preview", dataset.name)),
        newest: newest.iter().map(|dataset| RefreshLine::new(dataset)).collect(),
        topics: facet_links(Facet::Topic, index.topics()),
        topics_left_out: index.topics().len().saturating_sub(LISTED),
        agencies: facet_links(Facet::Agency, index.agencies()),
        agencies_left_out: index.agencies().len().saturating_sub(LISTED),
        free_requests: free
            .requests_per_month
            .map(|requests| counted(requests, "request", "requests")),
    })
}

/// The first of `values` as links to a search.
fn facet_links(facet: Facet, values: &[FacetValue]) -> Vec<FacetLink> {
    let link = |value: &FacetValue| FacetLink {
        value: value.value.clone(),
        count: count(value.count as u64),
        query: SearchQuery::default().with_choice(facet, &value.value).to_query_string(),
        is_chosen: false,
    };
    values.iter().take(LISTED).map(link).collect()
}

impl<'a> RefreshLine<'a> {
    fn new(dataset: &'a Dataset) -> Self {
        let snapshot = &dataset.current;
        Self {
            name: dataset.name.as_str(),
            title: dataset.title(),
            agency: &snapshot.credit.source,
            licence: &snapshot.credit.licence,
            date: snapshot.created_at.date().to_string(),
            rows: count(snapshot.rows),
        }
    }
}
