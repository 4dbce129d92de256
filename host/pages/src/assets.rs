//! Style sheet, script and icon of the pages, which the binary carries.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::Response;
use http::HeaderMap;
use yearbook_http::document::CachePolicy;
use yearbook_http::{Error, RenderedDocument, media_types};

use super::html;
use crate::PagesState;

const STYLE: &str = include_str!("../assets/style.css");
const SCRIPT: &str = include_str!("../assets/copy.js");
const ICON: &str = include_str!("../assets/icon.svg");

/// `GET /assets/style.css`.
pub(crate) async fn style(
    State(app): State<Arc<PagesState>>,
    request: Request,
) -> Result<Response, Error> {
    embedded(&app, request.headers(), media_types::CSS, STYLE).await
}

/// `GET /assets/copy.js`.
pub(crate) async fn script(
    State(app): State<Arc<PagesState>>,
    request: Request,
) -> Result<Response, Error> {
    embedded(&app, request.headers(), media_types::JAVASCRIPT, SCRIPT).await
}

/// `GET /assets/icon.svg`.
pub(crate) async fn icon(
    State(app): State<Arc<PagesState>>,
    request: Request,
) -> Result<Response, Error> {
    embedded(&app, request.headers(), media_types::SVG, ICON).await
}

/// Asked for again each time, which costs a 304: a new version of the service has a new style sheet
/// under the old address.
async fn embedded(
    app: &PagesState,
    request_headers: &HeaderMap,
    content_type: &'static str,
    text: &'static str,
) -> Result<Response, Error> {
    let document = RenderedDocument::embedded(content_type, text);
    html::respond(app, request_headers, &document, CachePolicy::Public).await
}
