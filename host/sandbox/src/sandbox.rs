//! The sandbox: makes plugins of component bytes. A component is measured, its imports are read and
//! its description is checked before it can serve anything.

mod linker;
mod plugin;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use sha2::{Digest, Sha256};
use wasmtime::component::Component;
use wasmtime::{Engine, Store};
use yearbook_shares::{CallerShare, FairSlots, SlotKind, SlotPermit};
use yearbook_workers::Workers;

use crate::compile::Compiler;
use crate::component_cache::{self, ComponentCache};
use crate::component_limits::ComponentStats;
use crate::description::EncoderDescription;
use crate::encoder::PluginEncoder;
use crate::engine;
use crate::failure::{ComponentRejection, SandboxFailure, Trap};
use crate::failure_dump::{DumpSink, FailureDump, GuestFunction};
use crate::generator::{GeneratorDescription, PluginGenerator};
use crate::host_state::HostState;
use crate::limits::{Limits, STACK_BYTES};
use crate::memory_budget::MemoryBudget;
use crate::metrics::{
    CallMetrics, MetricsRegistry, PluginMetrics, PluginMetricsSnapshot, ReleaseName,
};
use crate::slow_plugin_limiter::SlowPluginLimiter;

pub use plugin::Plugin;

/// The export that tells a generator from an encoder.
const GENERATOR: &str = "yearbook:plugin/generator@1.0.0";

/// What a sandbox is made of.
#[derive(Clone, Debug, Default)]
pub struct SandboxConfig {
    /// What guests may use.
    pub limits: Limits,
    /// Where compiled components are kept; none: compiled at every start.
    pub cache: Option<PathBuf>,
    /// File of the secret that seals what is kept there, made where there is none; none: beside the
    /// folder, `<folder>.key`.
    pub cache_key: Option<PathBuf>,
    /// Who compiles.
    pub compiler: Compiler,
    /// Folder for the capsules of failures, made for its owner alone where there is none; none:
    /// only trials hand them out.
    pub capsules: Option<PathBuf>,
}

/// One engine with its limits. Plugins of a sandbox share its instances and its workers.
pub struct Sandbox {
    pub(crate) limits: Limits,
    pub(crate) workers: Arc<Workers>,
    pub(crate) instances: Arc<FairSlots>,
    /// What they hold.
    pub(crate) memory: Arc<MemoryBudget>,
    /// Responses that wait for one.
    pub(crate) waiting: AtomicUsize,
    /// Jobs of encoders that run or wait for a worker.
    jobs: Arc<AtomicUsize>,
    pub(crate) engine: Engine,
    /// Whether guests consume fuel.
    pub(crate) counting: bool,
    cache: Option<ComponentCache>,
    compiler: Compiler,
    ledger: MetricsRegistry,
    /// Where capsules go.
    pub(crate) outlet: DumpSink,
}

/// A job that runs or waits, counted until it is dropped.
pub(crate) struct JobGuard(Arc<AtomicUsize>);

impl Drop for JobGuard {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Sandbox {
    /// Starts the engine.
    ///
    /// # Errors
    /// When `stack_bytes` is out of bounds, the engine cannot reserve its address space, the cache
    /// folder cannot be used or the folder for capsules cannot be made.
    pub fn new(config: &SandboxConfig, workers: Arc<Workers>) -> Result<Arc<Self>, SandboxFailure> {
        let open = |folder: &PathBuf| {
            ComponentCache::open(
                folder,
                &config.cache_key.clone().unwrap_or_else(|| folder.with_extension("key")),
            )
        };
        let cache = config.cache.as_ref().map(open).transpose()?;
        let outlet = config.capsules.as_deref().map_or(Ok(DumpSink::Disabled), DumpSink::folder)?;
        Self::build(config.limits, workers, cache, config.compiler.clone(), outlet, false)
    }

    /// A sandbox that counts the instructions of guests ([`crate::Usage::instructions`]). Slower
    /// than one that serves, and without a cache: its code is compiled otherwise.
    ///
    /// # Errors
    /// As [`Sandbox::new`].
    pub fn new_counting_instructions(
        limits: Limits,
        workers: Arc<Workers>,
    ) -> Result<Arc<Self>, SandboxFailure> {
        Self::build(limits, workers, None, Compiler::InProcess, DumpSink::Disabled, true)
    }

