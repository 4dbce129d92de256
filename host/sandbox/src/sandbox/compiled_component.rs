//! A component on its way to being a plugin: measured and compiled, its imports read, its own
//! description fetched and checked. Nothing serves before all of that; no step knows who asked.

use std::sync::Arc;
use std::time::Instant;

use wasmtime::component::Component;
use yearbook_domain::{Digest, PluginKind, ReleaseId};
use yearbook_engine::{ComponentRejection, ComponentStats, Trap, deserialize_trusted};
use yearbook_shares::CallerShare;

use super::Sandbox;
use crate::guest::{HostState, InputSize, linker};
use crate::observe::{
    CallMetrics, DumpTarget, FailureDump, FailureReason, GuestFunction, PluginMetrics, ReleaseName,
};
use crate::plugin_head::PluginHead;
use crate::plugin_world::PluginWorld;

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
        let digest = Digest::compute(bytes);
        let begun = Instant::now();
        let engine = &sandbox.host.engine;
        let compile = || {
            ComponentStats::measure(bytes)?;
            sandbox.compiler.compile(engine, &sandbox.host.limits, bytes)
        };
        let (component, from_cache) = match &sandbox.cache {
            Some(cache) => cache.component(engine, &digest, compile)?,
            None => (deserialize_trusted(engine, &compile()?)?, false),
        };
        linker::check_imports(engine, &component)?;
        Ok(Self { sandbox, component, digest, bytes: bytes.len() as u64, begun, from_cache })
    }

    /// Kind of the plugin, as its exports say.
    pub(super) fn kind(&self) -> PluginKind {
        linker::kind(&self.sandbox.host.engine, &self.component)
    }

    /// Returns whether it exports an encoder, whatever else.
    pub(super) fn has_format(&self) -> bool {
        linker::exports(&self.sandbox.host.engine, &self.component, linker::ENCODER)
    }

    /// Makes a plugin of it: links it, calls `describe` in an instance of its own, checks the
    /// result, and opens the release's counters, where the load is counted.
    pub(super) fn load<W: PluginWorld>(
        &self,
        dump_target: &DumpTarget,
    ) -> Result<W::Plugin, ComponentRejection> {
        let host = &self.sandbox.host;
        let linked = linker::link(&host.engine, &self.component, W::link)?;
        let description = self.describe::<W>(&linked, dump_target)?;
        let name = description.name().to_owned();
        let id = ReleaseId { kind: W::KIND, name, digest: self.digest };
        let release = ReleaseName { id, version: description.version().to_owned() };
        let metrics = self.sandbox.metrics.get_or_register(release);
        metrics.record_load(self.begun.elapsed(), self.from_cache);
        let head = PluginHead::new(host, metrics, self.bytes);
        Ok(description.plugin(head, linked))
    }

    /// Calls `describe` and checks the result.
    fn describe<W: PluginWorld>(
        &self,
        linked: &W::Linked,
        dump_target: &DumpTarget,
    ) -> Result<W, ComponentRejection> {
        let host = &self.sandbox.host;
        let _permit = host
            .admission
            .instances
            .try_acquire(&CallerShare::default())
            .map_err(|_| ComponentRejection::Busy)?;
        let calls = CallMetrics::new(
            Arc::new(PluginMetrics::unregistered(W::KIND, &self.digest)),
            dump_target.clone(),
        );
        let mut store = HostState::new_store(host, Arc::clone(&calls), InputSize::new(0, 0, true));
        let description = HostState::try_call(&mut store, |store| W::describe(linked, store))
            .map_err(|trap| match trap {
                // What others hold is not the component's fault.
                Trap::TotalMemory { .. } => ComponentRejection::Busy,
                trap => ComponentRejection::Trapped(trap),
            })
            .and_then(|raw| W::check(raw).map_err(ComponentRejection::Description));
        if let Err(rejected) = &description
            && let Some(reason) = FailureReason::from_rejection(rejected)
            && dump_target.is_enabled()
        {
            let dump = FailureDump::for_component(W::KIND, &self.digest, &host.limits);
            let log = store.data().guest_log();
            dump.write(GuestFunction::Describe, reason, false, log, &calls);
        }
        description
    }
}
