//! From a template to an answer: rendering, and the headers that keep a page to itself. Never
//! touches what a page says.

use askama::Template;
use axum::response::Response;
use http::HeaderMap;

use crate::error::Error;
use crate::http::headers::insert_browser_headers;
use crate::response::RenderedDocument;
use crate::response::document::CachePolicy;
use crate::state::AppState;

/// This host alone, no inline script and no inline style (contract-9-no-other-host).
const POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self'; script-src 'self'; form-action 'self'; \
                      base-uri 'none'; frame-ancestors 'none'";

/// Renders a page.
///
/// # Errors
/// [`Error::Internal`] when a value cannot be written, which is a bug.
pub(crate) fn render(page: &impl Template) -> Result<RenderedDocument, Error> {
    let text = page.render().map_err(|failure| Error::internal("render a page", &failure))?;
    Ok(RenderedDocument::html(text))
}

/// 200 with `document`, or 304 when the client has it.
///
/// # Errors
/// Those of [`RenderedDocument::respond`].
pub(crate) async fn respond(
    app: &AppState,
    request_headers: &HeaderMap,
    document: &RenderedDocument,
    policy: CachePolicy,
) -> Result<Response, Error> {
    let mut response = document.respond(app, request_headers, policy).await?;
    insert_headers(response.headers_mut());
    Ok(response)
}

/// Headers of every answer that a browser shows.
pub(crate) fn insert_headers(headers: &mut HeaderMap) {
    insert_browser_headers(headers, POLICY);
}
