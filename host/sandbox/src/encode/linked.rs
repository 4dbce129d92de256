//! A linked encoder: its world's exports, and those of the codelists world where it has them.

use wasmtime::Store;
use wasmtime::component::InstancePre;

use crate::guest::bindings::codelists::{CodelistsPlugin, CodelistsPluginIndices};
use crate::guest::bindings::{EncoderPlugin, EncoderPluginIndices};
use crate::guest::{HostState, linker};

/// Everything that an instance is made of.
pub(crate) struct LinkedEncoder {
    component: InstancePre<HostState>,
    encoder: EncoderPluginIndices,
    codelists: Option<CodelistsPluginIndices>,
}

impl LinkedEncoder {
    /// Finds the exports.
    ///
    /// # Errors
    /// Fails where one is missing or of another type.
    pub(crate) fn new(component: InstancePre<HostState>) -> wasmtime::Result<Self> {
        let encoder = EncoderPluginIndices::new(&component)?;
        let is_told = linker::exports(component.engine(), component.component(), linker::CODELISTS);
        let codelists = is_told.then(|| CodelistsPluginIndices::new(&component)).transpose()?;
        Ok(Self { component, encoder, codelists })
    }

    /// Returns whether it is told distinct values of columns.
    pub(crate) fn has_codelists(&self) -> bool {
        self.codelists.is_some()
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
}
