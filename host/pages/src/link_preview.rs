//! Page for programs that draw previews of links, at the address of a link to rows: title, agency
//! and licence of the dataset (contract-15-link-previews). Never touches a row.

use askama::Template;
use axum::body::Body;
use axum::response::Response;
use http::HeaderValue;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use yearbook_domain::Dataset;
use yearbook_http::{Error, media_types};

use super::html;
use crate::credit_view::CreditView;

/// The page.
#[derive(Template)]
#[template(path = "link_preview.html")]
struct LinkPreviewPage<'a> {
    title: &'a str,
    credit: CreditView<'a>,
}

/// Returns 200 with the page of `dataset`.
///
/// # Errors
/// 500 when a value cannot be written, which is a bug.
pub fn link_preview(dataset: &Dataset) -> Result<Response, Error> {
    let snapshot = &dataset.current;
    let page = LinkPreviewPage {
        title: snapshot.title.as_deref().unwrap_or(dataset.name.as_str()),
        credit: CreditView(&snapshot.credit),
    };
    let text = html::render_text(&page)
        .map_err(|failure| Error::internal("render the preview of a link", &failure))?;
    let mut response = Response::new(Body::from(text));
    let headers = response.headers_mut();
    html::insert_headers(headers);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_types::HTML));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}
