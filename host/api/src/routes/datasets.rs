//! `/v1/datasets` and `/v1/datasets/{name}`: what there is (spec-2.1-list, spec-2.1-detail).

pub(crate) mod list_cache;
pub(crate) mod view;

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::Response;
use http::Method;
use http::request::Parts;
use yearbook_domain::Refusal;
use yearbook_http::document::CachePolicy;
use yearbook_http::reservation::Patience;
use yearbook_http::{AuthenticatedCaller, Error, RenderedDocument};

use crate::ApiState;
use crate::request::{dataset_name, wanted_languages};

/// `GET /v1/datasets`.
pub(crate) async fn list(
    State(app): State<Arc<ApiState>>,
    auth: AuthenticatedCaller,
    request: Request,
) -> Result<Response, Error> {
    let (parts, _) = request.into_parts();
    let wanted = wanted_languages(&parts).map_err(Error::invalid_parameter)?;
    let document = app.dataset_list.get(&app.core, &auth.holder, wanted).await?;
    respond(&app, &auth, &parts, &document).await
}

/// `GET /v1/datasets/{name}`.
pub(crate) async fn show(
    State(app): State<Arc<ApiState>>,
    auth: AuthenticatedCaller,
    request: Request,
) -> Result<Response, Error> {
    let (parts, _) = request.into_parts();
    let (name, wanted) = match (dataset_name(&parts.uri), wanted_languages(&parts)) {
        (Ok(name), Ok(wanted)) => (name, wanted),
        (name, wanted) => {
            let problems = name.err().into_iter().chain(wanted.err()).collect();
            return Err(Refusal::InvalidParameters(problems).into());
        }
    };
    let dataset = app.core.dataset(&name)?;
    let language = wanted.choose(&dataset.current);
    let snapshot = dataset.current.in_language(language);
    let body = view::DatasetBody::new(&dataset, &snapshot, language);
    let document = RenderedDocument::new(&body)?.in_language(language);
    respond(&app, &auth, &parts, &document).await
}

async fn respond(
    app: &ApiState,
    auth: &AuthenticatedCaller,
    parts: &Parts,
    document: &RenderedDocument,
) -> Result<Response, Error> {
    let (headers, policy) = (&parts.headers, CachePolicy::Private);
    if parts.method == Method::HEAD {
        return document.respond_to_head(&app.core, headers, policy);
    }
    if let Some(response) = document.not_modified(&app.core, headers, policy)? {
        return Ok(response);
    }
    let reservation = app.core.reserve(auth, Patience::Queue).await?;
    let response = document.respond_to(&app.core, reservation.holder(), headers, policy).await;
    reservation.settle(response).await
}
