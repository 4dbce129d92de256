//! Headers of a data response (spec 4.1, contract 3). Everything but the next page is known before anything is read, so a
//! 304 and a HEAD say the same as a GET would.

use axum::body::Body;
use axum::response::Response;
use http::header::{CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_ENCODING, CONTENT_TYPE, ETAG, LAST_MODIFIED, LINK, VARY};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use yearbook_domain::ReadPlan;
use yearbook_sandbox::OptionValue;

use crate::error::Error;
use crate::extract::Asked;
use crate::extract::coding::Coding;
use crate::headers::{GEOMETRY_OMITTED, NEXT_PAGE, ROW_CAP, TRUNCATED};
use crate::respond::{Tag, attribution, body, conditional, links};
use crate::state::AppState;

/// Where the alias of spec 4.2 begins.
const ALIAS: &str = "/v1/series/";

/// The head of a response.
pub(super) struct Head {
    /// Entity tag, without the coding.
    pub(super) tag: Tag,
    /// How the body is compressed. A function of the request alone, never of the body's size, so that tags hold.
    pub(super) coding: Option<Coding>,
    /// Headers of 200 and 304 alike.
    shared: HeaderMap,
    /// Headers of 200 alone.
    content: HeaderMap,
}

impl Head {
    /// What can be said of `plan`'s response before it is made.
    pub(super) fn new(state: &AppState, parts: &Parts, asked: &Asked, plan: &ReadPlan, options: &[OptionValue]) -> Self {
        let description = asked.encoder.description();
        let tag = Tag::of_plan(plan, description, asked.encoder.digest(), options);
        let coding = Coding::choose(&parts.headers).filter(|_| description.compressible);

        let mut shared = HeaderMap::new();
        attribution::write(&mut shared, &plan.namespace, &plan.snapshot);
        shared.insert(ETAG, tag.header(coding));
        if let Some(date) = conditional::http_date(plan.snapshot.created_at) {
            shared.insert(LAST_MODIFIED, date);
        }
        shared.insert(CACHE_CONTROL, HeaderValue::from_static("private"));
        // The key decides by its plan how many rows there are.
        shared.insert(VARY, HeaderValue::from_static("Accept, Accept-Encoding, X-API-Key"));
        if !asked.query.geometry {
            shared.insert(GEOMETRY_OMITTED, HeaderValue::from_static("true"));
        }
        if parts.uri.path().starts_with(ALIAS) {
            let path = format!("/v1/datasets/{}/data", plan.dataset);
            put(&mut shared, LINK, links::canonical(state.settings.server.public_url.as_ref(), parts, &path, &asked.pairs));
        }

        let mut content = HeaderMap::new();
        put(&mut content, CONTENT_TYPE, description.media_type.clone());
        if description.format != "json" {
            put(&mut content, CONTENT_DISPOSITION, format!("attachment; filename=\"{}.{}\"", plan.dataset, description.extension));
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

/// Headers of a response after which rows remain: where they go on, and whether the plan's cap held them back.
pub(super) fn more(headers: &mut HeaderMap, state: &AppState, parts: &Parts, asked: &Asked, plan: &ReadPlan, cursor: &str) {
    let canonical = headers.remove(LINK);
    put(headers, LINK, links::next(state.settings.server.public_url.as_ref(), parts, &asked.pairs, cursor));
    if let Some(canonical) = canonical {
        headers.append(LINK, canonical);
    }
    put(headers, NEXT_PAGE, cursor.to_owned());
    if let Some(cap) = plan.capped_at {
        headers.insert(TRUNCATED, HeaderValue::from_static("true"));
        headers.insert(ROW_CAP, HeaderValue::from(cap));
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