    fn build(
        limits: Limits,
        workers: Arc<Workers>,
        cache: Option<ComponentCache>,
        compiler: Compiler,
        outlet: DumpSink,
        counting: bool,
    ) -> Result<Arc<Self>, SandboxFailure> {
        if !STACK_BYTES.contains(&limits.stack_bytes) {
            return Err(SandboxFailure::Stack(limits.stack_bytes));
        }
        Ok(Arc::new(Self {
            limits,
            workers,
            instances: FairSlots::new(SlotKind::Instances, limits.instances as usize),
            memory: Arc::new(MemoryBudget::new(limits.total_memory_bytes)),
            waiting: AtomicUsize::new(0),
            jobs: Arc::default(),
            engine: engine::serving_engine(&limits, counting)?,
            counting,
            cache,
            compiler,
            ledger: MetricsRegistry::default(),
            outlet,
        }))
    }

    /// What guests of this sandbox may use.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// How many instances are free at this moment.
    #[must_use]
    pub fn free_instances(&self) -> usize {
        self.instances.free()
    }

    /// The places of instances, which callers share.
    #[must_use]
    pub fn slots(&self) -> &FairSlots {
        &self.instances
    }

    /// Linear memory that instances hold at this moment, bytes.
    #[must_use]
    pub fn held_memory(&self) -> usize {
        self.memory.used()
    }

    /// What each release that was loaded here has done so far, in the order in which they were
    /// first loaded.
    #[must_use]
    pub fn metrics_snapshots(&self) -> Vec<PluginMetricsSnapshot> {
        self.ledger.all().iter().map(|tally| tally.counts()).collect()
    }

    /// How many instances may make one response at once.
    pub(crate) fn max_parallel_chunks(&self) -> usize {
        if self.limits.parallel_parts == 0 {
            self.workers.threads()
        } else {
            self.limits.parallel_parts
        }
    }

    /// Counts a job of an encoder.
    pub(crate) fn start_job(&self) -> JobGuard {
        self.jobs.fetch_add(1, Ordering::Relaxed);
        JobGuard(Arc::clone(&self.jobs))
    }

    /// Whether encoders leave a worker idle at this moment.
    pub(crate) fn has_idle_worker(&self) -> bool {
        self.jobs.load(Ordering::Relaxed) < self.workers.threads()
    }

    /// Whether half of all instances are free, and memory for more.
    pub(crate) fn has_room(&self) -> bool {
        self.memory.has_room() && self.instances.free() > self.limits.instances as usize / 2
    }

    /// A place for an instance that a response could do without: only where plenty are free, and
    /// within the share of `holder`.
    pub(crate) fn try_extra_instance(&self, holder: &CallerShare) -> Option<SlotPermit> {
        if !self.has_room() {
            return None;
        }
        self.instances.try_acquire(holder).ok()
    }

    /// Makes a plugin of a component; which kind, its exports tell. Compiling keeps a core busy for
    /// a second or so: call it at start-up or on [`Workers`].
    ///
    /// # Errors
    /// [`Rejected`], which says what the component does wrong.
    pub fn load(self: &Arc<Self>, bytes: &[u8]) -> Result<Plugin, ComponentRejection> {
        self.load_with_sink(bytes, &self.outlet)
    }

    /// As [`Sandbox::load`], with the capsule of a `describe` that failed.
    ///
    /// # Errors
    /// [`Rejected`], and the capsule unless it is in the sandbox's folder.
    pub fn load_with_dump(
        self: &Arc<Self>,
        bytes: &[u8],
    ) -> Result<Plugin, (ComponentRejection, Option<Box<FailureDump>>)> {
        let outlet = self.outlet.or_in_memory();
        self.load_with_sink(bytes, &outlet).map_err(|rejected| (rejected, outlet.take()))
    }

