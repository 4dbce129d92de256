//! The only file that names statuses, with the code that `X-Service-Error-Code` carries for
//! refusals and failures (contract-2-sentence). The texts of `openapi` describe these statuses.

use http::StatusCode;
use yearbook_domain::Refusal;

use crate::Error;

/// 200: the service is ready.
pub const OK: StatusCode = StatusCode::OK;
/// 204: taken, and there is nothing to say.
pub const NO_CONTENT: StatusCode = StatusCode::NO_CONTENT;
/// 206: one range of a stored file.
pub const PARTIAL_CONTENT: StatusCode = StatusCode::PARTIAL_CONTENT;
/// 304: the client has the body already.
pub const NOT_MODIFIED: StatusCode = StatusCode::NOT_MODIFIED;
/// 307: a stored file, at an address of the object store.
pub const TEMPORARY_REDIRECT: StatusCode = StatusCode::TEMPORARY_REDIRECT;
/// 308: the same path without its slash at the end.
pub const PERMANENT_REDIRECT: StatusCode = StatusCode::PERMANENT_REDIRECT;
/// 410: a link that does not work any more.
pub const GONE: StatusCode = StatusCode::GONE;
/// 422: a form with a fault, displayed again.
pub const UNPROCESSABLE: StatusCode = StatusCode::UNPROCESSABLE_ENTITY;
/// 429: too much at a time.
pub const TOO_MANY_REQUESTS: StatusCode = StatusCode::TOO_MANY_REQUESTS;
/// 400: what was sent makes no sense to the share.
pub const BAD_REQUEST: StatusCode = StatusCode::BAD_REQUEST;
/// 403: nobody may, or not this caller.
pub const FORBIDDEN: StatusCode = StatusCode::FORBIDDEN;
/// 404: there is no such thing.
pub const NOT_FOUND: StatusCode = StatusCode::NOT_FOUND;
/// 405: an adapter does not take the method.
pub const METHOD_NOT_ALLOWED: StatusCode = StatusCode::METHOD_NOT_ALLOWED;
/// 413: the body of the request is too long.
pub const PAYLOAD_TOO_LARGE: StatusCode = StatusCode::PAYLOAD_TOO_LARGE;
/// 414: the address has more parts than an adapter takes.
pub const URI_TOO_LONG: StatusCode = StatusCode::URI_TOO_LONG;
/// 431: a header is longer than an adapter takes.
pub const HEADERS_TOO_LARGE: StatusCode = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
/// 503: the service is not ready, or, on the share, asked too much at a time.
pub const SERVICE_UNAVAILABLE: StatusCode = StatusCode::SERVICE_UNAVAILABLE;

/// Returns whether an answer with this status costs a request: 2xx, and 307 to a stored file.
pub fn is_charged(status: StatusCode) -> bool {
    status.is_success() || status == TEMPORARY_REDIRECT
}

impl Error {
    /// The status.
    pub fn status(&self) -> StatusCode {
        self.status_and_code().0
    }

