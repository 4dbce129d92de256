//! `/v1/datasets/{name}/preview`: up to ten rows for anybody, without geometry, in a bounded
//! document (spec-4-preview, contract-4-preview-bounds).

pub(crate) mod cache;
mod cells;
pub(crate) mod fit;

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::Response;
use yearbook_http::Error;
use yearbook_http::credit::write_credit;
use yearbook_http::document::CachePolicy;

use crate::ApiState;
use crate::request::dataset_name;

pub(crate) use self::cache::MAX_ROWS;

/// `GET /v1/datasets/{name}/preview`.
pub(crate) async fn show(
    State(app): State<Arc<ApiState>>,
    request: Request,
) -> Result<Response, Error> {
    let name = dataset_name(request.uri()).map_err(Error::invalid_parameter)?;
    let dataset = app.core.dataset(&name)?;
    // What is sent matches `dataset`, whatever is published meanwhile: the cache's key names its
    // snapshot.
    let document =
        app.previews.get(&app.core.reader, &app.core.workers, Arc::clone(&dataset)).await?;
    let mut response = document.respond(&app.core, request.headers(), CachePolicy::Public).await?;
    write_credit(response.headers_mut(), &dataset.namespace, &dataset.current);
    Ok(response)
}
