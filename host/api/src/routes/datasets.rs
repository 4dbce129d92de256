//! `/v1/datasets` and `/v1/datasets/{name}`: what there is (spec-2.1-list, spec-2.1-detail).

pub(crate) mod list_cache;
pub(crate) mod view;

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::Response;
use http::Method;
use http::request::Parts;
use yearbook_http::document::CachePolicy;
use yearbook_http::reservation::Patience;
use yearbook_http::{Authenticated, Error, RenderedDocument};

use crate::ApiState;
use crate::request::dataset_name;

/// `GET /v1/datasets`.
pub(crate) async fn list(
    State(app): State<Arc<ApiState>>,
    auth: Authenticated,
    request: Request,
) -> Result<Response, Error> {
    let document = app.dataset_list.get(app.core.catalog_cache.datasets())?;
    respond(&app, &auth, &request.into_parts().0, &document).await
}

/// `GET /v1/datasets/{name}`.
pub(crate) async fn show(
    State(app): State<Arc<ApiState>>,
    auth: Authenticated,
    request: Request,
) -> Result<Response, Error> {
    let name = dataset_name(request.uri()).map_err(Error::invalid_parameter)?;
    let dataset = app.core.dataset(&name)?;
    let document = RenderedDocument::new(&view::DatasetBody::new(&dataset))?;
    respond(&app, &auth, &request.into_parts().0, &document).await
}

async fn respond(
    app: &ApiState,
    auth: &Authenticated,
    parts: &Parts,
    document: &RenderedDocument,
) -> Result<Response, Error> {
    let headers = &parts.headers;
    if let Some(response) = document.not_modified(&app.core, headers, CachePolicy::Private)? {
        return Ok(response);
    }
    if parts.method == Method::HEAD {
        return document.respond(&app.core, headers, CachePolicy::Private).await;
    }
    let reservation = app.core.reserve(auth, Patience::Queue).await?;
    let response = document.respond(&app.core, headers, CachePolicy::Private).await;
    reservation.settle(response).await
}
