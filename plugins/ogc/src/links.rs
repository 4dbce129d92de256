//! Links as documents have them.

use serde_json::{Value, json};
use yearbook_sdk::adapter::Request;

/// Media types.
pub(crate) const JSON: &str = "application/json";
pub(crate) const GEOJSON: &str = "application/geo+json";
pub(crate) const SCHEMA: &str = "application/schema+json";
pub(crate) const OPENAPI: &str = "application/vnd.oai.openapi+json;version=3.0";
pub(crate) const HTML: &str = "text/html";

/// A link.
pub(crate) fn link(rel: &str, href: impl Into<String>, media_type: &str) -> Value {
    json!({ "rel": rel, "href": href.into(), "type": media_type })
}

/// Links of a document to itself and to its page.
pub(crate) fn own(request: &Request, media_type: &str) -> Vec<Value> {
    vec![
        link("self", address(request), media_type),
        link("alternate", request.address_with("f", "html"), HTML),
    ]
}

/// The address of a request.
pub(crate) fn address(request: &Request) -> String {
    request.address_of(&request.segments(), request.parameters())
}

/// The address of something below the mount.
pub(crate) fn below(request: &Request, segments: &[&str]) -> String {
    request.address_of(segments, [])
}

/// The address of the service, without a slash at its end.
pub(crate) fn service(request: &Request) -> &str {
    request.base.strip_suffix("/api/ogc").unwrap_or(&request.base)
}
