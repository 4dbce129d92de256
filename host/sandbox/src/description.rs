//! The shape that descriptions of plugins of all kinds share. Each kind has its own fields and its
//! own check, beside what makes use of them.

use yearbook_domain::PluginKind;

/// A checked description.
pub(crate) trait PluginDescription: Sized {
    /// Description as the guest returns it.
    type Raw: Send;
    /// Kind of the plugins that describe themselves so.
    const KIND: PluginKind;

    /// Checks what a guest returned.
    ///
    /// # Errors
    /// A sentence that names the field and the rule.
    fn check(raw: Self::Raw) -> Result<Self, String>;

    /// Format or tool.
    fn name(&self) -> &str;

    /// The plugin's own version.
    fn version(&self) -> &str;
}
