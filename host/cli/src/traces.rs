//! Traces for an OpenTelemetry collector: OTLP over HTTP, off unless `log.otlp_endpoint` names one.
//! Owns which spans are exported and how; what they say belongs to the crates that open them.
//! Queue, batches, sampling, headers and the service's name are the library's, with the variables
//! that it documents (`OTEL_TRACES_SAMPLER`, `OTEL_EXPORTER_OTLP_HEADERS`,
//! `OTEL_BSP_MAX_QUEUE_SIZE` …).

mod client;

use std::time::Duration;

use anyhow::Context as _;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry::{Key, KeyValue, global};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing::level_filters::LevelFilter;
use tracing::{Level, Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::FilterFn;
use tracing_subscriber::registry::LookupSpan;

use crate::settings::CollectorUrl;

/// Longest wait of a stopping server for the last spans to be taken.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(2);

/// The service's name where neither `OTEL_SERVICE_NAME` nor `OTEL_RESOURCE_ATTRIBUTES` gives one.
const SERVICE_NAME: &str = "yearbook";

/// Running exporter. Spans wait for it in a bounded queue (2,048 of them) and are dropped
/// where that is full; it sends from a thread of its own.
#[derive(Debug)]
pub struct Traces(SdkTracerProvider);

impl Traces {
    /// Begins to export to `collector`, which need not be there.
    ///
    /// # Errors
    /// Fails when a variable of the library's makes no sense, or no thread can be started.
    pub fn start(collector: &CollectorUrl) -> anyhow::Result<Self> {
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(client::CollectorClient::new().context("traces cannot be exported")?)
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(format!("{}/v1/traces", collector.as_str()))
            .build()
            .context("traces cannot be exported; check the variables that begin with OTEL_EXPORTER_OTLP_")?;
        global::set_text_map_propagator(TraceContextPropagator::new());
        Ok(Self(
            SdkTracerProvider::builder()
                .with_batch_exporter(exporter)
                .with_resource(otel_resource())
                .build(),
        ))
    }

    /// Layer that hands spans to the exporter, and warnings and errors as events of theirs, as far
    /// as `is_ours` says that they may stand in the log too.
    pub fn layer<S: Subscriber + for<'span> LookupSpan<'span>>(
        &self,
        is_ours: fn(&Metadata<'_>) -> bool,
    ) -> impl Layer<S> + use<S> {
        let is_exported = move |metadata: &Metadata<'_>| is_ours(metadata) && is_telling(metadata);
        tracing_opentelemetry::layer()
            .with_tracer(self.0.tracer(SERVICE_NAME))
            .with_location(false)
            .with_threads(false)
            .with_tracked_inactivity(false)
            // Parents are known from spans alone; nothing asks a thread for its current one.
            .with_context_activation(false)
            .with_filter(FilterFn::new(is_exported).with_max_level_hint(LevelFilter::DEBUG))
    }

    /// Sends what is left, for two seconds at most.
    pub fn stop(self) {
        if let Err(failure) = self.0.shutdown_with_timeout(FLUSH_TIMEOUT) {
            tracing::warn!(%failure, "the last traces were not taken by the collector");
        }
    }
}

/// Returns true for spans, and for warnings and errors.
fn is_telling(metadata: &Metadata<'_>) -> bool {
    let most = if metadata.is_span() || metadata.target() == "yearbook_traces" {
        Level::DEBUG
    } else {
        Level::WARN
    };
    *metadata.level() <= most
}

fn otel_resource() -> Resource {
    let named = Resource::builder().build();
    let name = named.get_ref(&Key::new("service.name")).map(|name| name.to_string());
    let builder = Resource::builder()
        .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")));
    match name {
        Some(name) if !name.starts_with("unknown_service") => builder.build(),
        _ => builder.with_service_name(SERVICE_NAME).build(),
    }
}
