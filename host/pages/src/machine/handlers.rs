//! Handlers of the documents for machines: what is asked for, from memory or rendered, answered as
//! pages are (contract-9-conditional).

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::Response;
use http::HeaderValue;
use http::header::LINK;
use http::request::Parts;
use yearbook_domain::query::{last_value, parse_pairs};
use yearbook_domain::{Dataset, PreviewFacts};
use yearbook_http::document::CachePolicy;
use yearbook_http::{Error, RenderedDocument, media_types};

use super::escape::json_text;
use super::view::{CatalogView, DatasetView};
use super::{
    atom, calendar, croissant, dcat, i_calendar, open_search, robots, schema_org, sitemap,
};
use crate::PagesState;
use crate::cache::PageKey;
use crate::calendar::Calendar;
use crate::dataset_formats::{self, DatasetFormats, FormatFinder};
use crate::{dataset_address, html};

/// Suffix of the address of a dataset's schema.org document.
const JSON_LD_SUFFIX: &str = ".jsonld";

/// Returns the name of the dataset where `segment` is its name with `.jsonld`.
pub(crate) fn json_ld_name(segment: &str) -> Option<&str> {
    segment.strip_suffix(JSON_LD_SUFFIX)
}

/// `GET /datasets/{name}.jsonld`.
pub(crate) async fn dataset_json_ld(app: &PagesState, parts: &Parts) -> Result<Response, Error> {
    let segment = dataset_address::segment(parts);
    let name = json_ld_name(segment).unwrap_or(segment);
    let render = |view: &DatasetView<'_>| json_text(&schema_org::dataset(view));
    dataset_document(app, parts, name, media_types::JSON_LD, render).await
}

/// `GET /datasets/{name}/croissant.json`.
pub(crate) async fn croissant(
    State(app): State<Arc<PagesState>>,
    request: Request,
) -> Result<Response, Error> {
    let parts = request.into_parts().0;
    let render = |view: &DatasetView<'_>| json_text(&croissant::dataset(view));
    dataset_document(&app, &parts, dataset_address::segment(&parts), media_types::JSON_LD, render)
        .await
}

/// `GET /datasets/{name}/feed.xml`.
pub(crate) async fn dataset_feed(
    State(app): State<Arc<PagesState>>,
    request: Request,
) -> Result<Response, Error> {
    let parts = request.into_parts().0;
    let name = dataset_address::segment(&parts);
    dataset_document(&app, &parts, name, media_types::ATOM, atom::dataset_feed).await
}

/// `GET /catalog.jsonld`, `?page=` from 1; a page beyond the last is the last.
pub(crate) async fn catalog_json_ld(
    State(app): State<Arc<PagesState>>,
    request: Request,
) -> Result<Response, Error> {
    let parts = request.into_parts().0;
    let base_url = app.core.base_url(&parts);
    let source = CatalogSource::read(&app);
    let pages = source.datasets.len().div_ceil(dcat::PAGE_DATASETS).max(1);
    let page = number(&parts, "page").unwrap_or(1).clamp(1, pages);
    let mut formats = Vec::new();
    let plugins = app.core.plugins.current();
    let mut finder = FormatFinder::new(&app.dataset_formats, &app.core.reader, &plugins);
    for dataset in datasets_of_page(&source.datasets, page) {
        formats.push(finder.find(dataset).await);
    }
    let address =
        format!("{}?page={page} {}", parts.uri.path(), dataset_formats::version(&formats));
    let render = move |catalog: &CatalogView<'_>, datasets: &[Arc<Dataset>]| {
        let listed = datasets_of_page(datasets, page).iter().zip(&formats);
        let views: Vec<DatasetView<'_>> = listed
            .map(|(dataset, formats)| {
                DatasetView::new(catalog, dataset).with(None, formats.clone())
            })
            .collect();
        Some(json_text(&dcat::catalog(catalog, &views, page, pages)))
    };
    let mut response =
        catalog_document(&app, &parts, source, address, media_types::JSON_LD, render).await?;
    let next = format!("<{base_url}/catalog.jsonld?page={}>; rel=\"next\"", page + 1);
    if page < pages
        && let Ok(next) = HeaderValue::try_from(next)
    {
        response.headers_mut().insert(LINK, next);
    }
    Ok(response)
}

