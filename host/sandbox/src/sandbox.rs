//! The sandbox: makes plugins of component bytes. A component is measured, its imports are read and
//! its description is checked before it can serve anything.

use std::path::PathBuf;
use std::sync::Arc;

use sha2::{Digest, Sha256};
use tokio::sync::Semaphore;
use wasmtime::Engine;
use wasmtime::component::{Component, HasSelf, Linker};
use yearbook_workers::Workers;

use crate::bindings::{EncoderPlugin, EncoderPluginPre};
use crate::cache::Cache;
use crate::description::Description;
use crate::encoder::Encoder;
use crate::engine;
use crate::failure::{Failure, Rejected};
use crate::host::HostState;
use crate::limits::Limits;

/// What a component may import: `log`, and the interface of shared types, which has no function.
const IMPORTS: [&str; 2] = ["yearbook:plugin/log@0.1.0", "yearbook:plugin/types@0.1.0"];

/// What a sandbox is made of.
#[derive(Clone, Debug)]
pub struct Config {
    /// What guests may use.
    pub limits: Limits,
    /// Where compiled components are kept; none: compiled at every start.
    pub cache: Option<PathBuf>,
}

/// One engine with its limits. Plugins of a sandbox share its instances and its workers.
pub struct Sandbox {
    pub(crate) limits: Limits,
    pub(crate) workers: Arc<Workers>,
    pub(crate) instances: Arc<Semaphore>,
    engine: Engine,
    cache: Option<Cache>,
}

impl Sandbox {
    /// Starts the engine.
    ///
    /// # Errors
    /// When the engine cannot reserve its address space or the cache folder cannot be used.
    pub fn new(config: &Config, workers: Arc<Workers>) -> Result<Arc<Self>, Failure> {
        let limits = config.limits;
        Ok(Arc::new(Self {
            limits,
            workers,
            instances: Arc::new(Semaphore::new(limits.instances as usize)),
            engine: engine::start(&limits)?,
            cache: config.cache.as_deref().map(Cache::open).transpose()?,
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
        self.instances.available_permits()
    }

    /// Makes an encoder of a component. Compiling keeps a core busy for a second or so: call it at
    /// start-up or on [`Workers`].
    ///
    /// # Errors
    /// [`Rejected`], which says what the component does wrong.
    pub fn load_encoder(self: &Arc<Self>, bytes: &[u8]) -> Result<Arc<Encoder>, Rejected> {
        if bytes.len() > self.limits.component_bytes {
            return Err(Rejected::TooLarge { bytes: bytes.len(), limit: self.limits.component_bytes });
        }
        let digest: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        let component = match &self.cache {
            Some(cache) => cache.component(&self.engine, &digest, bytes),
            None => Component::new(&self.engine, bytes),
        }
        .map_err(|error| Rejected::Malformed(format!("{error:#}")))?;
        self.check_imports(&component)?;
        let pre = self.link(&component).map_err(|error| Rejected::Interface(format!("{error:#}")))?;
        let description = self.describe(&pre)?;
        Ok(Arc::new(Encoder { sandbox: Arc::clone(self), pre, description, digest, bytes: bytes.len() as u64 }))
    }

    fn check_imports(&self, component: &Component) -> Result<(), Rejected> {
        let refused: Vec<String> = component
            .component_type()
            .imports(&self.engine)
            .map(|(name, _)| name.to_owned())
            .filter(|name| !IMPORTS.contains(&name.as_str()))
            .collect();
        if refused.is_empty() { Ok(()) } else { Err(Rejected::Imports(refused)) }
    }

    fn link(&self, component: &Component) -> wasmtime::Result<EncoderPluginPre<HostState>> {
        let mut linker = Linker::new(&self.engine);
        EncoderPlugin::add_to_linker::<_, HasSelf<HostState>>(&mut linker, |state| state)?;
        EncoderPluginPre::new(linker.instantiate_pre(component)?)
    }

    fn describe(&self, pre: &EncoderPluginPre<HostState>) -> Result<Description, Rejected> {
        let _permit = self.instances.try_acquire().map_err(|_| Rejected::Busy)?;
        let mut store = HostState::store(&self.engine, "being loaded", self.limits);
        let raw = HostState::call(&mut store, |store| pre.instantiate(&mut *store)?.yearbook_plugin_encoder().call_describe(store))?;
        Description::check(raw).map_err(Rejected::Description)
    }
}
