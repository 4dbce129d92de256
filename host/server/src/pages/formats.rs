//! `/formats`: what the service can encode now, as the loaded plugins describe themselves. Knows no
//! format by name.

use std::sync::Arc;

use askama::Template;
use axum::extract::{Request, State};
use axum::response::Response;
use yearbook_domain::Dataset;
use yearbook_sandbox::PluginSet;

use super::html;
use super::plugin_view::OptionLine;
use super::{Frame, Section, Site};
use crate::error::Error;
use crate::response::document::CachePolicy;
use crate::response::{RenderedDocument, links};
use crate::state::AppState;

/// `/formats`.
#[derive(Template)]
#[template(path = "formats.html")]
struct FormatsPage<'a> {
    frame: Frame<'a>,
    formats: Vec<FormatLine<'a>>,
    unavailable: Vec<&'a str>,
}

/// One format.
struct FormatLine<'a> {
    name: &'a str,
    media_type: &'a str,
    extension: &'a str,
    version: &'a str,
    docs: &'a str,
    options: Vec<OptionLine<'a>>,
    example: String,
}

/// `GET /formats`.
pub(crate) async fn show(State(app): State<AppState>, request: Request) -> Result<Response, Error> {
    let (parts, _) = request.into_parts();
    let base_url = links::base_url(&app.settings.server, &parts);
    let plugins = app.plugins.current();
    let datasets = app.catalog_cache.datasets();
    let document = page(&app.pages.site, &plugins, datasets.first(), &base_url)?;
    html::respond(&app, &parts.headers, &document, CachePolicy::Public).await
}

fn page(
    site: &Site,
    plugins: &PluginSet,
    dataset: Option<&Arc<Dataset>>,
    base_url: &str,
) -> Result<RenderedDocument, Error> {
    let name = dataset.map_or("NAME", |dataset| dataset.name.as_str());
    let line = |encoder| FormatLine::new(encoder, base_url, name);
    html::render(&FormatsPage {
        frame: site.frame("Formats", Section::Formats),
        formats: plugins.encoders().map(|encoder| line(encoder.description())).collect(),
        unavailable: plugins
            .data_formats()
            .into_iter()
            .filter(|format| plugins.is_unavailable(format))
            .collect(),
    })
}

impl<'a> FormatLine<'a> {
    fn new(
        description: &'a yearbook_sandbox::EncoderDescription,
        base_url: &str,
        dataset: &str,
    ) -> Self {
        let format = &description.format;
        Self {
            name: format,
            media_type: &description.media_type,
            extension: &description.extension,
            version: &description.version,
            docs: &description.docs,
            options: description
                .parameters
                .iter()
                .map(|parameter| OptionLine::new(format, parameter))
                .collect(),
            example: format!(
                "curl -f -H \"X-API-Key: $SERVICE_API_KEY\" -o {dataset}.{} \\\n  \
                 \"{base_url}/v1/series/{dataset}/data?format={format}\"",
                description.extension
            ),
        }
    }
}
