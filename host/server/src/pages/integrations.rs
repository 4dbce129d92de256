//! `/integrations`: the data tools that the service makes projects for now, as the loaded
//! generators describe themselves. Knows no tool by name.

use askama::Template;
use axum::extract::{Request, State};
use axum::response::Response;
use yearbook_sandbox::GeneratorDescription;

use super::html;
use super::plugin_view::OptionLine;
use super::{Frame, Section};
use crate::error::Error;
use crate::response::document::CachePolicy;
use crate::response::links;
use crate::state::AppState;

/// `/integrations`.
#[derive(Template)]
#[template(path = "integrations.html")]
struct IntegrationsPage<'a> {
    frame: Frame<'a>,
    tools: Vec<ToolLine<'a>>,
}

/// One tool.
struct ToolLine<'a> {
    name: &'a str,
    title: &'a str,
    version: &'a str,
    docs: &'a str,
    options: Vec<OptionLine<'a>>,
    example: String,
}

/// `GET /integrations`.
pub(crate) async fn show(State(app): State<AppState>, request: Request) -> Result<Response, Error> {
    let (parts, _) = request.into_parts();
    let base_url = links::base_url(&app.settings.server, &parts);
    let plugins = app.plugins.current();
    let datasets = app.catalog_cache.datasets();
    let dataset = datasets.first().map_or("NAME", |dataset| dataset.name.as_str());
    let document = html::render(&IntegrationsPage {
        frame: app.pages.site.frame("Integrations", Section::Integrations),
        tools: plugins
            .generators()
            .map(|generator| ToolLine::new(generator.description(), &base_url, dataset))
            .collect(),
    })?;
    html::respond(&app, &parts.headers, &document, CachePolicy::Public).await
}

impl<'a> ToolLine<'a> {
    fn new(description: &'a GeneratorDescription, base_url: &str, dataset: &str) -> Self {
        let tool = &description.tool;
        Self {
            name: tool,
            title: &description.title,
            version: &description.version,
            docs: &description.docs,
            options: description
                .parameters
                .iter()
                .map(|parameter| OptionLine::new(tool, parameter))
                .collect(),
            example: format!(
                "curl -f -H \"X-API-Key: $SERVICE_API_KEY\" -H \"Accept: application/zip\" -o {tool}.zip \\\n  \
                 \"{base_url}/v1/integrations/{tool}?datasets={dataset}\""
            ),
        }
    }
}
