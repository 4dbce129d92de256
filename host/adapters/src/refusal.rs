//! Refusals: those that adapters alone know, and the bodies that adapters write for all of them
//! (contract-17-refusals). A refusal that no adapter can write has the body of `/v1`.

use std::sync::Arc;

use axum::body::Body;
use axum::response::Response;
use http::StatusCode;
use http::request::Parts;
use yearbook_domain::{KeyId, Refusal, ValidationError};
use yearbook_http::middleware::error_bodies;
use yearbook_http::middleware::request_id::RequestId;
use yearbook_http::{Error, RoomRefusal, media_types, status};
use yearbook_sandbox::{AdapterCalls, adapter, catalogue};

use crate::request::{BODY_BYTES, BODY_TIMEOUT};
use crate::{AdaptersState, document, failure};

/// Reasons of adapters alone for which a request gets no 2xx.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AdapterRefusal {
    /// 404: nothing serves at this name.
    Unknown(String),
    /// 503: the adapter has releases, and none of them may serve.
    Unavailable(String),
    /// 400: path, query or a header is not UTF-8.
    NotText,
    /// 400: the body ended early.
    BodyUnreadable,
    /// 400: the body did not arrive in time.
    BodyLate,
    /// 413: the body is too long.
    BodyTooLong,
    /// 414: more segments than an adapter takes.
    TooManySegments,
    /// 414: more parameters than an adapter takes.
    TooManyParameters,
    /// 431: a header is longer than an adapter takes.
    HeaderTooLong,
    /// 413: the caller's plan ends the rows before their end, and nothing says so around them.
    RowsCut {
        /// Rows that the plan has, where they are counted.
        rows: Option<u64>,
    },
    /// 405: a method that no adapter takes, or POST at one that does not.
    OtherMethod {
        /// Set where this one takes POST.
        posts: bool,
    },
}

impl RoomRefusal for AdapterRefusal {
    fn status_and_code(&self) -> (StatusCode, &'static str) {
        match self {
            Self::Unknown(_) => (status::NOT_FOUND, "no_such_adapter"),
            Self::Unavailable(_) => (status::SERVICE_UNAVAILABLE, "adapter_unavailable"),
            Self::NotText => (status::BAD_REQUEST, "not_text"),
            Self::BodyUnreadable => (status::BAD_REQUEST, "body_unreadable"),
            Self::BodyLate => (status::BAD_REQUEST, "body_late"),
            Self::BodyTooLong => (status::PAYLOAD_TOO_LARGE, "body_too_long"),
            Self::TooManySegments => (status::URI_TOO_LONG, "too_many_segments"),
            Self::TooManyParameters => (status::URI_TOO_LONG, "too_many_parameters"),
            Self::HeaderTooLong => (status::HEADERS_TOO_LARGE, "header_too_long"),
            Self::RowsCut { .. } => (status::PAYLOAD_TOO_LARGE, "rows_cut"),
            Self::OtherMethod { .. } => (status::METHOD_NOT_ALLOWED, "method_not_allowed"),
        }
    }

    fn message(&self) -> String {
        match self {
            Self::Unknown(name) => {
                format!("There is no API called '{name}' here; ask the operator which there are.")
            }
            Self::Unavailable(name) => {
                format!("The API '{name}' is out of service at the moment; try again in a minute.")
            }
            Self::NotText => {
                "Path, query or a header is not UTF-8 text; encode it as UTF-8.".to_owned()
            }
            Self::BodyUnreadable => {
                "The body of the request ended early; send it again.".to_owned()
            }
            Self::BodyLate => {
                let seconds = BODY_TIMEOUT.as_secs();
                format!("The body of the request did not arrive within {seconds} s; send it again.")
            }
            Self::BodyTooLong => {
                format!("The body of the request is longer than {BODY_BYTES} bytes; send less.")
            }
            Self::TooManySegments => {
                "The path has more segments than this API takes; shorten it.".to_owned()
            }
            Self::TooManyParameters => {
                "The query has more parameters than this API takes; send fewer.".to_owned()
            }
            Self::HeaderTooLong => "A header is longer than this API takes; shorten it.".to_owned(),
            Self::RowsCut { rows } => {
                let most = rows.map(|rows| format!(", {rows} rows")).unwrap_or_default();
                format!(
                    "These rows are more than the plan of this key has in one answer{most}; select \
                     fewer of them."
                )
            }
            Self::OtherMethod { posts: false } => {
                "This API can only be read; use GET, HEAD or OPTIONS.".to_owned()
            }
            Self::OtherMethod { posts: true } => {
                "This API can only be read; use GET, HEAD, POST or OPTIONS.".to_owned()
            }
        }
    }
}

