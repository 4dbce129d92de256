//! Style sheet, script and icon of the pages, which the binary carries.

use axum::extract::{Request, State};
use axum::response::Response;
use http::HeaderMap;

use super::html;
use crate::error::Error;
use crate::http::media_types;
use crate::response::RenderedDocument;
use crate::response::document::CachePolicy;
use crate::state::AppState;

const STYLE: &str = include_str!("../../assets/pages/style.css");
const SCRIPT: &str = include_str!("../../assets/pages/copy.js");
const ICON: &str = include_str!("../../assets/pages/icon.svg");

/// `GET /assets/style.css`.
pub(crate) async fn style(
    State(app): State<AppState>,
    request: Request,
) -> Result<Response, Error> {
    embedded(&app, request.headers(), media_types::CSS, STYLE).await
}

/// `GET /assets/copy.js`.
pub(crate) async fn script(
    State(app): State<AppState>,
    request: Request,
) -> Result<Response, Error> {
    embedded(&app, request.headers(), media_types::JAVASCRIPT, SCRIPT).await
}

/// `GET /assets/icon.svg`.
pub(crate) async fn icon(State(app): State<AppState>, request: Request) -> Result<Response, Error> {
    embedded(&app, request.headers(), media_types::SVG, ICON).await
}

/// Asked for again each time, which costs a 304: a new version of the service has a new style sheet
/// under the old address.
async fn embedded(
    app: &AppState,
    request_headers: &HeaderMap,
    content_type: &'static str,
    text: &'static str,
) -> Result<Response, Error> {
    let document = RenderedDocument::embedded(content_type, text);
    html::respond(app, request_headers, &document, CachePolicy::Public).await
}
