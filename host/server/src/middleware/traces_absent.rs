//! Stands in for the traces of requests where the feature `otlp` is off: nothing is exported, so
//! nothing is added to spans.

use axum::extract::Request;
use http::StatusCode;
use tracing::Span;

use super::client::ClientAddress;
use crate::metrics::{HttpMetrics, RequestLabels};

/// Adds nothing.
pub(crate) fn begin(_span: &Span, _request: &Request, _client: ClientAddress) {}

/// Adds nothing.
pub(crate) fn answered(
    _span: &Span,
    _status: StatusCode,
    _facts: Option<&RequestLabels>,
    _http: &HttpMetrics,
) {
}
