//! Every answer that is not a success, as a value. A handler returns one;
//! `middleware/error_bodies` makes the body, because only there are the client's `Accept` and
//! the request's id at hand.

mod message;

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use axum::response::{IntoResponse, Response};
use http::StatusCode;
use yearbook_domain::{Refusal, ValidationError};
use yearbook_storage::StorageFailure;

/// Refusal that one room alone knows.
pub trait RoomRefusal: Any + fmt::Debug + Send + Sync {
    /// The status, and the snake_case code for `X-Service-Error-Code`.
    fn status_and_code(&self) -> (StatusCode, &'static str);

    /// One sentence for the client: what is wrong and what to do next.
    fn message(&self) -> String;
}

/// Reason for which a request gets no 2xx. Closed: a new one does not compile until `status` names
/// it. Whoever waits for one load together gets a copy of its failure.
#[derive(Clone, Debug)]
pub enum Error {
    /// A correct "no" by the rules of the service.
    Refused(Refusal),
    /// A refusal of one room alone, which says itself how it is answered.
    Room(Arc<dyn RoomRefusal>),
    /// 404: no such route.
    NoSuchRoute,
    /// 405.
    MethodNotAllowed,
    /// 412: `If-Match` or `If-Unmodified-Since` is false.
    PreconditionFailed,
    /// 414.
    AddressTooLong {
        /// `server.uri_bytes`.
        limit: usize,
    },
    /// 416.
    RangeNotSatisfiable {
        /// Size of the file.
        bytes: u64,
    },
    /// 431.
    HeadersTooLarge {
        /// `server.header_bytes`.
        limit: usize,
    },
    /// 503: at capacity.
    Busy {
        /// Whole seconds to wait.
        retry_after: u64,
    },
    /// 503: the format has releases, and none of them may serve.
    FormatUnavailable {
        /// As asked for.
        format: String,
        /// Formats that are served.
        available: Vec<String>,
    },
    /// 503: no release of a known transform may serve.
    TransformUnavailable {
        /// As asked for.
        transform: String,
    },
    /// 503: the rows of an old version are being made again.
    Rebuilding {
        /// Whole seconds to wait.
        retry_after: u64,
    },
    /// 503: the response did not begin in time.
    TimedOut,
    /// 503: the catalog or the object store does not answer.
    Unavailable,
    /// 500: the plugin that makes the response failed, which was logged. Another release of it may
    /// do better.
    PluginFailed,
    /// 500: our fault, logged where it was found.
    Internal,
}

impl Error {
    /// 422 with one problem.
    pub fn invalid_parameter(problem: ValidationError) -> Self {
        Self::Refused(Refusal::InvalidParameters(vec![problem]))
    }

    /// 503 for a format of `plugins` that nothing may serve.
    pub fn format_unavailable(format: &str, plugins: &yearbook_sandbox::PluginSet) -> Self {
        let described = plugins.encoders().map(|encoder| encoder.description());
        // A picture is no substitute for the rows.
        let data = described.filter(|description| !description.is_picture());
        let available = data.map(|description| description.format.clone()).collect();
        Self::FormatUnavailable { format: format.to_owned(), available }
    }

    /// Logs what `doing` failed with, once; the client learns only the request's id.
    pub fn internal(doing: &str, failure: &dyn std::fmt::Display) -> Self {
        tracing::error!(%failure, "cannot {doing}");
        Self::Internal
    }

    /// Returns the refusal of a room, where it is one of type `T`.
    #[must_use]
    pub fn room<T: RoomRefusal>(&self) -> Option<&T> {
        let Self::Room(refusal) = self else { return None };
        let refusal: &dyn Any = &**refusal;
        refusal.downcast_ref()
    }

    /// One sentence for the client: what is wrong and what to do next.
    pub fn message(&self, request_id: &str) -> String {
        message::render(self, request_id)
    }

    /// Whole seconds for `Retry-After`.
    pub fn retry_after(&self) -> Option<u64> {
        match self {
            Self::Refused(Refusal::QuotaExceeded { resets_at, .. }) => {
                let left = resets_at.0.saturating_sub(yearbook_catalog::clock::now().0).max(0);
                Some(left.unsigned_abs().div_ceil(1000).max(1))
            }
            Self::Refused(
                Refusal::RateLimited { retry_after } | Refusal::CallerShareExceeded { retry_after },
            )
            | Self::Busy { retry_after }
            | Self::Rebuilding { retry_after } => Some(*retry_after),
            Self::TimedOut | Self::Unavailable => Some(5),
            // Somebody has to install or promote a release first.
            Self::FormatUnavailable { .. } | Self::TransformUnavailable { .. } => Some(60),
            _ => None,
        }
    }
}

impl<T: RoomRefusal> From<T> for Error {
    fn from(refusal: T) -> Self {
        Self::Room(Arc::new(refusal))
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<yearbook_catalog::CatalogError> for Error {
    fn from(failure: yearbook_catalog::CatalogError) -> Self {
        if failure.is_overload() {
            // Nothing is broken, and a flood must not fill the log.
            tracing::debug!(%failure, "the catalog has too much to do");
            return Self::Busy { retry_after: 1 };
        }
        tracing::error!(%failure, "the catalog does not answer");
        Self::Unavailable
    }
}

impl From<yearbook_catalog::ReserveError> for Error {
    fn from(error: yearbook_catalog::ReserveError) -> Self {
        match error {
            yearbook_catalog::ReserveError::Exceeded(exceeded) => {
                Refusal::QuotaExceeded { limit: exceeded.limit, resets_at: exceeded.resets_at }
                    .into()
            }
            yearbook_catalog::ReserveError::Failed(failure) => failure.into(),
        }
    }
}

impl From<StorageFailure> for Error {
    fn from(failure: StorageFailure) -> Self {
        match failure {
            StorageFailure::SelectionTooLarge => return Refusal::SelectionTooLarge.into(),
            StorageFailure::SelectionBusy => return Self::Busy { retry_after: 1 },
            _ => {}
        }
        if failure.is_outage() {
            tracing::error!(%failure, "the object store does not answer");
            return Self::Unavailable;
        }
        Self::internal("read stored data", &failure)
    }
}

impl IntoResponse for Error {
    /// A response without a body yet.
    fn into_response(self) -> Response {
        let mut response = self.status().into_response();
        response.extensions_mut().insert(Arc::new(self));
        response
    }
}
