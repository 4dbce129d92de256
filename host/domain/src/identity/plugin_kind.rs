//! Kinds of plugins.

use crate::text_identity::text_identity;
use crate::words;

/// Kind of a plugin: what it makes. Kinds order as their words do.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PluginKind {
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
        Encoder = "encoder", Generator = "generator", Reader = "reader", Transform = "transform",
    }
}

text_identity!(PluginKind, "a kind of plugin is encoder, generator, reader or transform");
