//! Kinds of plugins.

use crate::text_identity::text_identity;
use crate::words;

/// Kind of a plugin: what it makes. Kinds order as their words do.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PluginKind {
    /// Speaks another API.
    Adapter,
    /// Encodes rows in a format.
    Encoder,
    /// Generates the files of an integration.
    Generator,
    /// Reads files of a format where data is published.
    Reader,
    /// Calculates rows from rows, before an encoder sees them.
    Transform,
}

words! {
    PluginKind {
        Adapter = "adapter", Encoder = "encoder", Generator = "generator", Reader = "reader",
        Transform = "transform",
    }
}

text_identity!(PluginKind, "a kind of plugin is adapter, encoder, generator, reader or transform");
