//! `/datasets/{name}`: all that is known of one dataset, and `/datasets/{name}/versions`
//! (contract-9-dataset). Pages are made from memory and one row of the catalog: no stored file is
//! opened (contract-9-no-parquet).

mod page;
mod preview;
mod request;
mod revised;
mod versions;

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::Response;
use http::header::LINK;
use http::request::Parts;
use yearbook_domain::meaning::Language;
use yearbook_domain::query::{last_value, parse_pairs};
use yearbook_domain::{Dataset, PreviewFacts};
use yearbook_http::Error;
use yearbook_http::document::CachePolicy;
use yearbook_sandbox::{PluginAdapter, PluginSet};

use super::cache::PageKey;
use super::chart;
use super::dataset_address::{dataset, in_wanted_language, segment};
use super::html;
use super::machine::{self, CatalogView, DatasetView};
use crate::PagesState;
use crate::dataset_formats::{self, DatasetFormats, FormatFinder};
use crate::revised_line::RevisedVersions;

/// Everything that decides the page of a dataset besides the site.
struct DatasetInputs {
    base_url: String,
    /// As it was published: citations are the same in every language.
    published: Arc<Dataset>,
    /// The same in `language`.
    dataset: Arc<Dataset>,
    /// None: the dataset names none.
    language: Option<Language>,
    /// True where the address asks for a language.
    asks_language: bool,
    /// None: they are not computed yet.
    facts: Option<Arc<PreviewFacts>>,
    /// Series to show, by its place among those drawn.
    series: ChosenSeries,
    formats: DatasetFormats,
    /// Adapters that are loaded.
    adapters: Vec<Arc<PluginAdapter>>,
    /// True where a plugin draws pictures.
    has_picture: bool,
    /// Versions that may have revised a line.
    revised: Option<RevisedVersions>,
}

/// The series that a page shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChosenSeries {
    /// The one that the facts name.
    Named,
    /// Another one of those drawn, by its place.
    Drawn(usize),
    /// None of those drawn: the named one is shown, and the page says so.
    Unknown,
}

/// `GET /datasets/{name}`.
pub(crate) async fn show(
    State(app): State<Arc<PagesState>>,
    request: Request,
) -> Result<Response, Error> {
    let (parts, _) = request.into_parts();
    // A router cannot tell the address of a document from that of the page.
    if machine::json_ld_name(segment(&parts)).is_some() {
        return machine::dataset_json_ld(&app, &parts).await;
    }
    let inputs = inputs(&app, &app.core.plugins.current(), &parts).await?;
    let catalog = CatalogView::new(&inputs.base_url, &app.settings);
    let view = DatasetView::new(&catalog, &inputs.dataset)
        .with(inputs.facts.as_deref(), inputs.formats.clone());
    let key = inputs.key(parts.uri.path());
    let render = async {
        let dataset = &inputs.published;
        let cited =
            app.core.catalog_cache.cited_snapshot(&dataset.name, &dataset.current.id).await?;
        let citation = page::citation(&inputs.base_url, dataset, cited.as_deref());
        let json_ld = machine::embedded_json_ld(&view);
        let page = html::render(&page::DatasetPage::new(&app.site, &inputs, citation, json_ld))?;
        Ok(page.in_language(inputs.language.as_ref()))
    };
    let page = Box::pin(app.cache.get(key, render)).await?;
    let mut response = html::respond(&app, &parts.headers, &page, CachePolicy::Public).await?;
    for link in machine::signposting_links(&view) {
        response.headers_mut().append(LINK, link);
    }
    Ok(response)
}

/// `GET /datasets/{name}/versions`.
pub(crate) async fn versions(
    State(app): State<Arc<PagesState>>,
    request: Request,
) -> Result<Response, Error> {
    let (parts, _) = request.into_parts();
    let dataset = dataset(&app, &parts)?;
    let document = html::render(&versions::VersionsPage::new(&app.site, &dataset))?;
    html::respond(&app, &parts.headers, &document, CachePolicy::Public).await
}

