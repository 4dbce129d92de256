//! Kinds of plugins.

use super::text_identity;

/// Kind of a plugin: what it makes. Kinds order as their words do.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PluginKind {
    /// Encodes rows in a format.
    Encoder,
    /// Generates the files of an integration.
    Generator,
    /// Reads files of a format where data is published.
    Reader,
}

impl PluginKind {
    /// None for another word.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Encoder, Self::Generator, Self::Reader]
            .into_iter()
            .find(|kind| kind.as_str() == text)
    }

    /// Returns its word in the database, in metrics and for people.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Encoder => "encoder",
            Self::Generator => "generator",
            Self::Reader => "reader",
        }
    }
}

text_identity!(PluginKind, "a kind of plugin is encoder, generator or reader");
