//! A linked encoder: its world's exports, and those of the codelists world where it has them. Small
//! responses and all others have instances of two components with the same code: the engine gives
//! an instance memory that one of its component had before, clears what is resident of it, and an
//! export leaves a mebibyte (decision 0500).

use std::sync::OnceLock;

use wasmtime::Store;
use wasmtime::component::InstancePre;
use yearbook_engine::{ComponentRejection, deserialize_trusted, sanitize_sentence};

use crate::guest::bindings::codelists::{CodelistsPlugin, CodelistsPluginIndices};
use crate::guest::bindings::{EncoderPlugin, EncoderPluginIndices};
use crate::guest::{HostState, linker};

/// Most bytes of code that are worth a second copy: ten times what the formats here have. A guest
/// with more brings an interpreter, and touches more than small responses leave.
const MOST_CODE: usize = 4 << 20;

/// Size of a response, as far as its first part tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResponseSize {
    /// One part of few bytes: a page of a hundred rows.
    Small,
    /// One part.
    OnePart,
    /// Several parts.
    ManyParts,
}

/// Everything that an instance is made of.
pub(crate) struct LinkedEncoder {
    /// For small responses.
    small: Exports,
    /// For all others, once there was one; `None` for code of more than [`MOST_CODE`], and where it
    /// could not be made.
    large: OnceLock<Option<Exports>>,
}

/// A component with its exports.
pub(crate) struct Exports {
    component: InstancePre<HostState>,
    encoder: EncoderPluginIndices,
    codelists: Option<CodelistsPluginIndices>,
}

impl Exports {
    fn new(component: InstancePre<HostState>) -> wasmtime::Result<Self> {
        let encoder = EncoderPluginIndices::new(&component)?;
        let is_told = linker::exports(component.engine(), component.component(), linker::CODELISTS);
        let codelists = is_told.then(|| CodelistsPluginIndices::new(&component)).transpose()?;
        Ok(Self { component, encoder, codelists })
    }

    /// A fresh instance.
    ///
    /// # Errors
    /// Fails where the guest is stopped.
    pub(crate) fn instantiate(
        &self,
        store: &mut Store<HostState>,
    ) -> wasmtime::Result<(EncoderPlugin, Option<CodelistsPlugin>)> {
        let instance = self.component.instantiate(&mut *store)?;
        let encoder = self.encoder.load(&mut *store, &instance)?;
        let codelists = self.codelists.as_ref().map(|found| found.load(store, &instance));
        Ok((encoder, codelists.transpose()?))
    }

    /// Bytes of its code, with what belongs to it.
    fn code_bytes(&self) -> usize {
        let image = self.component.component().image_range();
        image.end.addr() - image.start.addr()
    }

    /// The same code as a component of its own.
    fn duplicate(&self) -> Result<Self, ComponentRejection> {
        let engine = self.component.engine();
        let component = self.component.component().serialize();
        let component = component.and_then(|artifact| deserialize_trusted(engine, &artifact));
        let component = component.map_err(|error| {
            ComponentRejection::Interface(sanitize_sentence(&format!("{error:#}")))
        })?;
        linker::link(engine, &component, Self::new)
    }
}

impl LinkedEncoder {
    /// Finds the exports.
    ///
    /// # Errors
    /// Fails where one is missing or of another type.
    pub(crate) fn new(component: InstancePre<HostState>) -> wasmtime::Result<Self> {
        Ok(Self { small: Exports::new(component)?, large: OnceLock::new() })
    }

    /// Returns whether it is told distinct values of columns.
    pub(crate) fn has_codelists(&self) -> bool {
        self.small.codelists.is_some()
    }

    /// Returns what instances for a response of `size` are made of. The first time that it is not
    /// small takes some milliseconds.
    pub(crate) fn exports(&self, size: ResponseSize) -> &Exports {
        match size {
            ResponseSize::Small => &self.small,
            ResponseSize::OnePart | ResponseSize::ManyParts => self.large(),
        }
    }

    fn large(&self) -> &Exports {
        let made = self.large.get_or_init(|| {
            if self.small.code_bytes() > MOST_CODE {
                return None;
            }
            let warn = |error: &ComponentRejection| {
                tracing::warn!(%error, "small responses share their memory with large ones");
            };
            self.small.duplicate().inspect_err(warn).ok()
        });
        made.as_ref().unwrap_or(&self.small)
    }
}
