//! A loaded plugin, of whichever kind.

use std::ops::Deref;
use std::sync::Arc;

use crate::adapt::PluginAdapter;
use crate::encode::PluginEncoder;
use crate::generate::PluginGenerator;
use crate::plugin_head::PluginHead;
use crate::read::PluginReader;
use crate::transform::PluginTransform;

/// A loaded plugin of any kind.
#[derive(Clone)]
pub enum Plugin {
    /// Another API.
    Adapter(Arc<PluginAdapter>),
    /// An output format.
    Encoder(Arc<PluginEncoder>),
    /// An integration.
    Generator(Arc<PluginGenerator>),
    /// An input format.
    Reader(Arc<PluginReader>),
    /// A calculation on rows.
    Transform(Arc<PluginTransform>),
}

impl Deref for Plugin {
    type Target = PluginHead;

    fn deref(&self) -> &PluginHead {
        match self {
            Self::Adapter(adapter) => &adapter.head,
            Self::Encoder(encoder) => &encoder.head,
            Self::Generator(generator) => &generator.head,
            Self::Reader(reader) => &reader.head,
            Self::Transform(transform) => &transform.head,
        }
    }
}