    /// As [`Sandbox::load`]; the capsule of a `describe` that failed goes to `outlet`.
    pub(crate) fn load_with_sink(
        self: &Arc<Self>,
        bytes: &[u8],
        outlet: &DumpSink,
    ) -> Result<Plugin, ComponentRejection> {
        if bytes.len() > self.limits.component_bytes {
            return Err(ComponentRejection::TooLarge {
                bytes: bytes.len(),
                limit: self.limits.component_bytes,
            });
        }
        let digest: String =
            Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        let begun = Instant::now();
        let (component, from_cache) = self.compiled_component(&digest, bytes)?;
        linker::check_imports(&self.engine, &component)?;
        let (sandbox, bytes) = (Arc::clone(self), bytes.len() as u64);
        let tally = |kind, name: &str, version: &str| {
            let release = ReleaseName {
                kind,
                name: name.to_owned(),
                version: version.to_owned(),
                digest: digest.clone(),
            };
            let tally = self.ledger.tally(release);
            tally.record_load(begun.elapsed(), from_cache);
            tally
        };
        if component.component_type().exports(&self.engine).any(|(name, _)| name == GENERATOR) {
            let pre = linker::generator(&self.engine, &component)?;
            let ask = |store: &mut Store<HostState>| {
                pre.instantiate(&mut *store)?.yearbook_plugin_generator().call_describe(store)
            };
            let description =
                self.call_describe("generator", &digest, outlet, ask, GeneratorDescription::check)?;
            let tally = tally("generator", &description.tool, &description.version);
            return Ok(Plugin::Generator(Arc::new(PluginGenerator {
                sandbox,
                pre,
                description,
                digest,
                bytes,
                tally,
                lane: SlowPluginLimiter::new(),
            })));
        }
        let pre = linker::encoder(&self.engine, &component)?;
        let ask = |store: &mut Store<HostState>| {
            pre.instantiate(&mut *store)?.yearbook_plugin_encoder().call_describe(store)
        };
        let description =
            self.call_describe("encoder", &digest, outlet, ask, EncoderDescription::check)?;
        let tally = tally("encoder", &description.format, &description.version);
        Ok(Plugin::Encoder(Arc::new(PluginEncoder {
            sandbox,
            pre,
            description,
            digest,
            bytes,
            tally,
            lane: Arc::new(SlowPluginLimiter::new()),
        })))
    }

    /// As [`Sandbox::load`], for a component that must be an encoder.
    ///
    /// # Errors
    /// [`Rejected`].
    pub fn load_encoder(
        self: &Arc<Self>,
        bytes: &[u8],
    ) -> Result<Arc<PluginEncoder>, ComponentRejection> {
        match self.load(bytes)? {
            Plugin::Encoder(encoder) => Ok(encoder),
            Plugin::Generator(_) => {
                Err(ComponentRejection::Interface("it is a generator, not an encoder".to_owned()))
            }
        }
    }

    /// As [`Sandbox::load`], for a component that must be a generator.
    ///
    /// # Errors
    /// [`Rejected`].
    pub fn load_generator(
        self: &Arc<Self>,
        bytes: &[u8],
    ) -> Result<Arc<PluginGenerator>, ComponentRejection> {
        match self.load(bytes)? {
            Plugin::Generator(generator) => Ok(generator),
            Plugin::Encoder(_) => {
                Err(ComponentRejection::Interface("it is an encoder, not a generator".to_owned()))
            }
        }
    }

    /// Machine code, and whether it came from the cache rather than being compiled now.
    fn compiled_component(
        &self,
        digest: &str,
        bytes: &[u8],
    ) -> Result<(Component, bool), ComponentRejection> {
        let compile = || {
            ComponentStats::measure(bytes)?;
            self.compiler.compile(&self.engine, &self.limits, bytes)
        };
        match &self.cache {
            Some(cache) => cache.component(&self.engine, digest, compile),
            None => Ok((component_cache::deserialize_trusted(&self.engine, &compile()?)?, false)),
        }
    }

    /// Calls a plugin's `describe` in an instance of its own, and checks what it says.
    fn call_describe<Raw: Send, CheckResult>(
        &self,
        kind: &str,
        digest: &str,
        outlet: &DumpSink,
        describe: impl FnOnce(&mut Store<HostState>) -> wasmtime::Result<Raw> + Send,
        check: impl FnOnce(Raw) -> Result<CheckResult, String>,
    ) -> Result<CheckResult, ComponentRejection> {
        let _permit = self
            .instances
            .try_acquire(&CallerShare::default())
            .map_err(|_| ComponentRejection::Busy)?;
        let work = CallMetrics::new(Arc::new(PluginMetrics::unregistered()), outlet.clone());
        let mut store = HostState::new_store(self, Arc::clone(&work));
        let said = HostState::call(&mut store, describe).map_err(|trap| match trap {
            // What others hold is not the component's fault.
            Trap::TotalMemory { .. } => ComponentRejection::Busy,
            trap => ComponentRejection::Trapped(trap),
        });
        let said = said.and_then(|raw| check(raw).map_err(ComponentRejection::Description));
        if let Err(rejected) = &said
            && outlet.is_enabled()
        {
            FailureDump::for_component(kind, digest, &self.limits).write_failure(
                GuestFunction::Describe,
                rejected,
                store.data().guest_log(),
                &work,
            );
        }
        said
    }
}
