//! The sandbox: one engine with its limits, its plugins' counters and its cache of compiled code.
//! Owns the order of a load; every rule of it stands in a folder of this crate.

mod compiled_component;
mod load;
mod plugin;
mod registry;

use std::path::PathBuf;
use std::sync::Arc;

use yearbook_engine::{Compiler, ComponentCache, Limits, STACK_BYTES, SandboxFailure};
use yearbook_shares::FairSlots;
use yearbook_workers::Workers;

use crate::admission::Admission;
use crate::guest::GuestHost;
use crate::observe::{DumpSink, DumpTarget, GuestSamples, MetricsRegistry, PluginMetricsSnapshot};

pub use plugin::Plugin;
pub use registry::{PluginRegistry, PluginSet};

/// Configuration of a sandbox.
#[derive(Clone, Debug, Default)]
pub struct SandboxConfig {
    /// Limits of guests.
    pub limits: Limits,
    /// Folder of compiled components; none: components are compiled at every start.
    pub cache: Option<PathBuf>,
    /// File of the secret that authenticates cached code, made where there is none; none: beside
    /// the folder, `<folder>.key`.
    pub cache_key: Option<PathBuf>,
    /// Process that compiles.
    pub compiler: Compiler,
    /// Sink of failure dumps; none: only trials return them.
    pub dump_sink: Option<Arc<dyn DumpSink>>,
    /// Keeper of guests' call stacks; none: no stack is taken.
    pub samples: Option<Arc<GuestSamples>>,
}

/// One engine with its limits. Plugins of a sandbox share its instances and its workers.
pub struct Sandbox {
    pub(crate) host: Arc<GuestHost>,
    cache: Option<ComponentCache>,
    compiler: Compiler,
    metrics: MetricsRegistry,
}

impl Sandbox {
    /// Starts the engine.
    ///
    /// # Errors
    /// Fails when `stack_bytes` is out of bounds, the engine cannot reserve its address space, or
    /// the cache folder cannot be used.
    pub fn new(config: &SandboxConfig, workers: Arc<Workers>) -> Result<Arc<Self>, SandboxFailure> {
        let open = |folder: &PathBuf| {
            ComponentCache::open(
                folder,
                &config.cache_key.clone().unwrap_or_else(|| folder.with_extension("key")),
            )
        };
        let cache = config.cache.as_ref().map(open).transpose()?;
        let dump_target = config.dump_sink.clone().map_or(DumpTarget::Disabled, DumpTarget::Sink);
        let (compiler, samples) = (config.compiler.clone(), config.samples.clone());
        Self::build(config.limits, workers, cache, compiler, dump_target, samples, false)
    }

    /// A sandbox that counts the instructions of guests
    /// ([`crate::ResourceUsage::instructions`]). Slower than one that serves, and without a cache:
    /// its code is compiled otherwise.
    ///
    /// # Errors
    /// As [`Sandbox::new`].
    pub fn new_counting_instructions(
        limits: Limits,
        workers: Arc<Workers>,
    ) -> Result<Arc<Self>, SandboxFailure> {
        Self::build(limits, workers, None, Compiler::InProcess, DumpTarget::Disabled, None, true)
    }

    fn build(
        limits: Limits,
        workers: Arc<Workers>,
        cache: Option<ComponentCache>,
        compiler: Compiler,
        dump_target: DumpTarget,
        samples: Option<Arc<GuestSamples>>,
        counts_instructions: bool,
    ) -> Result<Arc<Self>, SandboxFailure> {
        if !STACK_BYTES.contains(&limits.stack_bytes) {
            return Err(SandboxFailure::Stack(limits.stack_bytes));
        }
        let (engine, clock) = yearbook_engine::serving_engine(&limits, counts_instructions)?;
        let host = GuestHost {
            engine,
            clock,
            limits,
            counts_instructions,
            admission: Admission::new(limits, workers),
            dump_target,
            samples,
        };
        Ok(Arc::new(Self {
            host: Arc::new(host),
            cache,
            compiler,
            metrics: MetricsRegistry::default(),
        }))
    }

    /// Limits of the guests of this sandbox.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.host.limits
    }

    /// Number of instances that are free now.
    #[must_use]
    pub fn free_instances(&self) -> usize {
        self.host.admission.instances.free()
    }

    /// Slots of instances, which callers share.
    #[must_use]
    pub fn slots(&self) -> &FairSlots {
        &self.host.admission.instances
    }

    /// Linear memory that instances hold now, bytes.
    #[must_use]
    pub fn held_memory(&self) -> usize {
        self.host.admission.memory.used()
    }

    /// Counters of each release that was loaded here, in the order in which they were first
    /// loaded.
    #[must_use]
    pub fn metrics_snapshots(&self) -> Vec<PluginMetricsSnapshot> {
        self.metrics.all().iter().map(|metrics| metrics.counts()).collect()
    }
}
