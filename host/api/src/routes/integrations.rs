//! `/v1/integrations/{tool}`: files for a data tool, made by whichever generator is loaded for it
//! (contract-4-integration-files). Knows no tool by name.

pub(crate) mod view;

use std::io::{Cursor, Write};
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use http::header::{CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_TYPE, VARY};
use http::{HeaderMap, HeaderValue, Method};
use yearbook_domain::ValidationError;
use yearbook_http::document::CachePolicy;
use yearbook_http::reservation::{Patience, Reservation};
use yearbook_http::{AuthenticatedCaller, Error, RenderedDocument, accept, body};
use yearbook_sandbox::{DatasetWithUrls, GeneratedProject, GuestError, RequestFingerprint};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use self::view::{MEDIA_TYPES, ProjectView};
use crate::ApiState;
use crate::request::IntegrationRequest;
use crate::response::too_large;

/// `GET /v1/integrations/{tool}`.
pub(crate) async fn generate_files(
    State(app): State<Arc<ApiState>>,
    auth: AuthenticatedCaller,
    request: Request,
) -> Result<Response, Error> {
    let request = IntegrationRequest::parse(&app, request)?;
    let headers = &request.parts.headers;
    let zipped = accept::choose(headers, &MEDIA_TYPES).ok_or_else(not_acceptable)? == 1;
    if request.parts.method == Method::HEAD {
        // The length is not known without doing the work, which HEAD does not pay for.
        let mut response = Response::new(body::empty());
        insert_headers(response.headers_mut(), &request, zipped);
        return Ok(response);
    }
    // Want of capacity is no 503 here (contract-4-integration-wait).
    let reservation = app.core.reserve(&auth, Patience::Unbounded).await?;
    // On the heap: what a generator is told is large, and most refusals end before this line.
    let response = Box::pin(respond(&app, &request, &auth, zipped, &reservation)).await;
    reservation.settle(response).await
}

/// Returns the project that the generator makes, as JSON or as a zip.
///
/// # Errors
/// Those of [`generate`]; 500 where the files cannot be packed.
async fn respond(
    app: &ApiState,
    request: &IntegrationRequest,
    auth: &AuthenticatedCaller,
    zipped: bool,
    reservation: &Reservation,
) -> Result<Response, Error> {
    let project = generate(app, request, auth, reservation).await?;
    let mut response = if zipped {
        let packed = app.core.workers.run(move || zip_files(&project)).await;
        let bytes = packed.map_err(|failure| Error::internal("pack files", &failure))?;
        Response::new(Body::from(bytes.map_err(|failure| Error::internal("pack files", &failure))?))
    } else {
        RenderedDocument::new(&ProjectView::new(
            &request.generator.description().tool,
            &request.datasets,
            &project,
        ))?
        .respond(&app.core, &request.parts.headers, CachePolicy::NoStore)
        .await?
    };
    insert_headers(response.headers_mut(), request, zipped);
    Ok(response)
}

/// Runs the generator.
///
/// # Errors
/// 422 for what only the guest can judge, 413 for more than it can make, 429 and 503 for want of
/// capacity, 500 for the rest. A failure of the plugin is recorded against its release.
async fn generate(
    app: &ApiState,
    request: &IntegrationRequest,
    auth: &AuthenticatedCaller,
    reservation: &Reservation,
) -> Result<GeneratedProject, Error> {
    let parts = &request.parts;
    let server = &app.core.settings.server;
    // A client that does not say what it calls us gets the address that we listen at.
    let base_url = Some(app.core.base_url(parts)).filter(|base| !base.is_empty());
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
    let input = yearbook_sandbox::GeneratorRequest {
        datasets: request.datasets.iter().map(described).collect(),
        plan: auth.caller.plan(),
        limits: auth.caller.limits(),
        options: request.options.clone(),
        base_url,
    };
    request.generator.generate(reservation.holder(), input).await.map_err(|error| match error {
        GuestError::Declined(sentence) | GuestError::InvalidOption(sentence) => {
            let tool = &request.generator.description().tool;
            Error::invalid_parameter(ValidationError::value_error(
                "datasets",
                &format!("{tool}: {sentence}"),
                &request.raw,
            ))
        }
        GuestError::TooLarge { .. } => {
            tracing::info!(failure = %error, "an answer is larger than its plugin can make");
            let description = request.generator.description();
            too_large::files_too_large(
                &description.tool,
                description.parameters.non_default(&request.options),
                &request.pairs,
                request.datasets.len(),
            )
        }
        failure => {
            if failure.is_failure_of_the_plugin() {
                let fingerprint = RequestFingerprint {
                    key_id: auth.caller.id().clone(),
                    request: parts.uri.query().unwrap_or_default().to_owned(),
                    datasets: request
                        .datasets
                        .iter()
                        .map(|dataset| dataset.name.to_string())
                        .collect(),
                    default_options: request
                        .generator
                        .description()
                        .parameters
                        .are_default(&request.options),
                };
                app.core.releases.record_failure(
                    request.generator.digest(),
                    &fingerprint,
                    &failure.to_string(),
                );
            }
            Error::internal("generate files", &failure)
        }
    })
}

fn insert_headers(headers: &mut HeaderMap, request: &IntegrationRequest, zipped: bool) {
    // The addresses in the files follow the host of the request, their warnings the plan of the
    // key.
    let vary = "Accept, Accept-Encoding, Host, X-API-Key, Authorization";
    headers.insert(VARY, HeaderValue::from_static(vary));
    // What a run costs is of the moment, whichever way the files travel.
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(MEDIA_TYPES[usize::from(zipped)]));
    if zipped {
        // A tool's name is lower-case letters, digits and hyphens.
        let name = format!(
            "attachment; filename=\"yearbook-{}.zip\"",
            request.generator.description().tool
        );
        headers.extend(HeaderValue::try_from(name).ok().map(|value| (CONTENT_DISPOSITION, value)));
    }
}

fn not_acceptable() -> Error {
    yearbook_domain::Refusal::NotAcceptable { available: MEDIA_TYPES.map(str::to_owned).to_vec() }
        .into()
}

/// Packs the files of `project` as one zip. The same files give the same bytes: every entry has the
/// same time. Blocking.
///
/// # Errors
/// Those of the library, which for a buffer in memory are a bug.
fn zip_files(project: &GeneratedProject) -> zip::result::ZipResult<Vec<u8>> {
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        // The earliest time that the format can express.
        .last_modified_time(DateTime::default())
        .unix_permissions(0o644);
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for file in &project.files {
        archive.start_file(file.path.as_str(), options)?;
        archive.write_all(file.content.as_bytes())?;
    }
    Ok(archive.finish()?.into_inner())
}