/// Writer of the bodies of a request's refusals.
pub(crate) struct RefusalWriter<'a> {
    app: &'a AdaptersState,
    request_id: String,
    may_ask: bool,
    /// Owner of the request's key, once it was checked.
    pub(crate) caller: Option<KeyId>,
}

impl<'a> RefusalWriter<'a> {
    /// Of the request of `parts`.
    pub(crate) fn new(app: &'a AdaptersState, parts: &Parts) -> Self {
        let id = parts.extensions.get::<RequestId>();
        Self {
            app,
            request_id: id.map(|id| id.0.clone()).unwrap_or_default(),
            may_ask: error_bodies::may_ask(&parts.headers),
            caller: None,
        }
    }

    /// Returns `refused`, which carries its error, with the body that the adapter writes. Where the
    /// adapter is at fault, or has no place, the response stays as it is, and gets the body of
    /// `/v1`.
    pub(crate) async fn write(&self, calls: &mut AdapterCalls, refused: Response) -> Response {
        let Some(error) = refused.extensions().get::<Arc<Error>>().cloned() else {
            return refused;
        };
        if matches!(*error, Error::PluginFailed | Error::Busy { .. }) {
            return refused;
        }
        let told = describe(&error, &self.request_id);
        let known = told.status;
        let failure = match calls.refuse(told).await {
            Ok(written) => match allowed_status(known, written.status) {
                Some(status) => return self.render(&error, refused, status, written),
                None => {
                    let rule = format!("status {} for a refusal with {known}", written.status);
                    failure::broken_rule(calls, rule)
                }
            },
            Err(failure) => failure,
        };
        // The client gets the refusal, not the failure, which is recorded and logged.
        let _ = failure::record(self.app, self.caller.as_ref(), calls, Vec::new(), &failure);
        refused
    }

    fn render(
        &self,
        error: &Error,
        mut refused: Response,
        status: StatusCode,
        written: adapter::Document,
    ) -> Response {
        // The error is answered: nobody else makes a body for it.
        refused.extensions_mut().remove::<Arc<Error>>();
        *refused.status_mut() = status;
        let headers = refused.headers_mut();
        error_bodies::insert_headers(error, media_types::JSON, self.may_ask, headers);
        document::insert_headers(&self.app.core, headers, &written);
        *refused.body_mut() = Body::from(written.body);
        refused
    }
}

/// Returns the refusal as adapters are told of it.
pub(crate) fn describe(error: &Error, request_id: &str) -> catalogue::Refusal {
    let problems = match error {
        Error::Refused(Refusal::InvalidParameters(problems)) => {
            let problem = |problem: &ValidationError| catalogue::Problem {
                place: problem.loc.to_vec(),
                sentence: problem.msg.clone(),
            };
            problems.iter().map(problem).collect()
        }
        _ => {
            let sentence = error.message(request_id);
            vec![catalogue::Problem { place: Vec::new(), sentence }]
        }
    };
    let retry_after = error.retry_after();
    catalogue::Refusal {
        status: error.status().as_u16(),
        code: error.code().to_owned(),
        problems,
        retry_after: retry_after.map(|seconds| u32::try_from(seconds).unwrap_or(u32::MAX)),
    }
}

/// Returns the status that is sent where an adapter writes `written` for a refusal with `known`;
/// `None` where it may not.
fn allowed_status(known: u16, written: u16) -> Option<StatusCode> {
    let sent = match known {
        // What clients and proxies act upon.
        401..=403 | 429 | 500.. => known,
        _ if written == 200 || written / 100 == known / 100 => written,
        _ => return None,
    };
    sent.try_into().ok()
}
