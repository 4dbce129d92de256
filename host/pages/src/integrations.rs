//! `/integrations`: the data tools that the service makes projects for now, as the loaded
//! generators describe themselves. Knows no tool by name.

use std::sync::Arc;

use askama::Template;
use axum::extract::{Request, State};
use axum::response::Response;
use yearbook_http::Error;
use yearbook_http::document::CachePolicy;
use yearbook_sandbox::GeneratorDescription;

use super::copy_lines::curl_command;
use super::plugin_view::{PluginLine, example_dataset};
use super::{Frame, Section, html};
use crate::PagesState;

/// `/integrations`.
#[derive(Template)]
#[template(path = "integrations.html")]
struct IntegrationsPage<'a> {
    frame: Frame<'a>,
    tools: Vec<ToolLine<'a>>,
}

/// One tool.
struct ToolLine<'a> {
    plugin: PluginLine<'a>,
    title: &'a str,
}

/// `GET /integrations`.
pub(crate) async fn show(
    State(app): State<Arc<PagesState>>,
    request: Request,
) -> Result<Response, Error> {
    let (parts, _) = request.into_parts();
    let base_url = app.core.base_url(&parts);
    let dataset = example_dataset(&app);
    let plugins = app.core.plugins.current();
    let document = html::render(&IntegrationsPage {
        frame: app.site.frame("Integrations", Section::Integrations),
        tools: plugins
            .generators()
            .map(|generator| ToolLine::new(generator.description(), &base_url, &dataset))
            .collect(),
    })?;
    html::respond(&app, &parts.headers, &document, CachePolicy::Public).await
}

impl<'a> ToolLine<'a> {
    fn new(description: &'a GeneratorDescription, base_url: &str, dataset: &str) -> Self {
        let GeneratorDescription { tool, version, title, parameters, docs } = description;
        let example = curl_command(
            "-H \"Accept: application/zip\" ",
            &format!("{tool}.zip"),
            &format!("{base_url}/v1/integrations/{tool}?datasets={dataset}"),
        );
        Self { plugin: PluginLine::new(tool, version, docs, parameters, example), title }
    }
}
