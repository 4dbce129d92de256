//! `/formats`: what the service can encode now, as the loaded plugins describe themselves. Knows no
//! format by name.

use askama::Template;
use axum::extract::{Request, State};
use axum::response::Response;
use yearbook_sandbox::EncoderDescription;

use super::copy_lines::curl_command;
use super::plugin_view::{PluginLine, example_dataset};
use super::{Frame, Section, html};
use crate::error::Error;
use crate::response::document::CachePolicy;
use crate::response::links;
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
    plugin: PluginLine<'a>,
    media_type: &'a str,
    extension: &'a str,
}

/// `GET /formats`.
pub(crate) async fn show(State(app): State<AppState>, request: Request) -> Result<Response, Error> {
    let (parts, _) = request.into_parts();
    let base_url = links::base_url(&app.settings.server, &parts);
    let dataset = example_dataset(&app);
    let plugins = app.plugins.current();
    let document = html::render(&FormatsPage {
        frame: app.pages.site.frame("Formats", Section::Formats),
        formats: plugins
            .encoders()
            .map(|encoder| FormatLine::new(encoder.description(), &base_url, &dataset))
            .collect(),
        unavailable: plugins
            .data_formats()
            .into_iter()
            .filter(|format| plugins.is_unavailable(format))
            .collect(),
    })?;
    html::respond(&app, &parts.headers, &document, CachePolicy::Public).await
}

impl<'a> FormatLine<'a> {
    fn new(description: &'a EncoderDescription, base_url: &str, dataset: &str) -> Self {
        let EncoderDescription { format, version, media_type, extension, parameters, docs, .. } =
            description;
        let url = format!("{base_url}/v1/series/{dataset}/data?format={format}");
        let example = curl_command("", &format!("{dataset}.{extension}"), &url);
        let plugin = PluginLine::new(format, version, docs, parameters, example);
        Self { plugin, media_type, extension }
    }
}
