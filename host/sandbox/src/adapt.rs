//! Adapters: requests of another API in; questions, documents and selections out.
//! Every call runs on a worker in a fresh instance. Never touches HTTP, the catalogue or a row:
//! what an adapter asks for is the caller's to answer, and what it returns is checked here.

mod answer;
mod calls;
mod description;
mod document;
mod input;
pub mod limits;

use std::ops::Deref;
use std::sync::Arc;

use crate::encode::PluginEncoder;
use crate::guest::HostState;
use crate::guest::bindings::adapter::AdapterPluginPre;
use crate::plugin_head::PluginHead;

pub use crate::guest::bindings::adapter::exports::yearbook::plugin::adapter;
pub use crate::guest::bindings::adapter::yearbook::plugin::catalogue;
pub use answer::AdapterAnswer;
pub use calls::AdapterCalls;
pub use description::AdapterDescription;
pub use input::{AdapterCall, AdapterExchange, AdapterInput};

/// A loaded adapter.
pub struct PluginAdapter {
    pub(crate) head: PluginHead,
    pub(crate) linked: AdapterPluginPre<HostState>,
    pub(crate) description: AdapterDescription,
    /// Format of its own.
    pub(crate) encoder: Option<Arc<PluginEncoder>>,
}

impl Deref for PluginAdapter {
    type Target = PluginHead;

    fn deref(&self) -> &PluginHead {
        &self.head
    }
}

impl PluginAdapter {
    /// The plugin's description, checked.
    #[must_use]
    pub fn description(&self) -> &AdapterDescription {
        &self.description
    }

    /// The format that the component brings, of the same name and digest. No client can ask for it.
    #[must_use]
    pub fn encoder(&self) -> Option<&Arc<PluginEncoder>> {
        self.encoder.as_ref()
    }
}
