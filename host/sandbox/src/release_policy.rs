//! The seam between the path of a response and the life of plugin releases: canaries, fallback
//! releases and the circuit breaker stand behind one trait. The crate that makes responses names
//! the trait alone. This file decides nothing.

use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use yearbook_domain::{Digest, KeyId};

use crate::{
    AdapterExchange, Batches, OptionValue, PluginAdapter, PluginEncoder, TransformInput,
    TransformStep,
};

/// Decisions about the release that makes a response, and the reports that they are made from.
/// Every method returns at once: none of them waits for I/O or for a lock that is held during I/O.
pub trait ReleasePolicy: Send + Sync {
    /// Returns the batches of a response that `encoder` is about to make. A sample of them is
    /// encoded a second time by the release that waits to take the place of `encoder`.
    #[must_use]
    fn tee_canary(
        &self,
        encoder: &Arc<PluginEncoder>,
        schema: &SchemaRef,
        options: &[OptionValue],
        batches: Batches,
    ) -> Batches;

    /// Returns the input of a chain that begins with `step`, of rows of `schema`. A sample of the
    /// rows is transformed a second time by the release that waits to take the place of the step's.
    #[must_use]
    fn tee_transform(
        &self,
        step: &TransformStep,
        schema: &SchemaRef,
        input: Arc<dyn TransformInput>,
    ) -> Arc<dyn TransformInput>;

    /// Hears of a request that `adapter` answered. A sample of them is answered a second time by
    /// the release that waits to take its place.
    fn sample_exchange(&self, adapter: &Arc<PluginAdapter>, of: &dyn Fn() -> AdapterExchange);

    /// Returns the release that serves where `encoder` failed before the first byte; none where
    /// there is no such release. Both have the same description.
    #[must_use]
    fn fallback_release(&self, encoder: &PluginEncoder) -> Option<Arc<PluginEncoder>>;

    /// Counts a failure that is the fault of the release with this digest. `cause` is for the log
    /// and for operators.
    fn record_failure(&self, digest: &Digest, request: &RequestFingerprint, cause: &str);
}

/// The request that a release failed at, as far as the circuit breaker needs to know it.
#[derive(Clone, Debug)]
pub struct RequestFingerprint {
    /// Id of the API key of the request.
    pub key_id: KeyId,
    /// The same text for the same bytes, such as an entity tag.
    pub request: String,
    /// Datasets whose data the release was given.
    pub datasets: Vec<String>,
    /// Set where every option of the plugin has its default. Other options are the client's choice.
    pub default_options: bool,
}
