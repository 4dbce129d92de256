//! A loaded plugin, of whichever kind.

use std::sync::Arc;
use yearbook_domain::{Digest, PluginKind};

use crate::encode::PluginEncoder;
use crate::generate::PluginGenerator;
use crate::observe::PluginMetrics;
use crate::read::PluginReader;

/// A loaded plugin of any kind.
#[derive(Clone)]
pub enum Plugin {
    /// An output format.
    Encoder(Arc<PluginEncoder>),
    /// An integration.
    Generator(Arc<PluginGenerator>),
    /// An input format.
    Reader(Arc<PluginReader>),
}

impl Plugin {
    /// Format or tool, or the format that a reader reads.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Encoder(encoder) => &encoder.description.format,
            Self::Generator(generator) => &generator.description.tool,
            Self::Reader(reader) => &reader.description.format,
        }
    }

    /// Its kind.
    #[must_use]
    pub fn kind(&self) -> PluginKind {
        match self {
            Self::Encoder(_) => PluginKind::Encoder,
            Self::Generator(_) => PluginKind::Generator,
            Self::Reader(_) => PluginKind::Reader,
        }
    }

    /// The plugin's own version.
    #[must_use]
    pub fn version(&self) -> &str {
        match self {
            Self::Encoder(encoder) => &encoder.description.version,
            Self::Generator(generator) => &generator.description.version,
            Self::Reader(reader) => &reader.description.version,
        }
    }

    /// SHA-256 of the component.
    #[must_use]
    pub fn digest(&self) -> &Digest {
        match self {
            Self::Encoder(encoder) => &encoder.digest,
            Self::Generator(generator) => &generator.digest,
            Self::Reader(reader) => &reader.digest,
        }
    }

    /// Counters of this release.
    #[must_use]
    pub fn metrics(&self) -> &PluginMetrics {
        match self {
            Self::Encoder(encoder) => &encoder.metrics,
            Self::Generator(generator) => &generator.metrics,
            Self::Reader(reader) => &reader.metrics,
        }
    }

    /// Size of the component in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        match self {
            Self::Encoder(encoder) => encoder.bytes,
            Self::Generator(generator) => generator.bytes,
            Self::Reader(reader) => reader.bytes,
        }
    }
}
