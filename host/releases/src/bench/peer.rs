//! A plugin that is measured: one call for both kinds.

use std::sync::Arc;

use arrow::array::{Array as _, RecordBatch};
use yearbook_sandbox::{
    GuestError, OptionValue, Plugin, PluginEncoder, PluginTransform, ResourceUsage, TrialError,
};

use super::tables::BenchTable;
use crate::check::suitable_options;

/// A plugin with the name that its figures bear.
#[derive(Clone)]
pub struct BenchPeer {
    /// Name in the figures.
    pub name: String,
    /// The plugin.
    pub plugin: BenchPlugin,
}

/// A plugin of a kind that can be measured.
#[derive(Clone)]
pub enum BenchPlugin {
    /// An output format.
    Encoder(Arc<PluginEncoder>),
    /// A calculation on rows.
    Transform(Arc<PluginTransform>),
}

impl BenchPlugin {
    /// `None` for a plugin that takes no rows.
    #[must_use]
    pub fn new(plugin: Plugin) -> Option<Self> {
        match plugin {
            Plugin::Encoder(encoder) => Some(Self::Encoder(encoder)),
            Plugin::Transform(transform) => Some(Self::Transform(transform)),
            Plugin::Adapter(_) | Plugin::Generator(_) | Plugin::Reader(_) => None,
        }
    }
}

/// A plugin with the options with which it takes a table.
pub(super) struct Contestant<'a> {
    pub(super) peer: &'a BenchPeer,
    pub(super) options: Vec<OptionValue>,
}

/// Bytes that were made, and what they cost.
pub(super) struct PeerOutput {
    pub(super) bytes: usize,
    pub(super) usage: ResourceUsage,
}

/// True where a plugin has no use for a table, which is no fault of either.
pub(super) fn is_declined(failed: &TrialError) -> bool {
    matches!(
        failed.error,
        GuestError::Declined(_)
            | GuestError::UnsupportedRows(_)
            | GuestError::InvalidTransformOption { .. }
    )
}

impl BenchPeer {
    /// The plugin with options with which it takes the first rows of a table.
    pub(super) fn suited(&self, table: &BenchTable) -> Result<Contestant<'_>, TrialError> {
        let trial = |options: &[OptionValue]| {
            let contestant = Contestant { peer: self, options: options.to_vec() };
            contestant.trial(table, &table.fresh).map(|_| ())
        };
        let options = match &self.plugin {
            BenchPlugin::Encoder(_) => trial(&[]).map(|()| Vec::new()),
            BenchPlugin::Transform(plugin) => suitable_options(plugin, &table.schema, trial),
        };
        Ok(Contestant { peer: self, options: options? })
    }
}

impl Contestant<'_> {
    /// True where the host unpacks dictionaries for the plugin.
    pub(super) fn is_flat(&self) -> bool {
        match &self.peer.plugin {
            BenchPlugin::Encoder(encoder) => !encoder.description().dictionaries,
            BenchPlugin::Transform(_) => false,
        }
    }

    /// All of `batches`, instances included.
    pub(super) fn trial(
        &self,
        table: &BenchTable,
        batches: &[RecordBatch],
    ) -> Result<PeerOutput, TrialError> {
        match &self.peer.plugin {
            BenchPlugin::Encoder(encoder) => {
                let schema = table.schema_for(encoder);
                let made = encoder.trial(&schema, &self.options, batches, false)?;
                Ok(PeerOutput { bytes: made.bytes(), usage: made.usage })
            }
            BenchPlugin::Transform(transform) => {
                let codes = |column: &str| table.codes.get(column).cloned();
                let made = transform.trial(&table.schema, &self.options, codes, batches)?;
                let columns = made.batches.iter().flat_map(RecordBatch::columns);
                let bytes = columns.filter_map(|one| one.to_data().get_slice_memory_size().ok());
                Ok(PeerOutput { bytes: bytes.sum(), usage: made.usage })
            }
        }
    }
}
