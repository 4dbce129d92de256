//! [`ReleasePolicy`] as [`ReleaseMonitor`] performs it.

use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use yearbook_sandbox::{Batches, OptionValue, PluginEncoder, ReleasePolicy, RequestFingerprint};

use crate::ReleaseMonitor;

impl ReleasePolicy for ReleaseMonitor {
    fn tee_canary(
        &self,
        encoder: &Arc<PluginEncoder>,
        schema: &SchemaRef,
        options: &[OptionValue],
        batches: Batches,
    ) -> Batches {
        Self::tee_canary(self, encoder, schema, options, batches)
    }

    fn fallback_release(&self, encoder: &PluginEncoder) -> Option<Arc<PluginEncoder>> {
        Self::fallback_release(self, encoder)
    }

    fn record_failure(&self, digest: &str, request: &RequestFingerprint, cause: &str) {
        self.failed(digest, request, cause);
    }
}