fn datasets_of_page(datasets: &[Arc<Dataset>], page: usize) -> &[Arc<Dataset>] {
    datasets.chunks(dcat::PAGE_DATASETS).nth(page - 1).unwrap_or_default()
}

/// `GET /feed.xml`.
pub(crate) async fn catalog_feed(
    State(app): State<Arc<PagesState>>,
    request: Request,
) -> Result<Response, Error> {
    let parts = request.into_parts().0;
    let render = |catalog: &CatalogView<'_>, datasets: &[Arc<Dataset>]| {
        Some(atom::catalog_feed(catalog, datasets))
    };
    let (source, address) = (CatalogSource::read(&app), parts.uri.path().to_owned());
    catalog_document(&app, &parts, source, address, media_types::ATOM, render).await
}

/// `GET /calendar.ics`.
pub(crate) async fn calendar_ics(
    State(app): State<Arc<PagesState>>,
    request: Request,
) -> Result<Response, Error> {
    calendar_document(&app, request, media_types::CALENDAR, i_calendar::calendar).await
}

/// `GET /calendar.json`.
pub(crate) async fn calendar_json(
    State(app): State<Arc<PagesState>>,
    request: Request,
) -> Result<Response, Error> {
    calendar_document(&app, request, media_types::JSON, calendar::json).await
}

/// `GET /calendar/feed.xml`.
pub(crate) async fn calendar_feed(
    State(app): State<Arc<PagesState>>,
    request: Request,
) -> Result<Response, Error> {
    calendar_document(&app, request, media_types::ATOM, calendar::feed).await
}

/// Answers with what `render` makes of the calendar of this moment.
async fn calendar_document(
    app: &Arc<PagesState>,
    request: Request,
    content_type: &'static str,
    render: fn(&CatalogView<'_>, &Calendar) -> String,
) -> Result<Response, Error> {
    let parts = request.into_parts().0;
    let calendar = app.calendar.read(&app.core).await?;
    let (address, version) = (parts.uri.path().to_owned(), calendar.number.to_string());
    let render = move |catalog: &CatalogView<'_>| Some(render(catalog, &calendar));
    long_document(app, &parts, address, version, content_type, render).await
}

/// `GET /sitemap.xml`, and its parts `?part=`.
pub(crate) async fn sitemap(
    State(app): State<Arc<PagesState>>,
    request: Request,
) -> Result<Response, Error> {
    let parts = request.into_parts().0;
    let part = number(&parts, "part");
    let render = move |catalog: &CatalogView<'_>, datasets: &[Arc<Dataset>]| {
        sitemap::sitemap(catalog.base_url, datasets, part)
    };
    let source = CatalogSource::read(&app);
    let address = format!("{}?part={part:?}", parts.uri.path());
    catalog_document(&app, &parts, source, address, media_types::XML, render).await
}

/// `GET /opensearch.xml`.
pub(crate) async fn open_search(
    State(app): State<Arc<PagesState>>,
    request: Request,
) -> Result<Response, Error> {
    let parts = request.into_parts().0;
    let base_url = app.core.base_url(&parts);
    let catalog = CatalogView::new(&base_url, &app.settings);
    let text = open_search::open_search(&catalog);
    let document = RenderedDocument::text(media_types::OPEN_SEARCH, text);
    html::respond(&app, &parts.headers, &document, CachePolicy::Public).await
}

/// `GET /robots.txt`.
pub(crate) async fn robots(
    State(app): State<Arc<PagesState>>,
    request: Request,
) -> Result<Response, Error> {
    let parts = request.into_parts().0;
    let base_url = app.core.base_url(&parts);
    let text = robots::robots(&base_url, &app.site.root);
    let document = RenderedDocument::text(media_types::TEXT, text);
    html::respond(&app, &parts.headers, &document, CachePolicy::Public).await
}

