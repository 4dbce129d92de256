//! From components to a registry that answers: what the binary brings, put into a sandbox; and for a server the
//! platform's keeper, which follows the catalogue, so that a mixed fleet agrees on what runs.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context as _;
use yearbook_catalog::{Live, Store};
use yearbook_platform::{Embedded, Guard, Keeper};
use yearbook_sandbox::{Config, Registry, Sandbox};
use yearbook_snapshot::Files;
use yearbook_workers::Workers;

use crate::builtin;
use crate::context::Context;

/// Loads every built-in plugin, whatever the catalogue says. `cache`: folder of compiled components; none:
/// compile them now.
///
/// # Errors
/// When a component is missing or the sandbox refuses it.
pub(crate) async fn load(context: &Context, workers: Arc<Workers>, cache: Option<PathBuf>) -> anyhow::Result<Registry> {
    let components = builtin::components(context.plugins_dir.as_deref())?;
    let sandbox = sandbox(context, Arc::clone(&workers), cache)?;
    let registry = Registry::new();
    for component in components {
        let builtin::Component { name, bytes, by } = component;
        let sandbox = Arc::clone(&sandbox);
        // Compiling takes a second or so of a core.
        let loaded = workers.run(move || sandbox.load(&bytes)).await.with_context(|| format!("cannot load the plugin {name} from {by}"))?;
        let plugin =
            loaded.with_context(|| format!("the plugin {name} from {by} is refused; build it again with `cargo xtask plugins`"))?;
        registry.add(&plugin).with_context(|| format!("the plugin {name} from {by} is refused"))?;
    }
    Ok(registry)
}

/// What serves, kept as the catalogue says.
pub(crate) struct Kept {
    keeper: Arc<Keeper>,
    /// Where they run.
    pub(crate) sandbox: Arc<Sandbox>,
    /// For the server.
    pub(crate) guard: Arc<Guard>,
    /// For the server.
    pub(crate) registry: Arc<Registry>,
}

/// Loads what the binary brings and makes it known to every host that shares the catalogue. The registry is
/// empty until [`Kept::follow`].
///
/// # Errors
/// When a component is missing or refused, or when catalogue or object store fail.
pub(crate) async fn keep(context: &Context, store: &Arc<dyn Store>, files: &Files, workers: Arc<Workers>) -> anyhow::Result<Kept> {
    let components = builtin::components(context.plugins_dir.as_deref())?;
    let sandbox = sandbox(context, workers, Some(context.settings.cache_dir()))?;
    let registry = Arc::new(Registry::new());
    let embed = |component: builtin::Component| Embedded { name: component.name.to_owned(), bytes: component.bytes, by: component.by };
    let embedded = components.into_iter().map(embed).collect();
    let settings = context.settings.values.plugins;
    let guard = Guard::new(Arc::clone(store), Arc::clone(&sandbox), settings).context("the thread that compares releases cannot start")?;
    let keeper = Keeper::start(Arc::clone(&sandbox), files.clone(), &**store, Arc::clone(&registry), Arc::clone(&guard), embedded).await?;
    Ok(Kept { keeper, sandbox, guard, registry })
}

impl Kept {
    /// Loads what is to serve now, and from now on whatever the catalogue says, as long as this value lives.
    pub(crate) async fn follow(&self, live: &Arc<Live>) {
        let releases = live.releases();
        let now = Arc::clone(&releases.borrow());
        self.keeper.apply(&now).await;
        self.keeper.follow(releases);
        self.guard.follow(live, Guard::PERIOD);
    }
}

fn sandbox(context: &Context, workers: Arc<Workers>, cache: Option<PathBuf>) -> anyhow::Result<Arc<Sandbox>> {
    let config = Config { limits: context.settings.values.sandbox.limits, cache };
    Sandbox::new(&config, workers).context("the sandbox for plugins cannot start")
}
