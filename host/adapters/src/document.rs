//! Documents that adapters write (contract-17-documents): status, headers, tag, compression.

use std::borrow::Cow;

use axum::response::Response;
use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_LANGUAGE, CONTENT_TYPE, LINK, LOCATION, VARY};
use http::request::Parts;
use http::status::InvalidStatusCode;
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use sha2::{Digest as _, Sha256};
use yearbook_http::document::CachePolicy;
use yearbook_http::headers::{append_text, insert_browser_headers, insert_text};
use yearbook_http::settings::PublicUrl;
use yearbook_http::{Core, EntityTag, Error, RenderedDocument, status};
use yearbook_sandbox::{PluginAdapter, adapter};

/// Content security policy of documents: a browser runs nothing of them.
pub(crate) const SECURITY_POLICY: &str = "sandbox; default-src 'none'";

/// A document that can be sent again and again.
pub(crate) struct PreparedDocument {
    rendered: RenderedDocument,
    status: StatusCode,
    /// The document without its body.
    head: adapter::Document,
}

impl PreparedDocument {
    /// Prepares what `plugin` wrote.
    ///
    /// # Errors
    /// 500 for a status or a type that is none, which the sandbox lets through as little.
    pub(crate) fn new(plugin: &PluginAdapter, written: adapter::Document) -> Result<Self, Error> {
        Self::with_tag_of(plugin.digest().as_str().as_bytes(), written)
    }

    /// The same, of a release with this digest.
    pub(crate) fn with_tag_of(release: &[u8], written: adapter::Document) -> Result<Self, Error> {
        let invalid = |failure: &dyn std::fmt::Display| Error::internal("send a document", failure);
        let mut head = written;
        let status = head.status.try_into();
        let status: StatusCode = status.map_err(|failure: InvalidStatusCode| invalid(&failure))?;
        let media_type =
            HeaderValue::try_from(&head.media_type).map_err(|failure| invalid(&failure))?;
        let tag = entity_tag(release, &head);
        let bytes = Bytes::from(std::mem::take(&mut head.body));
        let rendered = RenderedDocument::tagged(media_type, bytes, tag).with_coding_cache();
        Ok(Self { rendered, status, head })
    }

    /// Memory that it takes, about.
    pub(crate) fn bytes(&self) -> usize {
        let links = self.head.links.iter().map(|link| link.href.len() + link.rel.len());
        self.rendered.len_with_codings() + links.sum::<usize>()
    }

    /// Answers `request` with it, or 304 to a client that has it. `is_passing`: it depends on the
    /// caller or on the time.
    ///
    /// # Errors
    /// 412 to a client that asks for another one.
    pub(crate) async fn respond(
        &self,
        core: &Core,
        request: &Parts,
        is_passing: bool,
        plugin: &PluginAdapter,
    ) -> Result<Response, Error> {
        let is_post = request.method == Method::POST;
        // A tag is of what is there: no other status has one, and the answer to a POST is of a
        // moment.
        let is_tagged = !is_post && self.status == status::OK;
        let policy = if is_tagged { CachePolicy::Public } else { CachePolicy::NoStore };
        let mut response = self.rendered.respond(core, &request.headers, policy).await?;
        if response.status() == status::OK {
            *response.status_mut() = self.status;
            insert_headers(core, response.headers_mut(), &self.head);
        }
        let headers = response.headers_mut();
        insert_text(headers, VARY, &vary(plugin, is_passing));
        let cache = match (is_post, is_passing) {
            (true, _) => "no-store",
            (false, true) => "private, no-cache",
            (false, false) => "public, no-cache",
        };
        headers.insert(CACHE_CONTROL, HeaderValue::from_static(cache));
        Ok(response)
    }
}

/// Inserts what `document` says of itself, and what keeps a browser from running it.
pub(crate) fn insert_headers(core: &Core, headers: &mut HeaderMap, document: &adapter::Document) {
    insert_browser_headers(headers, SECURITY_POLICY);
    if matches!(document.status, 202 | 204 | 303) {
        // Without a body there is nothing to have a type.
        headers.remove(CONTENT_TYPE);
    } else {
        insert_text(headers, CONTENT_TYPE, &document.media_type);
    }
    if let Some(language) = &document.language {
        insert_text(headers, CONTENT_LANGUAGE, language);
    }
    if let Some(location) = &document.location {
        insert_text(headers, LOCATION, &outer_address(core, location));
    }
    insert_links(core, headers, &document.links);
}

/// Appends `links`, an entry each.
pub(crate) fn insert_links(core: &Core, headers: &mut HeaderMap, links: &[adapter::Link]) {
    for adapter::Link { href, rel, media_type } in links {
        let href = outer_address(core, href);
        let media_type = media_type.as_ref().map(|of| format!("; type=\"{of}\""));
        let media_type = media_type.unwrap_or_default();
        append_text(headers, LINK, &format!("<{href}>; rel=\"{rel}\"{media_type}"));
    }
}

/// An address of an adapter as clients have it. Adapters name paths as the service has them; before
/// these comes the path of `server.public_url`, which proxies take away.
fn outer_address<'a>(core: &Core, address: &'a str) -> Cow<'a, str> {
    let public_url = core.settings.server.public_url.as_ref();
    match public_url.map(PublicUrl::path).filter(|path| !path.is_empty()) {
        Some(path) if address.starts_with('/') => format!("{path}{address}").into(),
        _ => address.into(),
    }
}

/// Headers of the request that an answer of `plugin` depends on.
pub(crate) fn vary(plugin: &PluginAdapter, is_passing: bool) -> String {
    let mut names = vec!["Accept", "Accept-Encoding", "Accept-Language", "Host"];
    names.extend(plugin.description().headers.iter().map(String::as_str));
    if is_passing {
        names.extend(["X-API-Key", "Authorization"]);
    }
    names.join(", ")
}

/// Tag of the bytes, of what is said of them, and of the release that wrote them.
fn entity_tag(release: &[u8], document: &adapter::Document) -> EntityTag {
    let mut hash = Sha256::new();
    let language = document.language.as_deref().unwrap_or_default();
    for part in [release, document.media_type.as_bytes(), language.as_bytes()] {
        hash.update(part.len().to_le_bytes());
        hash.update(part);
    }
    hash.update(&document.body);
    EntityTag::from_hash(&hash.finalize())
}
