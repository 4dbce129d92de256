//! Loading a plugin, of the kind that its exports say. Owns what callers may ask of it; the steps
//! are those of [`CompiledComponent`].

use std::sync::Arc;

use yearbook_domain::PluginKind;

use super::compiled_component::CompiledComponent;
use super::{Plugin, Sandbox};
use crate::adapt::{AdapterDescription, PluginAdapter};
use crate::encode::{EncoderDescription, PluginEncoder};
use crate::error::ComponentRejection;
use crate::generate::{GeneratorDescription, PluginGenerator};
use crate::observe::{DumpTarget, FailureDump};
use crate::read::{PluginReader, ReaderDescription};
use crate::transform::{PluginTransform, TransformDescription};

impl Sandbox {
    /// Makes a plugin of a component, of the kind that its exports say. Compiling keeps a core busy
    /// for about a second: call it at start-up or where blocking is allowed.
    ///
    /// # Errors
    /// [`ComponentRejection`], with what the component does wrong.
    pub fn load(self: &Arc<Self>, bytes: &[u8]) -> Result<Plugin, ComponentRejection> {
        self.load_with_target(bytes, &self.host.dump_target)
    }

    /// As [`Sandbox::load`], with the dump of a `describe` that failed.
    ///
    /// # Errors
    /// [`ComponentRejection`], and the dump unless the sandbox's sink has it.
    pub fn load_with_dump(
        self: &Arc<Self>,
        bytes: &[u8],
    ) -> Result<Plugin, (ComponentRejection, Option<Box<FailureDump>>)> {
        let dump_target = self.host.dump_target.or_in_memory();
        self.load_with_target(bytes, &dump_target)
            .map_err(|rejected| (rejected, dump_target.take()))
    }

    /// As [`Sandbox::load`]; the dump of a `describe` that failed goes to `dump_target`.
    pub(crate) fn load_with_target(
        self: &Arc<Self>,
        bytes: &[u8],
        dump_target: &DumpTarget,
    ) -> Result<Plugin, ComponentRejection> {
        if bytes.len() > self.host.limits.component_bytes {
            return Err(ComponentRejection::TooLarge {
                bytes: bytes.len(),
                limit: self.host.limits.component_bytes,
            });
        }
        let component = CompiledComponent::new(self, bytes)?;
        Ok(match component.kind() {
            PluginKind::Adapter => {
                Plugin::Adapter(component.load::<AdapterDescription>(dump_target)?)
            }
            PluginKind::Encoder => {
                Plugin::Encoder(component.load::<EncoderDescription>(dump_target)?)
            }
            PluginKind::Generator => {
                Plugin::Generator(component.load::<GeneratorDescription>(dump_target)?)
            }
            PluginKind::Reader => Plugin::Reader(component.load::<ReaderDescription>(dump_target)?),
            PluginKind::Transform => {
                Plugin::Transform(component.load::<TransformDescription>(dump_target)?)
            }
        })
    }

    /// As [`Sandbox::load`], for a component that must be an encoder.
    ///
    /// # Errors
    /// [`ComponentRejection`].
    pub fn load_encoder(
        self: &Arc<Self>,
        bytes: &[u8],
    ) -> Result<Arc<PluginEncoder>, ComponentRejection> {
        match self.load(bytes)? {
            Plugin::Encoder(encoder) => Ok(encoder),
            other => Err(wrong_kind(&other, "an encoder")),
        }
    }

    /// As [`Sandbox::load`], for a component that must be a generator.
    ///
    /// # Errors
    /// [`ComponentRejection`].
    pub fn load_generator(
        self: &Arc<Self>,
        bytes: &[u8],
    ) -> Result<Arc<PluginGenerator>, ComponentRejection> {
        match self.load(bytes)? {
            Plugin::Generator(generator) => Ok(generator),
            other => Err(wrong_kind(&other, "a generator")),
        }
    }

    /// As [`Sandbox::load`], for a component that must be a reader.
    ///
    /// # Errors
    /// [`ComponentRejection`].
    pub fn load_reader(
        self: &Arc<Self>,
        bytes: &[u8],
    ) -> Result<Arc<PluginReader>, ComponentRejection> {
        match self.load(bytes)? {
            Plugin::Reader(reader) => Ok(reader),
            other => Err(wrong_kind(&other, "a reader")),
        }
    }

    /// As [`Sandbox::load`], for a component that must be an adapter.
    ///
    /// # Errors
    /// [`ComponentRejection`].
    pub fn load_adapter(
        self: &Arc<Self>,
        bytes: &[u8],
    ) -> Result<Arc<PluginAdapter>, ComponentRejection> {
        match self.load(bytes)? {
            Plugin::Adapter(adapter) => Ok(adapter),
            other => Err(wrong_kind(&other, "an adapter")),
        }
    }

    /// As [`Sandbox::load`], for a component that must be a transform.
    ///
    /// # Errors
    /// [`ComponentRejection`].
    pub fn load_transform(
        self: &Arc<Self>,
        bytes: &[u8],
    ) -> Result<Arc<PluginTransform>, ComponentRejection> {
        match self.load(bytes)? {
            Plugin::Transform(transform) => Ok(transform),
            other => Err(wrong_kind(&other, "a transform")),
        }
    }
}

fn wrong_kind(found: &Plugin, expected: &str) -> ComponentRejection {
    ComponentRejection::Interface(format!(
        "it is a plugin of the kind {}, not {expected}",
        found.kind()
    ))
}
