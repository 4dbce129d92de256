//! Transforms: rows in, rows of another table out, before an encoder sees them. A chain of them is
//! planned without a row, and then runs as one stream of batches. What a transform only passes on
//! never enters it. What it returns is believed nothing.

mod budget;
mod chain;
mod codes;
mod column_numbers;
mod columns;
mod crossing;
mod description;
mod gather;
mod groups;
mod input;
mod instance;
mod link;
mod link_run;
mod made;
mod needs;
mod order;
mod output;
mod refusal;
mod run;
mod trial;

use std::ops::Deref;
use std::sync::Arc;

use crate::guest::HostState;
use crate::guest::bindings::transform::TransformPluginPre;
use crate::guest_error::GuestError;
use crate::options::OptionValue;
use crate::plugin_head::PluginHead;

pub use self::chain::TransformChain;
pub use self::description::TransformDescription;
pub use self::input::{RowWindow, TransformInput};
pub use crate::admission::InstancePlaces;

/// A loaded transform.
pub struct PluginTransform {
    pub(crate) head: PluginHead,
    pub(crate) linked: TransformPluginPre<HostState>,
    pub(crate) description: TransformDescription,
}

impl Deref for PluginTransform {
    type Target = PluginHead;

    fn deref(&self) -> &PluginHead {
        &self.head
    }
}

impl PluginTransform {
    /// The plugin's description, checked.
    #[must_use]
    pub fn description(&self) -> &TransformDescription {
        &self.description
    }
}

/// A transform of a chain, with the options that the client named; the rest are defaults.
#[derive(Clone)]
pub struct TransformStep {
    /// The transform.
    pub transform: Arc<PluginTransform>,
    /// Options of it.
    pub options: Vec<OptionValue>,
}

/// A chain that made nothing, or no more, and the transform that failed in it.
#[derive(thiserror::Error)]
#[error("transform {}: {error}", .transform.name())]
pub struct TransformFailure {
    /// The transform.
    pub transform: Arc<PluginTransform>,
    /// Its error.
    pub error: GuestError,
}

impl std::fmt::Debug for TransformFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TransformFailure")
            .field("transform", &self.transform.name())
            .field("error", &self.error)
            .finish()
    }
}
