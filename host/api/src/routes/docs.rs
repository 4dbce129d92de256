//! `/openapi.json`: the machine description, and `/docs`: the same for people (contract-4-docs). A
//! page, a script and a style sheet that the binary carries; the browser is forbidden to load or
//! send anything elsewhere. Knows nothing of what the description says.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::Response;
use http::HeaderMap;
use yearbook_http::document::CachePolicy;
use yearbook_http::headers::insert_browser_headers;
use yearbook_http::{Error, RenderedDocument, media_types};

use crate::ApiState;

const HTML: &str = include_str!("../../assets/index.html");
const SCRIPT: &str = include_str!("../../assets/docs.js");
const STYLE: &str = include_str!("../../assets/docs.css");

/// This host alone; no inline script, so that nothing in a description can become one.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// `GET /openapi.json`.
pub(crate) async fn openapi(
    State(state): State<Arc<ApiState>>,
    request: Request,
) -> Result<Response, Error> {
    let document = state.openapi.get(&state.core.settings, state.core.plugins.current())?;
    document.respond(&state.core, request.headers(), CachePolicy::Public).await
}

/// `GET /docs`.
pub(crate) async fn page(
    State(app): State<Arc<ApiState>>,
    request: Request,
) -> Result<Response, Error> {
    embedded(&app, request.headers(), media_types::HTML, HTML).await
}

/// `GET /docs/{asset}`.
pub(crate) async fn asset(
    State(app): State<Arc<ApiState>>,
    request: Request,
) -> Result<Response, Error> {
    match request.uri().path().rsplit('/').next().unwrap_or_default() {
        "docs.js" => embedded(&app, request.headers(), media_types::JAVASCRIPT, SCRIPT).await,
        "docs.css" => embedded(&app, request.headers(), media_types::CSS, STYLE).await,
        _ => Err(Error::NoSuchRoute),
    }
}

async fn embedded(
    app: &ApiState,
    request_headers: &HeaderMap,
    content_type: &'static str,
    text: &'static str,
) -> Result<Response, Error> {
    // Asked for again each time, which costs a 304: a new version of the service has a new page
    // under the old address.
    let mut response = RenderedDocument::embedded(content_type, text)
        .respond(&app.core, request_headers, CachePolicy::Public)
        .await?;
    insert_browser_headers(response.headers_mut(), POLICY);
    Ok(response)
}
