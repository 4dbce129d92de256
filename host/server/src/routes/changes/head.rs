//! Headers of an answer with changes (contract 4). All of them are known before anything is read.

use axum::body::Body;
use axum::response::Response;
use http::header::{CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_ENCODING, CONTENT_TYPE, ETAG, VARY};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use yearbook_sandbox::OptionValue;
use yearbook_snapshot::SLICING_VERSION;

use super::Answer;
use crate::error::Error;
use crate::extract::Asked;
use crate::extract::coding::Coding;
use crate::headers::{GEOMETRY_OMITTED, HAS_MORE, ROW_CAP, TRUNCATED, WATERMARK};
use crate::respond::{Tag, attribution, body};

/// The head of a response.
pub(super) struct Head {
    /// Entity tag, without the coding.
    pub(super) tag: Tag,
    /// How the body is compressed.
    pub(super) coding: Option<Coding>,
    /// Headers of 200 and 304 alike.
    shared: HeaderMap,
    /// Headers of 200 alone.
    content: HeaderMap,
}

impl Head {
    /// What can be said of `answer`.
    pub(super) fn new(parts: &Parts, asked: &Asked, answer: &Answer, options: &[OptionValue]) -> Self {
        let description = asked.encoder.description();
        let plan = &answer.plan;
        // The plan decides the rows and their credit, the others how they are written; how a value is printed here is of no matter.
        let decides = (plan, asked.encoder.digest(), description.complete(options), SLICING_VERSION);
        let tag = Tag::of_bytes(format!("{decides:?}").as_bytes());
        let coding = Coding::choose(&parts.headers).filter(|_| description.compressible);

        let mut shared = HeaderMap::new();
        attribution::write(&mut shared, &plan.namespace, &plan.snapshot);
        shared.insert(ETAG, tag.header(coding));
        shared.insert(CACHE_CONTROL, HeaderValue::from_static("private"));
        shared.insert(VARY, HeaderValue::from_static("Accept, Accept-Encoding, X-API-Key"));
        put(&mut shared, WATERMARK, answer.watermark.clone());
        shared.insert(HAS_MORE, HeaderValue::from_static(if answer.more { "true" } else { "false" }));
        if let Some(cap) = answer.capped_at {
            shared.insert(TRUNCATED, HeaderValue::from_static("true"));
            shared.insert(ROW_CAP, HeaderValue::from(cap));
        }
        if !asked.query.geometry {
            shared.insert(GEOMETRY_OMITTED, HeaderValue::from_static("true"));
        }

        let mut content = HeaderMap::new();
        put(&mut content, CONTENT_TYPE, description.media_type.clone());
        if description.format != "json" {
            let name = format!("attachment; filename=\"{}_changes.{}\"", plan.dataset, description.extension);
            put(&mut content, CONTENT_DISPOSITION, name);
        }
        if let Some(coding) = coding {
            content.insert(CONTENT_ENCODING, HeaderValue::from_static(coding.name()));
        }
        Self { tag, coding, shared, content }
    }

    /// 304.
    pub(super) fn not_modified(&self) -> Response {
        let mut response = Response::new(body::unsaid());
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        *response.headers_mut() = self.shared.clone();
        response
    }

    /// 200 with `body`.
    pub(super) fn with(&self, body: Body) -> Response {
        let mut response = Response::new(body);
        *response.headers_mut() = self.shared.clone();
        response.headers_mut().extend(self.content.clone());
        response
    }
}

fn put(headers: &mut HeaderMap, name: HeaderName, text: String) {
    match HeaderValue::try_from(text) {
        Ok(value) => {
            headers.insert(name, value);
        }
        Err(failure) => drop(Error::broken("write a header", &failure)),
    }
}