/// `GET /datasets/{name}/request`.
pub(crate) async fn request(
    State(app): State<Arc<PagesState>>,
    request: Request,
) -> Result<Response, Error> {
    let (parts, _) = request.into_parts();
    let published = dataset(&app, &parts)?;
    let (dataset, language) = in_wanted_language(&published, &parts)?;
    let plugins = app.core.plugins.current();
    let formats =
        FormatFinder::new(&app.dataset_formats, &app.core.reader, &plugins).find(&dataset).await;
    let values = app.core.reader.stored_values(&dataset.current).await?;
    let input = request::FormInput::new(parse_pairs(parts.uri.query().unwrap_or_default()));
    let base_url = app.core.base_url(&parts);
    let page = request::RequestPage::new(
        &app.site,
        &base_url,
        &dataset,
        &formats,
        &request::Choosable::new(&published, values, language.clone()),
        &input,
    );
    let page = html::render(&page)?.in_language(language.as_ref());
    html::respond(&app, &parts.headers, &page, CachePolicy::Public).await
}

async fn inputs(
    app: &PagesState,
    plugins: &PluginSet,
    parts: &Parts,
) -> Result<DatasetInputs, Error> {
    let published = dataset(app, parts)?;
    let (dataset, language) = in_wanted_language(&published, parts)?;
    let facts = app.core.catalog_cache.preview_facts(&dataset, &dataset.current.id).await?;
    let pairs = parse_pairs(parts.uri.query().unwrap_or_default());
    let series = match last_value(&pairs, "series").filter(|text| !text.is_empty()) {
        Some(text) => ChosenSeries::find(facts.as_deref(), text),
        None => ChosenSeries::Named,
    };
    let revised = match &facts {
        Some(facts) => Some(RevisedVersions::load(app, &dataset, facts).await?),
        None => None,
    };
    Ok(DatasetInputs {
        revised,
        asks_language: last_value(&pairs, "lang").is_some(),
        base_url: app.core.base_url(parts),
        series,
        facts,
        formats: FormatFinder::new(&app.dataset_formats, &app.core.reader, plugins)
            .find(&dataset)
            .await,
        published,
        dataset,
        language,
        adapters: plugins.adapters().cloned().collect(),
        has_picture: chart::encoder(plugins).is_some(),
    })
}

impl ChosenSeries {
    /// The place of the one that was asked for.
    fn drawn(self) -> Option<usize> {
        match self {
            Self::Drawn(place) => Some(place),
            Self::Named | Self::Unknown => None,
        }
    }

    fn find(facts: Option<&PreviewFacts>, text: &str) -> Self {
        let Some(series) = facts.and_then(|facts| facts.series.as_ref()) else {
            return Self::Unknown;
        };
        let Some(found) = series.find(text) else { return Self::Unknown };
        match series.drawn.iter().position(|drawn| drawn.id == found.id) {
            Some(0) | None => Self::Named,
            Some(place) => Self::Drawn(place),
        }
    }
}

impl DatasetInputs {
    /// The key of the rendered page at `path`.
    fn key(&self, path: &str) -> PageKey {
        let Self { dataset, language, facts, series, formats, adapters, .. } = self;
        let Self { has_picture, asks_language, .. } = self;
        let revised = self.revised.as_ref().map(RevisedVersions::name);
        let adapters: Vec<_> = adapters.iter().map(|adapter| adapter.digest()).collect();
        let computed = facts.as_ref().map(|facts| facts.version);
        PageKey {
            base_url: self.base_url.clone(),
            address: format!("{path}?{series:?} {asks_language}"),
            version: format!(
                "{} {} {} {computed:?} {} {adapters:?} {has_picture} {language:?} {revised:?}",
                dataset.current.id,
                dataset.checked_at.0,
                dataset.snapshots.len(),
                dataset_formats::version(std::slice::from_ref(formats))
            ),
        }
    }
}
