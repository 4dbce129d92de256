//! `/formats`: what the service can encode now, as the loaded plugins describe themselves. Knows no
//! format by name.

use std::collections::HashMap;
use std::sync::Arc;

use askama::Template;
use axum::extract::{Request, State};
use axum::response::Response;
use yearbook_http::Error;
use yearbook_http::document::CachePolicy;
use yearbook_sandbox::{EncoderDescription, PluginSet};

use super::copy_lines::curl_command;
use super::plugin_view::{PluginLine, example_dataset};
use super::{Frame, Section, html};
use crate::PagesState;
use crate::dataset_formats::FormatFinder;

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
    plugin: PluginLine<'a>,
    media_type: &'a str,
    extension: &'a str,
}

/// Datasets that are looked at for examples.
const MAX_DATASETS: usize = 100;

/// Datasets that examples name: for each format the first one that has it.
struct Examples {
    by_format: HashMap<String, String>,
    /// The dataset of all other formats.
    other: String,
}

/// `GET /formats`.
pub(crate) async fn show(
    State(app): State<Arc<PagesState>>,
    request: Request,
) -> Result<Response, Error> {
    let (parts, _) = request.into_parts();
    let base_url = app.core.base_url(&parts);
    let plugins = app.core.plugins.current();
    let examples = Examples::find(&app, &plugins).await;
    let document = html::render(&FormatsPage {
        frame: app.site.frame("Formats", Section::Formats),
        formats: plugins
            .encoders()
            .map(|encoder| FormatLine::new(encoder.description(), &base_url, &examples))
            .collect(),
        unavailable: plugins
            .data_formats()
            .into_iter()
            .filter(|format| plugins.is_unavailable(format))
            .collect(),
    })?;
    html::respond(&app, &parts.headers, &document, CachePolicy::Public).await
}

impl Examples {
    async fn find(app: &PagesState, plugins: &PluginSet) -> Self {
        let mut finder = FormatFinder::new(&app.dataset_formats, &app.core.reader, plugins);
        let wanted = plugins.encoders().filter(|encoder| !encoder.description().is_picture());
        let wanted = wanted.count();
        let mut by_format = HashMap::new();
        for dataset in app.core.catalog_cache.datasets().iter().take(MAX_DATASETS) {
            if by_format.len() == wanted {
                break;
            }
            for encoder in finder.find(dataset).await.iter() {
                let format = encoder.description().format.clone();
                by_format.entry(format).or_insert_with(|| dataset.name.to_string());
            }
        }
        Self { by_format, other: example_dataset(app) }
    }

    fn dataset(&self, format: &str) -> &str {
        self.by_format.get(format).unwrap_or(&self.other)
    }
}

impl<'a> FormatLine<'a> {
    fn new(description: &'a EncoderDescription, base_url: &str, examples: &Examples) -> Self {
        let EncoderDescription { format, version, media_type, extension, parameters, docs, .. } =
            description;
        let dataset = examples.dataset(format);
        let url = format!("{base_url}/v1/series/{dataset}/data?format={format}");
        let example = curl_command("", &format!("{dataset}.{extension}"), &url);
        let plugin = PluginLine::new(format, version, docs, parameters, example);
        Self { plugin, media_type, extension }
    }
}
