//! Bodies of everything that is not a success (contract-2-sentence, spec-2.4-validation):
//! `HTTPValidationError` for 422, `{"detail"}` for the others, RFC 9457 for clients that ask for
//! it.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use http::header::{
    ALLOW, CACHE_CONTROL, CONTENT_RANGE, CONTENT_TYPE, RETRY_AFTER, VARY, WWW_AUTHENTICATE,
};
use http::{HeaderMap, HeaderValue};
use serde_json::{Value, json};
use yearbook_domain::{Refusal, ValidationError};

use crate::Error;
use crate::accept;
use crate::body_schema::BodySchema;
use crate::headers::{ERROR_CODE, SEC_FETCH_MODE, WATERMARK};
use crate::json_body;
use crate::media_types::{JSON, PROBLEM_JSON};

json_body! {
    /// Body of 422.
    pub struct InvalidParametersBody<'a> named "HTTPValidationError":
        "Parameters that are wrong, all of them."
    {
        detail: &'a [ValidationError],
    }

    /// Body of every other refusal and failure.
    pub struct ErrorBody named "Error": "Why not, and what to do next." {
        detail: String,
    }

    /// Body for clients that name problem details.
    pub struct ProblemBody<'a> named "Problem": "The same as RFC 9457 has it." {
        kind as "type": &'static str => {"format": "uri-reference"},
        title: &'static str,
        status: u16,
        detail: String,
        code: &'static str,
        request_id: &'a str,
    }
}

impl BodySchema for ValidationError {
    const COMPONENT: Option<&'static str> = Some("ValidationError");

    /// As FastAPI describes it, so that its clients know it (spec-2.4-validation).
    fn schema() -> Value {
        json!({
            "type": "object",
            "description": "One wrong parameter, in the words of Pydantic v2.",
            "properties": {
                "loc": {"type": "array", "items": {"type": ["string", "integer"]}, "description": "`query` or `path`, then the parameter."},
                "msg": {"type": "string"},
                "type": {"type": "string"},
                "input": {"description": "What was sent; null when it is missing."},
                "ctx": {"type": "object"},
            },
            "required": ["loc", "msg", "type"],
        })
    }
}

/// Shape of errors below an address, where a room has one of its own. It takes the error, the
/// path and id of the request, and a response with the error's status.
#[derive(Clone, Copy)]
pub struct ErrorLook {
    /// Returns whether the room answers at a path.
    pub covers: fn(&str) -> bool,
    /// Makes headers and body.
    pub render: fn(&Error, &str, &str, Response) -> Response,
}

/// Pages in place of the bodies of errors.
pub trait ErrorPages: Send + Sync {
    /// Returns whether the client of `request` would rather have a page.
    fn are_wanted(&self, request: &Request) -> bool;

    /// Puts a page in place of the body of `response`, which `error` has made. `id`: that of the
    /// request.
    fn show(&self, error: &Error, id: &str, response: &mut Response);
}

/// Shape in which a request has the errors that it may be answered with.
pub struct RequestedErrors<'a> {
    /// That of a room, and the path.
    look: Option<(ErrorLook, String)>,
    /// Pages, where one is wanted.
    pages: Option<&'a dyn ErrorPages>,
    problem: bool,
    may_ask: bool,
}

impl<'a> RequestedErrors<'a> {
    /// The shape that one of `looks` has for the path of `request`, or the one that it accepts.
    pub fn new(looks: &[ErrorLook], pages: Option<&'a dyn ErrorPages>, request: &Request) -> Self {
        let (path, headers) = (request.uri().path(), request.headers());
        let look = looks.iter().find(|look| (look.covers)(path));
        Self {
            look: look.map(|look| (*look, path.to_owned())),
            pages: pages.filter(|pages| pages.are_wanted(request)),
            problem: accept::names(headers, PROBLEM_JSON),
            may_ask: may_ask(headers),
        }
    }

    /// Gives a declined request its body. An error in the shape of a room is final. `id`: that of
    /// the request.
    pub fn render(self, mut response: Response, id: &str) -> Response {
        let Some(error) = response.extensions_mut().remove::<Arc<Error>>() else { return response };
        if let Some((look, path)) = self.look {
            return (look.render)(&error, &path, id, response);
        }
        let (content_type, body) = body(&error, self.problem, id);
        insert_headers(&error, content_type, self.may_ask, response.headers_mut());
        response.headers_mut().insert(VARY, HeaderValue::from_static("Accept"));
        *response.body_mut() = Body::from(body.to_string());
        if let Some(pages) = self.pages {
            pages.show(&error, id, &mut response);
        }
        response
    }
}

