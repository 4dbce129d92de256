//! Refusals of the share in the protocol's shape, `{"errorCode","message"}` (contract-12-refusals).
//! A client that is told 429 would repeat the request ten times without reading `Retry-After`, so
//! every 429 becomes a 503 here (contract-12-no-429).

use axum::body::Body;
use axum::response::Response;
use http::header::{ALLOW, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderValue, StatusCode};
use serde_json::json;
use yearbook_domain::Refusal;
use yearbook_http::headers::{
    IETF_RATE_LIMIT, IETF_RATE_LIMIT_POLICY, RATE_LIMIT, RATE_REMAINING, RATE_RESET,
};
use yearbook_http::middleware::error_bodies::insert_error_headers;
use yearbook_http::{Error, RoomRefusal, media_types, status};

/// Seconds until a request that was refused for its speed should be repeated, where nothing better
/// is known.
const DEFAULT_RETRY_AFTER_S: u64 = 1;

/// Reasons of the share alone for which a request gets no 2xx.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ShareRefusal {
    /// 400: a parameter, a header or a body that makes no sense, with the sentence.
    InvalidParameter(String),
    /// 404: no such share, schema or table.
    UnknownName {
        /// `share`, `schema` or `table`.
        kind: &'static str,
        /// The name.
        name: String,
    },
    /// 404: a table, by its name, that was published before `share.iceberg` was on.
    NotDescribed(String),
    /// 400: a version that is no longer kept, or whose changes are not known, with the sentence.
    VersionGone(String),
    /// 403: the key is of another plan.
    PlanForbidden,
    /// 403: the licence of this version forbids to hand on the file.
    LicenceForbidden,
    /// 403: the address of a file is not one of ours, has ended, or belongs to a key that does not
    /// work any more. One sentence for all, so that nobody learns which.
    AddressForbidden,
    /// 413: the body of the request is too long.
    BodyTooLong {
        /// Bytes at most.
        limit: usize,
    },
}

impl RoomRefusal for ShareRefusal {
    fn status_and_code(&self) -> (StatusCode, &'static str) {
        match self {
            Self::InvalidParameter(_) => (status::BAD_REQUEST, "invalid_parameter"),
            Self::VersionGone(_) => (status::BAD_REQUEST, "version_gone"),
            Self::UnknownName { .. } => (status::NOT_FOUND, "unknown_name"),
            Self::NotDescribed(_) => (status::NOT_FOUND, "not_described"),
            Self::PlanForbidden => (status::FORBIDDEN, "plan_forbidden"),
            Self::LicenceForbidden => (status::FORBIDDEN, "licence_forbidden"),
            Self::AddressForbidden => (status::FORBIDDEN, "address_forbidden"),
            Self::BodyTooLong { .. } => (status::PAYLOAD_TOO_LARGE, "body_too_long"),
        }
    }

    fn message(&self) -> String {
        match self {
            Self::InvalidParameter(sentence) | Self::VersionGone(sentence) => sentence.clone(),
            Self::UnknownName { kind, name } => {
                format!("There is no {kind} called '{name}'; the lists of the share have the names.")
            }
            Self::NotDescribed(name) => format!(
                "The table '{name}' is not described for Iceberg yet; ask the operator to run yearbook migrate."
            ),
            Self::PlanForbidden => {
                "The share needs a key of the Enterprise plan; ask the operator for one.".to_owned()
            }
            Self::LicenceForbidden => {
                "The licence of this version forbids to hand on whole files; ask for another version."
                    .to_owned()
            }
            Self::AddressForbidden => {
                "This address of a file is not valid or not valid any more; query the table again for a new one."
                    .to_owned()
            }
            Self::BodyTooLong { limit } => {
                format!("The body of the request is longer than {limit} bytes; send fewer hints.")
            }
        }
    }
}

/// Returns whether the share answers at `path`, and in its own shape.
pub(crate) fn is_share_path(path: &str) -> bool {
    path.strip_prefix("/share").is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Returns whether `path` is one of Iceberg REST, which has a shape of its own.
pub(crate) fn is_iceberg_path(path: &str) -> bool {
    path.strip_prefix("/share/iceberg").is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Gives a declined request of the share its status, headers and body, in the shape of Iceberg REST
/// below its `path`.
pub(crate) fn render(error: &Error, path: &str, id: &str, mut response: Response) -> Response {
    let is_too_fast = error.status() == status::TOO_MANY_REQUESTS;
    if is_too_fast {
        *response.status_mut() = status::SERVICE_UNAVAILABLE;
    }
    let body = if is_iceberg_path(path) {
        let status = response.status().as_u16();
        let kind = iceberg_type(error, status);
        json!({"error": {"message": iceberg_message(error, id), "type": kind, "code": status}})
    } else {
        json!({"errorCode": protocol_code(error), "message": message(error, id)})
    };
    let headers = response.headers_mut();
    insert_error_headers(error, media_types::JSON, headers);
    if is_too_fast && error.retry_after().is_none() {
        headers.insert(RETRY_AFTER, HeaderValue::from(DEFAULT_RETRY_AFTER_S));
    }
    for name in [RATE_LIMIT, RATE_REMAINING, RATE_RESET, IETF_RATE_LIMIT, IETF_RATE_LIMIT_POLICY] {
        headers.remove(name);
    }
    match error {
        Error::Refused(Refusal::KeyMissing | Refusal::KeyInvalid) => {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"yearbook\""));
        }
        Error::MethodNotAllowed if !headers.contains_key(ALLOW) => {
            headers.insert(ALLOW, HeaderValue::from_static("GET, HEAD, OPTIONS"));
        }
        _ => {}
    }
    *response.body_mut() = Body::from(body.to_string());
    response
}

