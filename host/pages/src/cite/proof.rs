//! `/cite/{name}/{snapshot}/proof`: the entry of a snapshot in the log of what was published, and
//! the proof that holds without the service (contract-21-log-cited).

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::Response;
use serde_json::json;
use yearbook_domain::query::{last_value, parse_pairs, scalar};
use yearbook_http::document::CachePolicy;
use yearbook_http::{Error, RenderedDocument, media_types};

use super::request::parse_path;
use super::unknown;
use crate::{PageRefusal, PagesState};

/// Name of the format that has the proof alone.
const TEXT: &str = "tlog-proof";

/// `GET /cite/{name}/{snapshot}/proof`: as a document, or with `format=tlog-proof` the proof alone.
pub(crate) async fn prove(
    State(app): State<Arc<PagesState>>,
    request: Request,
) -> Result<Response, Error> {
    let (parts, _) = request.into_parts();
    let (name, id) = parse_path(&parts)?;
    let pairs = parse_pairs(parts.uri.query().unwrap_or_default());
    let format = last_value(&pairs, "format");
    if let Some(format) = format {
        scalar::check_literal("format", format, [TEXT]).map_err(Error::invalid_parameter)?;
    }
    // The same path as every citation, so an id that is not visible is one that never was.
    if app.core.catalog_cache.cited_snapshot(&name, &id).await?.is_none() {
        return Err(unknown(&app, &name, &id));
    }
    let found = app.log.proof(&name, &id).await?;
    let (entry, proof) = found.ok_or(PageRefusal::NotLogged)?;
    let text = proof.to_text();
    let document = if format.is_some() {
        RenderedDocument::text(media_types::TEXT, text)
    } else {
        RenderedDocument::new(&json!({
            "name": name,
            "snapshot_id": id,
            "index": proof.index,
            "entry": entry,
            "proof": text,
            "key": app.log.verifier_key(),
        }))?
    };
    document.respond(&app.core, &parts.headers, CachePolicy::Public).await
}
