//! `/v1/integrations/{tool}`: files for a data tool, made by whichever generator is loaded for it
//! (contract-4-integration-files). Knows no tool by name.

mod archive;
mod integration_request;

use std::collections::HashSet;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use http::header::{CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_TYPE, VARY};
use http::{HeaderMap, HeaderValue, Method};
use serde_json::{Map, Value, json};
use yearbook_domain::ValidationError;
use yearbook_releases::RequestFingerprint;
use yearbook_sandbox::{DatasetWithUrls, GenerateError, GeneratedProject};

use crate::charge::charge_within;
use crate::error::Error;
use crate::extract::accept;
use crate::middleware::authentication::Authenticated;
use crate::respond::document::CachePolicy;
use crate::respond::{RenderedDocument, body, links, too_large};
use crate::state::AppState;

use self::integration_request::IntegrationRequest;

/// Shapes of an answer, the default first.
pub(crate) const MEDIA_TYPES: [&str; 2] = ["application/json", ZIP];
const ZIP: &str = "application/zip";

/// `GET /v1/integrations/{tool}`.
pub(crate) async fn generate_files(
    State(state): State<AppState>,
    keyed: Authenticated,
    request: Request,
) -> Result<Response, Error> {
    let plugins = state.registry.current();
    let (parts, _) = request.into_parts();
    let asked = IntegrationRequest::parse(&state, &parts, &plugins)?;
    let zipped = accept::choose(&parts.headers, &MEDIA_TYPES).ok_or_else(not_acceptable)? == 1;
    if parts.method == Method::HEAD {
        // The length is not known without doing the work, which HEAD does not pay for.
        let mut response = Response::new(body::empty());
        insert_headers(response.headers_mut(), &asked, zipped);
        return Ok(response);
    }
    // On the heap: what a generator is told is large, and most refusals end before this line.
    let work = Box::pin(async {
        let project = generate(&state, &keyed, &parts, &asked).await?;
        let mut response = if zipped {
            let packed = state.workers.run(move || archive::zip(&project)).await;
            let bytes = packed.map_err(|failure| Error::internal("pack files", &failure))?;
            Response::new(Body::from(
                bytes.map_err(|failure| Error::internal("pack files", &failure))?,
            ))
        } else {
            RenderedDocument::new(&project_json(&asked, &project))?
                .respond(&state, &parts.headers, CachePolicy::NoStore)
                .await?
        };
        insert_headers(response.headers_mut(), &asked, zipped);
        Ok(response)
    });
    // Want of capacity is no 503 here (contract-4-integration-wait).
    charge_within(&state, &keyed, &parts.method, None, work).await
}

async fn generate(
    state: &AppState,
    keyed: &Authenticated,
    parts: &http::request::Parts,
    asked: &IntegrationRequest,
) -> Result<GeneratedProject, Error> {
    let server = &state.settings.server;
    // A client that does not say what it calls us gets the address that we listen at.
    let base_url = Some(links::base_url(server, parts)).filter(|base| !base.is_empty());
    let base_url = base_url.unwrap_or_else(|| format!("http://{}", server.listen));
    let described = |dataset: &Arc<yearbook_domain::Dataset>| {
        let (name, namespace) = (&dataset.name, &dataset.namespace);
        DatasetWithUrls {
            data_url: format!("{base_url}/v1/datasets/{name}/data"),
            changes_url: format!("{base_url}/v1/datasets/{name}/changes"),
            bulk_url: dataset
                .current
                .bulk_redistribution
                .then(|| format!("{base_url}/v1/bulk/{namespace}/{name}")),
            dataset: Arc::clone(dataset),
        }
    };
    let request = yearbook_sandbox::GeneratorRequest {
        datasets: asked.datasets.iter().map(described).collect(),
        plan: keyed.caller.plan(),
        limits: keyed.caller.limits(),
        options: asked.options.clone(),
        base_url,
    };
    asked.generator.generate_for(&keyed.holder, request).await.map_err(|error| match error {
        GenerateError::UnsupportedDataset(sentence) | GenerateError::InvalidOption(sentence) => {
            let tool = &asked.generator.description().tool;
            Error::invalid_parameter(ValidationError::value_error(
                "datasets",
                &format!("{tool}: {sentence}"),
                &asked.raw,
            ))
        }
        GenerateError::TooLarge { .. } => {
            tracing::info!(failure = %error, "an answer is larger than its plugin can make");
            let description = asked.generator.description();
            too_large::files_too_large(
                &description.tool,
                description.non_default(&asked.options),
                &asked.pairs,
                asked.datasets.len(),
            )
        }
        failure => {
            if failure.is_failure_of_the_plugin() {
                let asker = RequestFingerprint {
                    client: keyed.caller.id().to_owned(),
                    request: parts.uri.query().unwrap_or_default().to_owned(),
                    datasets: asked
                        .datasets
                        .iter()
                        .map(|dataset| dataset.name.to_string())
                        .collect(),
                    plain: asked
                        .generator
                        .description()
                        .non_default(&asked.options)
                        .next()
                        .is_none(),
                };
                state.guard.failed(asked.generator.digest(), &asker, &failure.to_string());
            }
            Error::internal("generate files", &failure)
        }
    })
}

/// The answer in JSON: files and their media types by path, which no two files share. Credits stand
/// once each, in the order of the datasets.
fn project_json(asked: &IntegrationRequest, project: &GeneratedProject) -> Value {
    let by_path = |text: fn(&yearbook_sandbox::ProjectFile) -> &String| -> Map<String, Value> {
        project
            .files
            .iter()
            .map(|file| (file.path.clone(), Value::from(text(file).as_str())))
            .collect()
    };
    let mut seen = HashSet::new();
    let credits = asked.datasets.iter().map(|dataset| dataset.current.credit.attribution.as_str());
    let attribution: Vec<&str> = credits.filter(|credit| seen.insert(*credit)).collect();
    json!({
        "tool": asked.generator.description().tool,
        "files": by_path(|file| &file.content),
        "media_types": by_path(|file| &file.media_type),
        "attribution": attribution,
        "warnings": project.warnings,
    })
}

fn insert_headers(headers: &mut HeaderMap, asked: &IntegrationRequest, zipped: bool) {
    // The addresses in the files follow the host that was asked, their warnings the plan of the
    // key.
    headers.insert(VARY, HeaderValue::from_static("Accept, Accept-Encoding, Host, X-API-Key"));
    // What a run costs is of the moment, whichever way the files travel.
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(MEDIA_TYPES[usize::from(zipped)]));
    if zipped {
        // A tool's name is lower-case letters, digits and hyphens.
        let name =
            format!("attachment; filename=\"yearbook-{}.zip\"", asked.generator.description().tool);
        headers.extend(HeaderValue::try_from(name).ok().map(|value| (CONTENT_DISPOSITION, value)));
    }
}

fn not_acceptable() -> Error {
    yearbook_domain::Refusal::NotAcceptable { available: MEDIA_TYPES.map(str::to_owned).to_vec() }
        .into()
}