/// Returns whether a browser may ask a person for a key where the request of `headers` has none: no
/// script may have it do so (contract-15-challenge).
pub fn may_ask(headers: &HeaderMap) -> bool {
    headers.get(SEC_FETCH_MODE).is_none_or(|mode| mode == "navigate")
}

/// Inserts the headers of every declined request but those of the share. `may_ask`: as
/// [`may_ask`] says.
pub fn insert_headers(
    error: &Error,
    content_type: &'static str,
    may_ask: bool,
    headers: &mut HeaderMap,
) {
    insert_error_headers(error, content_type, headers);
    if let Error::Refused(Refusal::WatermarkGone { oldest, .. }) = error
        && let Ok(oldest) = HeaderValue::try_from(oldest.as_str())
    {
        headers.insert(WATERMARK, oldest);
    }
    if matches!(error, Error::MethodNotAllowed) {
        // Every route but the forms of sign-up is read-only (spec-1-read-only); OPTIONS is CORS's.
        let allowed = headers.get(ALLOW).and_then(|methods| methods.to_str().ok());
        let posts = allowed.is_some_and(|methods| methods.contains("POST"));
        let methods = if posts { "GET, HEAD, POST, OPTIONS" } else { "GET, HEAD, OPTIONS" };
        headers.insert(ALLOW, HeaderValue::from_static(methods));
    }
    if matches!(error, Error::Refused(Refusal::KeyMissing | Refusal::KeyInvalid)) {
        headers.insert(
            WWW_AUTHENTICATE,
            HeaderValue::from_static("ApiKey realm=\"yearbook\", header=\"X-API-Key\""),
        );
        if may_ask {
            let basic = HeaderValue::from_static("Basic realm=\"yearbook\", charset=\"UTF-8\"");
            headers.append(WWW_AUTHENTICATE, basic);
        }
    }
}

/// Inserts the headers of every declined request, on the share too: type of the body, code of the
/// refusal, time to wait, size of a file where a range lies beyond it.
pub fn insert_error_headers(error: &Error, content_type: &'static str, headers: &mut HeaderMap) {
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(ERROR_CODE, HeaderValue::from_static(error.code()));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if let Some(seconds) = error.retry_after() {
        headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    if let Error::RangeNotSatisfiable { bytes } = error
        && let Ok(size) = HeaderValue::try_from(format!("bytes */{bytes}"))
    {
        headers.insert(CONTENT_RANGE, size);
    }
}

/// Returns content type and body for `error`. `problem`: the client names problem details. `id`:
/// that of the request.
pub fn body(error: &Error, problem: bool, id: &str) -> (&'static str, Value) {
    if let Error::Refused(Refusal::InvalidParameters(problems)) = error {
        return (JSON, json!(InvalidParametersBody { detail: problems }));
    }
    let detail = error.message(id);
    if !problem {
        return (JSON, json!(ErrorBody { detail }));
    }
    let status = error.status();
    let title = status.canonical_reason().unwrap_or_default();
    let body = ProblemBody {
        kind: "about:blank",
        title,
        status: status.as_u16(),
        detail,
        code: error.code(),
        request_id: id,
    };
    (PROBLEM_JSON, json!(body))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_one_sentence_and_problems_say_the_same_contract_2() {
        let error = Error::from(Refusal::NoSuchDataset { name: "cpi".to_owned() });
        let sentence =
            "There is no dataset called 'cpi'; look up the name at /v1/datasets, do not guess.";
        assert_eq!(body(&error, false, "r"), ("application/json", json!({"detail": sentence})));
        let (content_type, problem) = body(&error, true, "r");
        assert_eq!(
            (content_type, &problem["detail"], &problem["status"]),
            (PROBLEM_JSON, &json!(sentence), &json!(404))
        );
    }

    #[test]
    fn wrong_parameters_keep_their_shape_whatever_is_accepted_contract_2() {
        let error = Error::invalid_parameter(ValidationError::missing("datasets"));
        let expected = json!({"detail": [{"loc": ["query", "datasets"], "msg": "Field required", "type": "missing", "input": null}]});
        assert_eq!(body(&error, true, "r"), ("application/json", expected.clone()));
        assert_eq!(body(&error, false, "r"), ("application/json", expected));
    }
}
