//! Worlds of the interface as a load goes through them: what differs between the kinds until a
//! plugin is there. Each kind implements it beside the check of its description.

use wasmtime::Store;
use wasmtime::component::InstancePre;
use yearbook_domain::PluginKind;

use crate::guest::HostState;
use crate::plugin_head::PluginHead;

/// A world, by the checked description of its plugins.
pub(crate) trait PluginWorld: Sized {
    /// Kind of the plugins.
    const KIND: PluginKind;
    /// A linked component.
    type Linked: Sync;
    /// Description as the guest returns it.
    type Raw: Send;
    /// A loaded plugin.
    type Plugin;

    /// Finds the exports of the world.
    ///
    /// # Errors
    /// Fails where one is missing or of another type.
    fn link(component: InstancePre<HostState>) -> wasmtime::Result<Self::Linked>;

    /// Calls `describe` in an instance of its own.
    ///
    /// # Errors
    /// Fails where the guest is stopped.
    fn describe(linked: &Self::Linked, store: &mut Store<HostState>)
    -> wasmtime::Result<Self::Raw>;

    /// Checks what a guest returned.
    ///
    /// # Errors
    /// A sentence that names the field and the rule.
    fn check(raw: Self::Raw) -> Result<Self, String>;

    /// Format or tool.
    fn name(&self) -> &str;

    /// The plugin's own version.
    fn version(&self) -> &str;

    /// Puts a plugin together.
    fn plugin(self, head: PluginHead, linked: Self::Linked) -> Self::Plugin;
}
