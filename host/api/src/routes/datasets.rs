//! `/v1/datasets` and `/v1/datasets/{name}`: what there is (spec-2.1-list, spec-2.1-detail).

pub(crate) mod view;

use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::{Request, State};
use axum::response::Response;
use http::Method;
use http::request::Parts;
use yearbook_domain::Dataset;

use crate::ApiState;
use crate::request::dataset_name;
use yearbook_http::Authenticated;
use yearbook_http::Error;
use yearbook_http::RenderedDocument;
use yearbook_http::document::CachePolicy;
use yearbook_http::reservation::Patience;

/// The list as it was last rendered, with the view of the catalog that it was made from.
#[derive(Default)]
pub(crate) struct DatasetListCache {
    last: Mutex<Option<RenderedList>>,
}

/// The view that was rendered, and what came of it.
type RenderedList = (Arc<[Arc<Dataset>]>, RenderedDocument);

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

impl DatasetListCache {
    /// The document of `datasets`, rendered again only when the catalog moved.
    fn get(&self, datasets: Arc<[Arc<Dataset>]>) -> Result<RenderedDocument, Error> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((view, document)) = &*last
            && Arc::ptr_eq(view, &datasets)
        {
            return Ok(document.clone());
        }
        let metas: Vec<view::DatasetMeta<'_>> =
            datasets.iter().map(|dataset| view::DatasetMeta::new(dataset)).collect();
        let document = RenderedDocument::new(&metas)?;
        *last = Some((Arc::clone(&datasets), document.clone()));
        Ok(document)
    }
}
