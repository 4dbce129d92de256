//! Stand-in for traces where the feature `otlp` is off: no trace is exported, and a setting that
//! asks for them is refused.

use std::convert::Infallible;

use anyhow::bail;
use tracing::{Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Identity;
use tracing_subscriber::registry::LookupSpan;

use crate::settings::CollectorUrl;

/// Exporter, which this build does not have.
#[derive(Debug)]
pub struct Traces(Infallible);

impl Traces {
    /// Refuses.
    ///
    /// # Errors
    /// Always; the sentence says how to get a build that exports traces.
    pub fn start(_collector: &CollectorUrl) -> anyhow::Result<Self> {
        bail!(
            "this build of yearbook cannot export traces: leave `log.otlp_endpoint` out, take a release build, or build with `cargo build --release --features otlp`"
        )
    }

    /// Never called: there is no value of this type.
    pub fn layer<S: Subscriber + for<'span> LookupSpan<'span>>(
        &self,
        _is_ours: fn(&Metadata<'_>) -> bool,
    ) -> impl Layer<S> + use<S> {
        let _: Infallible = match self.0 {};
        #[expect(unreachable_code, reason = "gives the return type")]
        Identity::new()
    }

    /// Never called: there is no value of this type.
    pub fn stop(self) {
        match self.0 {}
    }
}