    /// The snake_case code.
    pub fn code(&self) -> &'static str {
        self.status_and_code().1
    }

    fn status_and_code(&self) -> (StatusCode, &'static str) {
        match self {
            Self::Refused(refusal) => match refusal {
                Refusal::KeyMissing => (StatusCode::UNAUTHORIZED, "key_missing"),
                Refusal::KeyInvalid => (StatusCode::UNAUTHORIZED, "key_invalid"),
                Refusal::InvalidParameters(_) => {
                    (StatusCode::UNPROCESSABLE_ENTITY, "invalid_parameters")
                }
                Refusal::NotAcceptable { .. } => (StatusCode::NOT_ACCEPTABLE, "not_acceptable"),
                Refusal::NoSuchDataset { .. } => (StatusCode::NOT_FOUND, "no_such_dataset"),
                Refusal::NoSuchIntegration { .. } => (StatusCode::NOT_FOUND, "no_such_integration"),
                Refusal::SnapshotGone { .. } => (StatusCode::GONE, "snapshot_gone"),
                Refusal::NoSuchSnapshot { .. } => (StatusCode::NOT_FOUND, "no_such_snapshot"),
                Refusal::NotPublishedYet { .. } => (StatusCode::NOT_FOUND, "not_published_yet"),
                Refusal::HistoryGone { .. } => (StatusCode::GONE, "history_gone"),
                Refusal::TooManyVersions { .. } => {
                    (StatusCode::PAYLOAD_TOO_LARGE, "too_many_versions")
                }
                Refusal::HistoryTooLarge => (StatusCode::PAYLOAD_TOO_LARGE, "history_too_large"),
                Refusal::WatermarkGone { .. } => (StatusCode::GONE, "watermark_gone"),
                Refusal::BulkForbidden => (StatusCode::FORBIDDEN, "bulk_forbidden"),
                Refusal::NoDerivatives { .. } => (StatusCode::FORBIDDEN, "no_derivatives"),
                Refusal::PaymentRequired { .. } => {
                    (StatusCode::PAYMENT_REQUIRED, "payment_required")
                }
                Refusal::UnboundedRequest { .. } => {
                    (StatusCode::PAYLOAD_TOO_LARGE, "unbounded_pull")
                }
                Refusal::SortTooLarge { .. } | Refusal::SelectionTooLarge => {
                    (StatusCode::PAYLOAD_TOO_LARGE, "sort_too_large")
                }
                Refusal::TooManySeries { .. } | Refusal::TooManyGroups { .. } => {
                    (StatusCode::PAYLOAD_TOO_LARGE, "too_many_series")
                }
                Refusal::TooManyRowsToTransform { .. } => {
                    (StatusCode::PAYLOAD_TOO_LARGE, "too_many_rows_to_transform")
                }
                Refusal::ResponseTooLarge { .. }
                | Refusal::TransformTooLarge { .. }
                | Refusal::TransformedRowsTooLarge { .. } => {
                    (StatusCode::PAYLOAD_TOO_LARGE, "answer_too_large")
                }
                Refusal::QuotaExceeded { .. } => (StatusCode::TOO_MANY_REQUESTS, "quota_used_up"),
                Refusal::CallerShareExceeded { .. } => {
                    (StatusCode::TOO_MANY_REQUESTS, "too_many_open")
                }
                Refusal::RateLimited { .. } => (StatusCode::TOO_MANY_REQUESTS, "slow_down"),
            },
            Self::Room(refusal) => refusal.status_and_code(),
            Self::NoSuchRoute => (StatusCode::NOT_FOUND, "no_such_route"),
            Self::MethodNotAllowed => (METHOD_NOT_ALLOWED, "method_not_allowed"),
            Self::PreconditionFailed => (StatusCode::PRECONDITION_FAILED, "precondition_failed"),
            Self::AddressTooLong { .. } => (StatusCode::URI_TOO_LONG, "address_too_long"),
            Self::RangeNotSatisfiable { .. } => {
                (StatusCode::RANGE_NOT_SATISFIABLE, "range_not_satisfiable")
            }
            Self::HeadersTooLarge { .. } => {
                (StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, "headers_too_large")
            }
            Self::Busy { .. } => (StatusCode::SERVICE_UNAVAILABLE, "busy"),
            Self::FormatUnavailable { .. } => {
                (StatusCode::SERVICE_UNAVAILABLE, "format_unavailable")
            }
            Self::TransformUnavailable { .. } => {
                (StatusCode::SERVICE_UNAVAILABLE, "transform_unavailable")
            }
            Self::Rebuilding { .. } => (StatusCode::SERVICE_UNAVAILABLE, "rebuilding"),
            Self::TimedOut => (StatusCode::SERVICE_UNAVAILABLE, "timed_out"),
            Self::Unavailable => (StatusCode::SERVICE_UNAVAILABLE, "unavailable"),
            Self::PluginFailed | Self::Internal => (StatusCode::INTERNAL_SERVER_ERROR, "internal"),
        }
    }
}
