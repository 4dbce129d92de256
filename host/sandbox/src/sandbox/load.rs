//! Loading a plugin, of the kind that its exports say. Owns what callers may ask of it; the steps
//! are those of [`CompiledComponent`].

use std::sync::Arc;

use yearbook_domain::PluginKind;
use yearbook_engine::ComponentRejection;

use super::compiled_component::CompiledComponent;
use super::{Plugin, Sandbox};
use crate::adapt::{AdapterDescription, PluginAdapter};
use crate::encode::{EncoderDescription, PluginEncoder};
use crate::generate::{GeneratorDescription, PluginGenerator};
use crate::guest::parameters::quote;
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
            PluginKind::Adapter => Plugin::Adapter(load_adapter(&component, dump_target)?.into()),
            PluginKind::Encoder => {
                Plugin::Encoder(component.load::<EncoderDescription>(dump_target)?.into())
            }
            PluginKind::Generator => {
                Plugin::Generator(component.load::<GeneratorDescription>(dump_target)?.into())
            }
            PluginKind::Reader => {
                Plugin::Reader(component.load::<ReaderDescription>(dump_target)?.into())
            }
            PluginKind::Transform => {
                Plugin::Transform(component.load::<TransformDescription>(dump_target)?.into())
            }
        })
    }
}

/// An adapter, with the format that it may bring.
fn load_adapter(
    component: &CompiledComponent<'_>,
    dump_target: &DumpTarget,
) -> Result<PluginAdapter, ComponentRejection> {
    let mut adapter = component.load::<AdapterDescription>(dump_target)?;
    if component.has_format() {
        let encoder = component.load::<EncoderDescription>(dump_target)?;
        if encoder.name() != adapter.name() {
            return Err(ComponentRejection::Description(format!(
                "format {} is not named as the adapter is, {}",
                quote(encoder.name()),
                adapter.name()
            )));
        }
        adapter.encoder = Some(encoder.into());
    }
    Ok(adapter)
}

macro_rules! load_as {
    ($($name:ident, $kind:ident, $plugin:ty, $expected:literal;)*) => {
        impl Sandbox {$(
            #[doc = concat!("As [`Sandbox::load`], for a component that must be ", $expected, ".")]
            ///
            /// # Errors
            /// [`ComponentRejection`].
            pub fn $name(self: &Arc<Self>, bytes: &[u8]) -> Result<Arc<$plugin>, ComponentRejection> {
                match self.load(bytes)? {
                    Plugin::$kind(plugin) => Ok(plugin),
                    other => Err(ComponentRejection::Interface(format!(
                        concat!("it is a plugin of the kind {}, not ", $expected),
                        other.kind()
                    ))),
                }
            }
        )*}
    };
}

load_as! {
    load_adapter, Adapter, PluginAdapter, "an adapter";
    load_encoder, Encoder, PluginEncoder, "an encoder";
    load_generator, Generator, PluginGenerator, "a generator";
    load_reader, Reader, PluginReader, "a reader";
    load_transform, Transform, PluginTransform, "a transform";
}