/// Code of the protocol's servers for `error`.
fn protocol_code(error: &Error) -> &'static str {
    if let Some(refusal) = error.room::<ShareRefusal>() {
        return match refusal {
            ShareRefusal::InvalidParameter(_) => "INVALID_PARAMETER_VALUE",
            ShareRefusal::UnknownName { .. }
            | ShareRefusal::NotDescribed(_)
            | ShareRefusal::VersionGone(_) => "RESOURCE_DOES_NOT_EXIST",
            ShareRefusal::PlanForbidden
            | ShareRefusal::LicenceForbidden
            | ShareRefusal::AddressForbidden => "PERMISSION_DENIED",
            ShareRefusal::BodyTooLong { .. } => "MALFORMED_REQUEST",
        };
    }
    match error {
        Error::Refused(Refusal::KeyMissing | Refusal::KeyInvalid) => "UNAUTHENTICATED",
        Error::NoSuchRoute => "ENDPOINT_NOT_FOUND",
        Error::MethodNotAllowed => "METHOD_NOT_ALLOWED",
        other if other.status() == status::TOO_MANY_REQUESTS => "TEMPORARILY_UNAVAILABLE",
        other if other.status() == status::SERVICE_UNAVAILABLE => "TEMPORARILY_UNAVAILABLE",
        other if other.status().is_server_error() => "INTERNAL_ERROR",
        _ => "MALFORMED_REQUEST",
    }
}

/// Name of the exception that Iceberg's own clients raise.
fn iceberg_type(error: &Error, status: u16) -> &'static str {
    match (error.room(), status) {
        (Some(ShareRefusal::UnknownName { kind: "namespace", .. }), _) => {
            "NoSuchNamespaceException"
        }
        (Some(ShareRefusal::UnknownName { .. } | ShareRefusal::NotDescribed(_)), _) => {
            "NoSuchTableException"
        }
        (_, 401) => "NotAuthorizedException",
        (_, 403) => "ForbiddenException",
        (_, 404) => "NotFoundException",
        (_, 405) => "UnsupportedOperationException",
        (_, 503) => "ServiceUnavailableException",
        (_, 500..) => "InternalServerError",
        _ => "BadRequestException",
    }
}

fn iceberg_message(error: &Error, id: &str) -> String {
    match error {
        Error::Refused(Refusal::KeyInvalid) => {
            "The key is malformed, unknown or revoked; check the token of the catalog.".to_owned()
        }
        Error::NoSuchRoute => {
            "There is no such address; the catalog is at /share/iceberg where share.iceberg is on."
                .to_owned()
        }
        Error::MethodNotAllowed => {
            "This address does not take this method; the catalog is read-only.".to_owned()
        }
        other => message(other, id),
    }
}

fn message(error: &Error, id: &str) -> String {
    match error {
        Error::Refused(Refusal::KeyMissing) => {
            "An Enterprise key is needed; send it as Authorization: Bearer KEY.".to_owned()
        }
        Error::Refused(Refusal::KeyInvalid) => {
            "The key is malformed, unknown or revoked; check the bearerToken of the profile file."
                .to_owned()
        }
        Error::NoSuchRoute => {
            "There is no such address; the endpoint of the share is /share/delta.".to_owned()
        }
        Error::MethodNotAllowed => {
            "This address does not take this method; query takes POST, all others GET.".to_owned()
        }
        other => other.message(id),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn nothing_on_the_share_is_429_contract_12() {
        for error in [
            Error::from(Refusal::RateLimited { retry_after: 7 }),
            Error::from(Refusal::CallerShareExceeded { retry_after: 7 }),
        ] {
            let response = render(&error, "/share/delta", "id", Response::new(Body::empty()));
            assert_eq!(response.status(), status::SERVICE_UNAVAILABLE);
            assert_eq!(response.headers().get(RETRY_AFTER).unwrap(), "7");
        }
    }

    #[test]
    fn paths_of_the_share_are_told_from_others() {
        for (path, expected) in [
            ("/share", true),
            ("/share/", true),
            ("/share/delta/shares", true),
            ("/share/files/a", true),
            ("/shared", false),
            ("/v1/share", false),
        ] {
            assert_eq!(is_share_path(path), expected, "{path}");
        }
    }
}
