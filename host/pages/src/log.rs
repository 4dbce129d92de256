//! `/log`: the log of what was published, as tiles of static files with signed checkpoints
//! (contract-21-log). Nothing here tells of what is not visible: the log has its entries in the
//! transactions that make versions visible.

mod publication_log;

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::Response;
use http::HeaderValue;
use yearbook_http::document::CachePolicy;
use yearbook_http::{EntityTag, Error, RenderedDocument, media_types};
use yearbook_log::TileAddress;

use crate::PagesState;

pub(crate) use publication_log::PublicationLog;

/// Start of the addresses of tiles.
const TILES: &str = "/log/tile/";

/// `GET /log/checkpoint`.
pub(crate) async fn checkpoint(
    State(app): State<Arc<PagesState>>,
    request: Request,
) -> Result<Response, Error> {
    let (parts, _) = request.into_parts();
    let head = app.log.head().await?;
    let document = RenderedDocument::text(media_types::TEXT, head.checkpoint.clone());
    document.respond(&app.core, &parts.headers, CachePolicy::Brief).await
}

/// `GET /log/tile/{level}/{number}` and `/log/tile/entries/{number}`: 404 for what the log of the
/// present size does not have.
pub(crate) async fn tile(
    State(app): State<Arc<PagesState>>,
    request: Request,
) -> Result<Response, Error> {
    let (parts, _) = request.into_parts();
    let path = parts.uri.path().strip_prefix(TILES).unwrap_or_default();
    let address = TileAddress::parse(path).ok_or(Error::NoSuchRoute)?;
    if !app.log.has(address).await? {
        return Err(Error::NoSuchRoute);
    }
    let bytes = app.log.tile(address).await?;
    let tag = EntityTag::from_bytes(&bytes);
    let content_type = HeaderValue::from_static(media_types::BYTES);
    let document = RenderedDocument::tagged(content_type, bytes, tag);
    document.respond(&app.core, &parts.headers, CachePolicy::Immutable).await
}
