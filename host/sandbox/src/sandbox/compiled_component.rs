//! A component on its way to being a plugin: measured and compiled, its imports read, its own
//! description fetched and checked. Nothing serves before all of that; no step knows who asked.

use std::sync::Arc;
use std::time::Instant;

use wasmtime::Store;
use wasmtime::component::Component;
use yearbook_domain::{Digest, ReleaseId};
use yearbook_shares::CallerShare;

use super::Sandbox;
use crate::description::PluginDescription;
use crate::encode::PluginEncoder;
use crate::engine::component_cache;
use crate::engine::component_limits::ComponentStats;
use crate::error::ComponentRejection;
use crate::generate::PluginGenerator;
use crate::guest::{HostState, InputSize, linker};
use crate::observe::{
    CallMetrics, DumpTarget, FailureDump, GuestFunction, PluginMetrics, ReleaseName,
};
use crate::plugin_head::PluginHead;
use crate::read::PluginReader;
use crate::trap::Trap;

/// A component's machine code. Its imports are allowed ones.
pub(super) struct CompiledComponent<'a> {
    sandbox: &'a Sandbox,
    component: Component,
    digest: Digest,
    bytes: u64,
    begun: Instant,
    from_cache: bool,
}

impl<'a> CompiledComponent<'a> {
    /// Compiles `bytes`, or takes their machine code from the cache, and checks the imports.
    pub(super) fn new(sandbox: &'a Sandbox, bytes: &[u8]) -> Result<Self, ComponentRejection> {
        let digest = Digest::of(bytes);
        let begun = Instant::now();
        let engine = &sandbox.host.engine;
        let compile = || {
            ComponentStats::measure(bytes)?;
            sandbox.compiler.compile(engine, &sandbox.host.limits, bytes)
        };
        let (component, from_cache) = match &sandbox.cache {
            Some(cache) => cache.component(engine, &digest, compile)?,
            None => (component_cache::deserialize_trusted(engine, &compile()?)?, false),
        };
        linker::check_imports(engine, &component)?;
        Ok(Self { sandbox, component, digest, bytes: bytes.len() as u64, begun, from_cache })
    }

    /// Returns whether it exports a generator's interface.
    pub(super) fn is_generator(&self) -> bool {
        linker::is_generator(&self.sandbox.host.engine, &self.component)
    }

    /// Returns whether it exports a reader's interface.
    pub(super) fn is_reader(&self) -> bool {
        linker::is_reader(&self.sandbox.host.engine, &self.component)
    }

    /// Makes an output format of it.
    pub(super) fn describe_encoder(
        self,
        dump_target: &DumpTarget,
    ) -> Result<PluginEncoder, ComponentRejection> {
        let pre = linker::encoder(&self.sandbox.host.engine, &self.component)?;
        let (head, description) =
            self.describe(dump_target, |store| pre.instantiate(store)?.call_describe(store))?;
        Ok(PluginEncoder { head, pre, description })
    }

    /// Makes an integration of it.
    pub(super) fn describe_generator(
        self,
        dump_target: &DumpTarget,
    ) -> Result<PluginGenerator, ComponentRejection> {
        let pre = linker::generator(&self.sandbox.host.engine, &self.component)?;
        let (head, description) = self.describe(dump_target, |store| {
            pre.instantiate(&mut *store)?.yearbook_plugin_generator().call_describe(store)
        })?;
        Ok(PluginGenerator { head, pre, description })
    }

    /// Makes an input format of it.
    pub(super) fn describe_reader(
        self,
        dump_target: &DumpTarget,
    ) -> Result<PluginReader, ComponentRejection> {
        let pre = linker::reader(&self.sandbox.host.engine, &self.component)?;
        let (head, description) = self.describe(dump_target, |store| {
            pre.instantiate(&mut *store)?.yearbook_plugin_reader().call_describe(store)
        })?;
        Ok(PluginReader { head, pre, description })
    }

    /// Calls `describe` in an instance of its own, checks the result, and opens the release's
    /// counters, where the load is counted.
    fn describe<D: PluginDescription>(
        &self,
        dump_target: &DumpTarget,
        describe: impl FnOnce(&mut Store<HostState>) -> wasmtime::Result<D::Raw> + Send,
    ) -> Result<(PluginHead, D), ComponentRejection> {
        let host = &self.sandbox.host;
        let _permit = host
            .admission
            .instances
            .try_acquire(&CallerShare::default())
            .map_err(|_| ComponentRejection::Busy)?;
        let calls = CallMetrics::new(
            Arc::new(PluginMetrics::unregistered(D::KIND, &self.digest)),
            dump_target.clone(),
        );
        let mut store = HostState::new_store(host, Arc::clone(&calls), InputSize::new(0, 0, true));
        let description = HostState::try_call(&mut store, describe)
            .map_err(|trap| match trap {
                // What others hold is not the component's fault.
                Trap::TotalMemory { .. } => ComponentRejection::Busy,
                trap => ComponentRejection::Trapped(trap),
            })
            .and_then(|raw| D::check(raw).map_err(ComponentRejection::Description));
        if let Err(rejected) = &description
            && let Some(reason) = rejected.reason()
            && dump_target.is_enabled()
        {
            let dump = FailureDump::for_component(D::KIND, &self.digest, &host.limits);
            let log = store.data().guest_log();
            dump.write(GuestFunction::Describe, reason, false, log, &calls);
        }
        let description = description?;
        let name = description.name().to_owned();
        let id = ReleaseId { kind: D::KIND, name, digest: self.digest };
        let release = ReleaseName { id, version: description.version().to_owned() };
        let metrics = self.sandbox.metrics.get_or_register(release);
        metrics.record_load(self.begun.elapsed(), self.from_cache);
        Ok((PluginHead::new(host, metrics, self.bytes), description))
    }
}
