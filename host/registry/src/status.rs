//! Statuses of the distribution specification that a transfer tells apart. Reads them; none is ever
//! chosen here.

use http::StatusCode;

/// Something that was asked for.
pub(crate) const FOUND: StatusCode = StatusCode::OK;

/// Nothing of that name.
pub(crate) const ABSENT: StatusCode = StatusCode::NOT_FOUND;

/// A blob or a manifest that was taken.
pub(crate) const STORED: StatusCode = StatusCode::CREATED;

/// An upload that may go on at another address.
pub(crate) const UPLOAD_BEGUN: StatusCode = StatusCode::ACCEPTED;

/// A challenge to say who asks.
pub(crate) const UNAUTHORIZED: StatusCode = StatusCode::UNAUTHORIZED;

/// Returns whether the caller is not let in, challenged or not.
pub(crate) fn refuses_caller(status: StatusCode) -> bool {
    matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN)
}

/// Returns whether a token server has no token for the credentials.
pub(crate) fn refuses_token(status: StatusCode) -> bool {
    status == StatusCode::BAD_REQUEST || refuses_caller(status)
}
