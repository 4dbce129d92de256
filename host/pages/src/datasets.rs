//! `/datasets`: search with facets (contract-9-state). Every state is an address, and every link is
//! made from the query, so that links and forms agree. Knows nothing of how texts are matched.

use std::sync::Arc;

use askama::Template;
use axum::extract::{Request, State};
use axum::response::Response;
use yearbook_domain::Dataset;
use yearbook_http::document::CachePolicy;
use yearbook_http::{Error, RenderedDocument};
use yearbook_search::{Facet, FacetCounts, MatchKind, SearchIndex, SearchPage, SearchQuery};

use super::cache::PageKey;
use super::facet_link::FacetLink;
use super::figures::{count, counted};
use super::{Frame, Section, html};
use crate::PagesState;

/// Values of a facet that are shown at once; the others are behind "more".
const SHOWN_VALUES: usize = 8;

/// Characters of a description in a result.
const MAX_CHARACTERS: usize = 200;

/// `/datasets`.
#[derive(Template)]
#[template(path = "datasets.html")]
struct DatasetsPage<'a> {
    frame: Frame<'a>,
    query: &'a SearchQuery,
    summary: String,
    remark: Option<&'static str>,
    results: Vec<ResultLine>,
    chosen: Vec<ChosenFacet>,
    facets: Vec<FacetView>,
    pager: Pager,
}

/// One hit.
struct ResultLine {
    dataset: Arc<Dataset>,
    rows: String,
    description: String,
    is_cut: bool,
}

/// A choice, with the address without it.
struct ChosenFacet {
    facet: &'static str,
    value: String,
    query: String,
}

/// Values of one facet.
struct FacetView {
    id: &'static str,
    title: &'static str,
    first: Vec<FacetLink>,
    more: Vec<FacetLink>,
    left_out: usize,
}

/// Links to other pages of the results.
struct Pager {
    /// "Page 2 of 7"; none where there is one page.
    position: Option<String>,
    previous: Option<String>,
    next: Option<String>,
}

/// `GET /datasets`.
pub(crate) async fn show(
    State(app): State<Arc<PagesState>>,
    request: Request,
) -> Result<Response, Error> {
    let (parts, _) = request.into_parts();
    let query = SearchQuery::parse(parts.uri.query());
    let index = app.index().await?;
    let key = PageKey {
        // The page has no absolute link.
        base_url: String::new(),
        address: format!("/datasets{}", query.to_query_string()),
        version: format!("{} {}", app.core.catalog_cache.revision(), index.version()),
    };
    let render = async {
        let app_of_job = app.clone();
        let job = move || page(&app_of_job, &index, &query);
        app.core.workers.run(job).await.map_err(|panic| Error::internal("render a page", &panic))?
    };
    let page = app.cache.get(key, render).await?;
    html::respond(&app, &parts.headers, &page, CachePolicy::Public).await
}

fn page(
    app: &PagesState,
    index: &SearchIndex,
    query: &SearchQuery,
) -> Result<RenderedDocument, Error> {
    let found =
        index.search(query).map_err(|failure| Error::internal("search the catalog", &failure))?;
    let results = found
        .hits
        .iter()
        // Retired since the index was built.
        .filter_map(|hit| app.core.catalog_cache.dataset(&hit.name))
        .map(ResultLine::new)
        .collect();
    html::render(&DatasetsPage {
        frame: app.site.frame("Datasets", Section::Datasets),
        summary: summary(query, &found),
        remark: remark(query, &found),
        results,
        chosen: chosen(query),
        facets: found
            .facets
            .iter()
            .map(|counts| FacetView::new(query, counts))
            .filter(|facet| !facet.first.is_empty())
            .collect(),
        pager: Pager::new(query, &found),
        query,
    })
}

/// Sentence about the number of hits.
fn summary(query: &SearchQuery, found: &SearchPage) -> String {
    let datasets = counted(found.total as u64, "dataset", "datasets");
    match query.text.as_str() {
        "" => datasets,
        text => format!("{datasets} for “{text}”"),
    }
}

/// Sentence about hits that are not what was typed, or about none.
fn remark(query: &SearchQuery, found: &SearchPage) -> Option<&'static str> {
    if found.total == 0 {
        return Some(if query.choices.is_empty() {
            "Nothing was found. Try fewer or other words."
        } else {
            "Nothing was found. Take a choice away, or try other words."
        });
    }
    match found.match_kind {
        MatchKind::Corrected => {
            Some("No dataset has these very words; these have words that are one letter apart.")
        }
        MatchKind::SomeWords => Some("No dataset has all of these words; these have some."),
        MatchKind::AllWords | MatchKind::Everything => None,
    }
}

fn chosen(query: &SearchQuery) -> Vec<ChosenFacet> {
    let chosen = query.choices.iter().map(|(facet, value)| ChosenFacet {
        facet: title(facet),
        value: value.to_owned(),
        query: query.without_choice(facet).to_query_string(),
    });
    chosen.collect()
}

/// Heading of a facet.
fn title(facet: Facet) -> &'static str {
    match facet {
        Facet::Topic => "Topic",
        Facet::Agency => "Agency",
        Facet::Licence => "Licence",
        Facet::Shape => "Shape",
        Facet::Cadence => "Cadence",
    }
}

impl ResultLine {
    fn new(dataset: Arc<Dataset>) -> Self {
        let snapshot = &dataset.current;
        let whole = snapshot.description.as_deref().unwrap_or_default();
        let cut = yearbook_domain::preview_facts::cut_text(whole, MAX_CHARACTERS);
        Self {
            rows: counted(snapshot.rows, "row", "rows"),
            description: cut.to_owned(),
            is_cut: cut.len() < whole.len(),
            dataset,
        }
    }

    fn title(&self) -> &str {
        self.dataset.title()
    }
}

impl FacetView {
    fn new(query: &SearchQuery, counts: &FacetCounts) -> Self {
        let facet = counts.facet;
        let links = counts.values.iter().map(|value| {
            let target = if value.chosen {
                query.without_choice(facet)
            } else {
                query.with_choice(facet, &value.value)
            };
            FacetLink {
                value: value.value.clone(),
                count: count(value.count as u64),
                query: target.to_query_string(),
                is_chosen: value.chosen,
            }
        });
        let mut first: Vec<FacetLink> = links.collect();
        let mut more = first.split_off(SHOWN_VALUES.min(first.len()));
        // The chosen one is always to be seen.
        if let Some(place) = more.iter().position(|link| link.is_chosen) {
            first.push(more.remove(place));
        }
        Self {
            id: facet.as_str(),
            title: title(facet),
            first,
            more,
            left_out: counts.values_left_out,
        }
    }
}

impl Pager {
    fn new(query: &SearchQuery, found: &SearchPage) -> Self {
        let to = |page: usize| query.with_page(page).to_query_string();
        let several = found.pages > 1;
        Self {
            position: several.then(|| format!("Page {} of {}", found.page, found.pages)),
            previous: (found.page > 1).then(|| to(found.page - 1)),
            next: (found.page < found.pages).then(|| to(found.page + 1)),
        }
    }
}
