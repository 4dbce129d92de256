//! Adapters: requests of another API in; questions, documents and selections out.
//! Every call runs on a worker in a fresh instance. Never touches HTTP, the catalogue or a row:
//! what an adapter asks for is the caller's to answer, and what it returns is checked here.

mod calls;
mod description;

use std::ops::Deref;

use crate::guest::HostState;
use crate::guest::bindings::adapter::AdapterPluginPre;
use crate::plugin_head::PluginHead;

pub use crate::guest::bindings::adapter::exports::yearbook::plugin::adapter;
pub use crate::guest::bindings::adapter::yearbook::plugin::catalogue;
pub use calls::AdapterCalls;
pub use description::AdapterDescription;

/// A loaded adapter.
pub struct PluginAdapter {
    pub(crate) head: PluginHead,
    pub(crate) linked: AdapterPluginPre<HostState>,
    pub(crate) description: AdapterDescription,
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
}