/// Answers with what `render` makes of the dataset called `name`: 404 and 410 as its page.
async fn dataset_document(
    app: &PagesState,
    parts: &Parts,
    name: &str,
    content_type: &'static str,
    render: impl Fn(&DatasetView<'_>) -> String + Send + Sync,
) -> Result<Response, Error> {
    let published = dataset_address::find(app, name)?;
    let (dataset, language) = dataset_address::in_wanted_language(&published, parts)?;
    let facts = app.core.catalog_cache.preview_facts(&dataset, &dataset.current.id).await?;
    let base_url = app.core.base_url(parts);
    let formats =
        FormatFinder::new(&app.dataset_formats, &app.core.reader, &app.core.plugins.current())
            .find(&dataset)
            .await;
    let catalog = CatalogView::new(&base_url, &app.settings);
    let key = PageKey {
        base_url: base_url.clone(),
        address: format!("{}?{language:?}", parts.uri.path()),
        version: version(&dataset, facts.as_deref(), &formats),
    };
    let text = async {
        let view = DatasetView::new(&catalog, &dataset)
            .with(facts.as_deref(), formats)
            .in_language(language.as_ref());
        let document = RenderedDocument::text(content_type, render(&view));
        Ok(document.in_language(language.as_ref()))
    };
    let document = app.cache.get(key, text).await?;
    html::respond(app, &parts.headers, &document, CachePolicy::Public).await
}

/// The datasets of the catalog at one revision.
struct CatalogSource {
    revision: i64,
    datasets: Arc<[Arc<Dataset>]>,
}

impl CatalogSource {
    fn read(app: &PagesState) -> Self {
        // The revision first: what is cached under it is at least as new.
        let revision = app.core.catalog_cache.revision();
        Self { revision, datasets: app.core.catalog_cache.datasets() }
    }
}

/// Answers with what `render` makes of the whole catalog. 404 where it makes nothing.
async fn catalog_document(
    app: &Arc<PagesState>,
    parts: &Parts,
    CatalogSource { revision, datasets }: CatalogSource,
    address: String,
    content_type: &'static str,
    render: impl Fn(&CatalogView<'_>, &[Arc<Dataset>]) -> Option<String> + Send + Sync + 'static,
) -> Result<Response, Error> {
    let render = move |catalog: &CatalogView<'_>| render(catalog, &datasets);
    long_document(app, parts, address, revision.to_string(), content_type, render).await
}

/// Answers with what `render` makes, on a worker: it may be long. 404 where it makes nothing.
async fn long_document(
    app: &Arc<PagesState>,
    parts: &Parts,
    address: String,
    version: String,
    content_type: &'static str,
    render: impl FnOnce(&CatalogView<'_>) -> Option<String> + Send + 'static,
) -> Result<Response, Error> {
    let base_url = app.core.base_url(parts);
    let key = PageKey { base_url: base_url.clone(), address, version };
    let text = async {
        let (app, base_url, workers) =
            (Arc::clone(app), base_url.clone(), Arc::clone(&app.core.workers));
        let job = move || {
            let catalog = CatalogView::new(&base_url, &app.settings);
            render(&catalog)
        };
        let text = workers.run(job).await;
        let text = text.map_err(|panic| Error::internal("render a document", &panic))?;
        Ok(RenderedDocument::text(content_type, text.ok_or(Error::NoSuchRoute)?))
    };
    let document = app.cache.get(key, text).await?;
    html::respond(app, &parts.headers, &document, CachePolicy::Public).await
}

/// A text that differs where a document of the dataset does.
fn version(dataset: &Dataset, facts: Option<&PreviewFacts>, formats: &DatasetFormats) -> String {
    format!(
        "{} {} {} {:?} {}",
        dataset.current.id,
        dataset.current.created_at.0,
        dataset.snapshots.len(),
        facts.map(|facts| facts.version),
        dataset_formats::version(std::slice::from_ref(formats))
    )
}

fn number(parts: &Parts, name: &str) -> Option<usize> {
    let pairs = parse_pairs(parts.uri.query().unwrap_or_default());
    last_value(&pairs, name)?.parse().ok()
}
