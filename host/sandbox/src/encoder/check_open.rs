//! Asks an encoder whether it takes a schema and options, without a response: what its `open`
//! refuses must be known where no body is made (contract-3-head-declined).

use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use yearbook_shares::CallerShare;

use super::{InstanceAdmission, PluginEncoder};
use crate::description::OptionValue;
use crate::failure::EncodeError;
use crate::instance::EncoderInstance;
use crate::metrics::CallMetrics;

impl PluginEncoder {
    /// Opens a response in an instance of the share of `holder` and lets it go. `chosen` are the
    /// options that the client named.
    ///
    /// # Errors
    /// What [`Encoder::encode`] would fail with before its first byte, as far as `open` decides it.
    pub async fn check_open(
        self: &Arc<Self>,
        holder: &CallerShare,
        schema: SchemaRef,
        chosen: &[OptionValue],
    ) -> Result<(), EncodeError> {
        let InstanceAdmission { permit, .. } = self.admit_for(holder).await?;
        let options = self.description.complete(chosen);
        let work = CallMetrics::new(Arc::clone(&self.tally), self.sandbox.outlet.clone());
        let encoder = Arc::clone(self);
        self.run_on_worker(move || {
            EncoderInstance::open(&encoder, permit, work, &schema, &options).map(drop)
        })
        .await
    }
}
