//! Attributes of a request's span for OpenTelemetry beyond those of the log: route, plan, format
//! and status, and the trace that a trusted proxy began. Where no traces are exported, each call
//! reads one flag of its call site. Without the feature `otlp` each call does nothing.

#[cfg(feature = "otlp")]
use axum::extract::MatchedPath;
use axum::extract::Request;
use http::StatusCode;
#[cfg(feature = "otlp")]
use opentelemetry::{global, trace::Status};
#[cfg(feature = "otlp")]
use opentelemetry_http::HeaderExtractor;
use tracing::Span;
#[cfg(feature = "otlp")]
use tracing_opentelemetry::OpenTelemetrySpanExt;

#[cfg(feature = "otlp")]
use super::logged_path::loggable_path;
use crate::client_address::ClientAddress;
use crate::metrics::{HttpMetrics, RequestLabels};

/// Makes `span` that of a server's request. A parent in `traceparent` counts from trusted proxies
/// alone: from anybody else it would decide what is sampled, and where it is hung in.
#[cfg(feature = "otlp")]
pub(crate) fn begin(span: &Span, request: &Request, client: ClientAddress) {
    if !is_enabled() {
        return;
    }
    if client.by_proxy {
        let parent = global::get_text_map_propagator(|propagator| {
            propagator.extract(&HeaderExtractor(request.headers()))
        });
        // Refused only where the span has begun already, which it has not.
        let _ = span.set_parent(parent);
    }
    span.record("otel.kind", "server");
    let method = request.method().as_str();
    span.set_attribute("http.request.method", method.to_owned());
    span.set_attribute("url.path", loggable_path(request).to_owned());
    if let Some(route) = request.extensions().get::<MatchedPath>() {
        span.record("otel.name", format_args!("{method} {}", route.as_str()));
        span.set_attribute("http.route", route.as_str().to_owned());
    }
}

/// Adds to the present span what is known when the response's head is made.
#[cfg(feature = "otlp")]
pub(crate) fn answered(status: StatusCode, labels: &RequestLabels, http: &HttpMetrics) {
    if !is_enabled() {
        return;
    }
    let span = Span::current();
    span.set_attribute("http.response.status_code", i64::from(status.as_u16()));
    if status.is_server_error() {
        span.set_status(Status::error(""));
    }
    let (plan, format) = http.names(labels);
    for (name, value) in [("yearbook.plan", plan), ("yearbook.format", format)] {
        if let Some(value) = value {
            span.set_attribute(name, value.to_owned());
        }
    }
}

/// Returns whether traces are exported. `yearbook_traces` is the name that the exporting layer
/// listens to.
#[cfg(feature = "otlp")]
fn is_enabled() -> bool {
    tracing::enabled!(target: "yearbook_traces", tracing::Level::DEBUG)
}

/// Adds nothing: the feature `otlp` is off.
#[cfg(not(feature = "otlp"))]
pub(crate) fn begin(_span: &Span, _request: &Request, _client: ClientAddress) {}

/// Adds nothing: the feature `otlp` is off.
#[cfg(not(feature = "otlp"))]
pub(crate) fn answered(_status: StatusCode, _labels: &RequestLabels, _http: &HttpMetrics) {}
