//! Loading: a component is measured and compiled, its imports are read and its description is
//! checked before it can serve anything.

use std::sync::Arc;
use std::time::Instant;

use wasmtime::Store;
use wasmtime::component::Component;
use yearbook_domain::{Digest, PluginKind, ReleaseId};
use yearbook_shares::CallerShare;

use super::{Plugin, Sandbox};
use crate::admission::SlowPluginLimiter;
use crate::encode::{EncoderDescription, PluginEncoder};
use crate::engine::component_cache;
use crate::engine::component_limits::ComponentStats;
use crate::error::ComponentRejection;
use crate::generate::{GeneratorDescription, PluginGenerator};
use crate::guest::{HostState, linker};
use crate::observe::{
    CallMetrics, DumpTarget, FailureDump, GuestFunction, PluginMetrics, ReleaseName,
};
use crate::read::{PluginReader, ReaderDescription};
use crate::trap::Trap;

/// The export that tells a generator from an encoder.
const GENERATOR: &str = "yearbook:plugin/generator@1.0.0";

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
        let digest = Digest::of(bytes);
        let begun = Instant::now();
        let (component, from_cache) = self.compiled_component(&digest, bytes)?;
        linker::check_imports(&self.host.engine, &component)?;
        let (host, bytes) = (Arc::clone(&self.host), bytes.len() as u64);
        let metrics_of = |kind, name: &str, version: &str| {
            let id = ReleaseId { kind, name: name.to_owned(), digest };
            let release = ReleaseName { id, version: version.to_owned() };
            let metrics = self.metrics.get_or_register(release);
            metrics.record_load(begun.elapsed(), from_cache);
            metrics
        };
        if linker::is_reader(&self.host.engine, &component) {
            let pre = linker::reader(&self.host.engine, &component)?;
            let describe = |store: &mut Store<HostState>| {
                pre.instantiate(&mut *store)?.yearbook_plugin_reader().call_describe(store)
            };
            let description = self.call_describe(
                PluginKind::Reader,
                &digest,
                dump_target,
                describe,
                ReaderDescription::check,
            )?;
            let metrics = metrics_of(PluginKind::Reader, &description.format, &description.version);
            return Ok(Plugin::Reader(Arc::new(PluginReader {
                host,
                pre,
                description,
                digest,
                bytes,
                metrics,
            })));
        }
        if component.component_type().exports(&self.host.engine).any(|(name, _)| name == GENERATOR)
        {
            let pre = linker::generator(&self.host.engine, &component)?;
            let describe = |store: &mut Store<HostState>| {
                pre.instantiate(&mut *store)?.yearbook_plugin_generator().call_describe(store)
            };
            let description = self.call_describe(
                PluginKind::Generator,
                &digest,
                dump_target,
                describe,
                GeneratorDescription::check,
            )?;
            let metrics =
                metrics_of(PluginKind::Generator, &description.tool, &description.version);
            return Ok(Plugin::Generator(Arc::new(PluginGenerator {
                host,
                pre,
                description,
                digest,
                bytes,
                metrics,
                limiter: SlowPluginLimiter::new(),
            })));
        }
        let pre = linker::encoder(&self.host.engine, &component)?;
        let describe = |store: &mut Store<HostState>| {
            pre.instantiate(&mut *store)?.yearbook_plugin_encoder().call_describe(store)
        };
        let description = self.call_describe(
            PluginKind::Encoder,
            &digest,
            dump_target,
            describe,
            EncoderDescription::check,
        )?;
        let metrics = metrics_of(PluginKind::Encoder, &description.format, &description.version);
        Ok(Plugin::Encoder(Arc::new(PluginEncoder {
            host,
            pre,
            description,
            digest,
            bytes,
            metrics,
            limiter: Arc::new(SlowPluginLimiter::new()),
        })))
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
            other => Err(ComponentRejection::Interface(format!(
                "it is a plugin of the kind {}, not an encoder",
                other.kind()
            ))),
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
            other => Err(ComponentRejection::Interface(format!(
                "it is a plugin of the kind {}, not a generator",
                other.kind()
            ))),
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
            other => Err(ComponentRejection::Interface(format!(
                "it is a plugin of the kind {}, not a reader",
                other.kind()
            ))),
        }
    }

    /// Machine code, and true where it came from the cache.
    fn compiled_component(
        &self,
        digest: &Digest,
        bytes: &[u8],
    ) -> Result<(Component, bool), ComponentRejection> {
        let compile = || {
            ComponentStats::measure(bytes)?;
            self.compiler.compile(&self.host.engine, &self.host.limits, bytes)
        };
        match &self.cache {
            Some(cache) => cache.component(&self.host.engine, digest, compile),
            None => {
                Ok((component_cache::deserialize_trusted(&self.host.engine, &compile()?)?, false))
            }
        }
    }

    /// Calls a plugin's `describe` in an instance of its own, and checks the result.
    fn call_describe<Raw: Send, Description>(
        &self,
        kind: PluginKind,
        digest: &Digest,
        dump_target: &DumpTarget,
        describe: impl FnOnce(&mut Store<HostState>) -> wasmtime::Result<Raw> + Send,
        check: impl FnOnce(Raw) -> Result<Description, String>,
    ) -> Result<Description, ComponentRejection> {
        let _permit = self
            .host
            .admission
            .instances
            .try_acquire(&CallerShare::default())
            .map_err(|_| ComponentRejection::Busy)?;
        let calls = CallMetrics::new(
            Arc::new(PluginMetrics::unregistered(kind, digest)),
            dump_target.clone(),
        );
        let mut store = HostState::new_store(&self.host, Arc::clone(&calls));
        let description = HostState::call(&mut store, describe).map_err(|trap| match trap {
            // What others hold is not the component's fault.
            Trap::TotalMemory { .. } => ComponentRejection::Busy,
            trap => ComponentRejection::Trapped(trap),
        });
        let description =
            description.and_then(|raw| check(raw).map_err(ComponentRejection::Description));
        if let Err(rejected) = &description
            && dump_target.is_enabled()
        {
            FailureDump::for_component(kind, digest, &self.host.limits).write_failure(
                GuestFunction::Describe,
                rejected,
                store.data().guest_log(),
                &calls,
            );
        }
        description
    }
}
