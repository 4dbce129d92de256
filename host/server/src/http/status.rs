//! The only file that names statuses, with the code that `X-Service-Error-Code` carries for
//! refusals and failures (contract-2-sentence). The texts of `openapi` describe these statuses.

use http::StatusCode;
use yearbook_domain::Refusal;

use crate::error::Error;
use crate::share::ShareRefusal;

/// 200: the service is ready.
pub(crate) const OK: StatusCode = StatusCode::OK;
/// 204: taken, and there is nothing to say.
pub(crate) const NO_CONTENT: StatusCode = StatusCode::NO_CONTENT;
/// 206: one range of a stored file.
pub(crate) const PARTIAL_CONTENT: StatusCode = StatusCode::PARTIAL_CONTENT;
/// 304: the client has the body already.
pub(crate) const NOT_MODIFIED: StatusCode = StatusCode::NOT_MODIFIED;
/// 307: a stored file, at an address of the object store.
pub(crate) const TEMPORARY_REDIRECT: StatusCode = StatusCode::TEMPORARY_REDIRECT;
/// 308: the same path without its slash at the end.
pub(crate) const PERMANENT_REDIRECT: StatusCode = StatusCode::PERMANENT_REDIRECT;
/// 410: a link that does not work any more.
pub(crate) const GONE: StatusCode = StatusCode::GONE;
/// 422: a form with a fault, displayed again.
pub(crate) const UNPROCESSABLE: StatusCode = StatusCode::UNPROCESSABLE_ENTITY;
/// 429: too much at a time.
pub(crate) const TOO_MANY_REQUESTS: StatusCode = StatusCode::TOO_MANY_REQUESTS;
/// 503: the service is not ready, or, on the share, asked too much at a time.
pub(crate) const SERVICE_UNAVAILABLE: StatusCode = StatusCode::SERVICE_UNAVAILABLE;

/// Returns whether an answer with this status costs a request: 2xx, and 307 to a stored file.
pub(crate) fn is_charged(status: StatusCode) -> bool {
    status.is_success() || status == TEMPORARY_REDIRECT
}

impl Error {
    /// The status.
    pub(crate) fn status(&self) -> StatusCode {
        self.status_and_code().0
    }

    /// The snake_case code.
    pub(crate) fn code(&self) -> &'static str {
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
                Refusal::WatermarkGone { .. } => (StatusCode::GONE, "watermark_gone"),
                Refusal::BulkForbidden => (StatusCode::FORBIDDEN, "bulk_forbidden"),
                Refusal::PaymentRequired { .. } => {
                    (StatusCode::PAYMENT_REQUIRED, "payment_required")
                }
                Refusal::UnboundedRequest { .. } => {
                    (StatusCode::PAYLOAD_TOO_LARGE, "unbounded_pull")
                }
                Refusal::ResponseTooLarge { .. } => {
                    (StatusCode::PAYLOAD_TOO_LARGE, "answer_too_large")
                }
                Refusal::QuotaExceeded { .. } => (StatusCode::TOO_MANY_REQUESTS, "quota_used_up"),
                Refusal::CallerShareExceeded { .. } => {
                    (StatusCode::TOO_MANY_REQUESTS, "too_many_open")
                }
                Refusal::RateLimited { .. } => (StatusCode::TOO_MANY_REQUESTS, "slow_down"),
            },
            Self::Share(refusal) => match refusal {
                ShareRefusal::InvalidParameter(_) => (StatusCode::BAD_REQUEST, "invalid_parameter"),
                ShareRefusal::VersionGone(_) => (StatusCode::BAD_REQUEST, "version_gone"),
                ShareRefusal::UnknownName { .. } => (StatusCode::NOT_FOUND, "unknown_name"),
                ShareRefusal::NotDescribed(_) => (StatusCode::NOT_FOUND, "not_described"),
                ShareRefusal::PlanForbidden => (StatusCode::FORBIDDEN, "plan_forbidden"),
                ShareRefusal::LicenceForbidden => (StatusCode::FORBIDDEN, "licence_forbidden"),
                ShareRefusal::AddressForbidden => (StatusCode::FORBIDDEN, "address_forbidden"),
                ShareRefusal::BodyTooLong { .. } => {
                    (StatusCode::PAYLOAD_TOO_LARGE, "body_too_long")
                }
            },
            Self::DatasetRetired { .. } => (StatusCode::GONE, "dataset_retired"),
            Self::ForeignForm => (StatusCode::FORBIDDEN, "foreign_form"),
            Self::UnreadableForm => (StatusCode::UNPROCESSABLE_ENTITY, "unreadable_form"),
            Self::NoSuchSeries { .. } => (StatusCode::NOT_FOUND, "no_such_series"),
            Self::NoPicture { .. } => (StatusCode::NOT_FOUND, "no_picture"),
            Self::NoSuchRoute => (StatusCode::NOT_FOUND, "no_such_route"),
            Self::MethodNotAllowed => (StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed"),
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
            Self::TimedOut => (StatusCode::SERVICE_UNAVAILABLE, "timed_out"),
            Self::Unavailable => (StatusCode::SERVICE_UNAVAILABLE, "unavailable"),
            Self::PluginFailed | Self::Internal => (StatusCode::INTERNAL_SERVER_ERROR, "internal"),
        }
    }
}
