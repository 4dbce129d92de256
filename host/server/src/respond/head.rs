//! The head of an answer with rows: credit, tag, name and coding. What only one route says is added
//! to `shared` by that route.

use axum::body::Body;
use axum::response::Response;
use http::header::{
    CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_ENCODING, CONTENT_TYPE, ETAG, VARY,
};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use yearbook_domain::{Namespace, Snapshot};

use super::{EntityTag, attribution, body};
use crate::error::Error;
use crate::extract::DataRequest;
use crate::extract::content_coding::ContentCoding;
use crate::headers::GEOMETRY_OMITTED;

/// Headers of a response, about.
const HEADERS: usize = 24;

/// The head of a response.
pub(crate) struct ResponseHead {
    /// Entity tag, without the coding.
    pub(crate) tag: EntityTag,
    /// How the body is compressed. A function of the request alone, never of the body's size, so
    /// that tags hold.
    pub(crate) coding: Option<ContentCoding>,
    /// Headers of 200 and 304 alike.
    pub(crate) shared: HeaderMap,
    /// Headers of 200 alone.
    content: HeaderMap,
}

impl ResponseHead {
    /// What every answer with rows says. `name` is that of the file, without extension.
    pub(crate) fn new(
        parts: &Parts,
        asked: &DataRequest,
        tag: EntityTag,
        namespace: &Namespace,
        snapshot: &Snapshot,
        name: &str,
    ) -> Self {
        let description = asked.encoder.description();
        let coding = ContentCoding::choose(&parts.headers).filter(|_| description.compressible);

        // Room for these and what routes, limits and middleware add.
        let mut shared = HeaderMap::with_capacity(HEADERS);
        attribution::write(&mut shared, namespace, snapshot);
        shared.insert(ETAG, tag.header(coding));
        // `Last-Modified` alone would let browsers keep rows for days, past a refresh (RFC 9111,
        // 4.2.2).
        shared.insert(CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
        // The key decides by its plan how many rows there are.
        shared.insert(VARY, HeaderValue::from_static("Accept, Accept-Encoding, X-API-Key"));
        if !asked.query.geometry {
            shared.insert(GEOMETRY_OMITTED, HeaderValue::from_static("true"));
        }

        let mut content = HeaderMap::new();
        insert_text(&mut content, CONTENT_TYPE, description.media_type.clone());
        // Only JSON is shown in a browser as it is; anything else could be a page with scripts of
        // this origin.
        if description.media_type != "application/json" {
            insert_text(
                &mut content,
                CONTENT_DISPOSITION,
                format!("attachment; filename=\"{name}.{}\"", description.extension),
            );
        }
        if let Some(coding) = coding {
            content.insert(CONTENT_ENCODING, HeaderValue::from_static(coding.name()));
        }
        Self { tag, coding, shared, content }
    }

    /// 304.
    pub(crate) fn not_modified(self) -> Response {
        let mut response = Response::new(body::empty());
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        *response.headers_mut() = self.shared;
        response
    }

    /// 200 with `body`.
    pub(crate) fn with(self, body: Body) -> Response {
        let mut response = Response::new(body);
        *response.headers_mut() = self.shared;
        response.headers_mut().extend(self.content);
        response
    }
}

/// Writes a header made of text that publishing or the host has checked; a value that is none after
/// all is logged and left out.
pub(crate) fn insert_text(headers: &mut HeaderMap, name: HeaderName, text: String) {
    match HeaderValue::try_from(text) {
        Ok(value) => {
            headers.insert(name, value);
        }
        Err(failure) => drop(Error::internal("write a header", &failure)),
    }
}
