//! Loader of plugins: the components of the binary in a sandbox, and for a server the reconciler,
//! which follows the catalog, so that a mixed fleet agrees on the releases that run. Never
//! decides which release serves.

use std::sync::Arc;

use anyhow::Context as _;
use yearbook_catalog::{Catalog, CatalogCache};
use yearbook_releases::{DumpFolder, EmbeddedComponent, PluginReconciler, ReleaseMonitor};
use yearbook_sandbox::{Compiler, DumpSink, Limits, PluginRegistry, Sandbox, SandboxConfig};
use yearbook_storage::ObjectStorage;
use yearbook_workers::Workers;

use crate::builtin;
use crate::context::CommandContext;

/// Loads every built-in plugin, whatever the catalog says. `cached`: with the data directory's
/// compiled components; otherwise they are compiled now.
///
/// # Errors
/// Fails when a component is missing or the sandbox refuses it.
pub(crate) async fn load_built_in(
    context: &CommandContext,
    workers: Arc<Workers>,
    cached: bool,
) -> anyhow::Result<PluginRegistry> {
    let components = builtin::components(context.plugins_dir.as_deref())?;
    let sandbox = serving_sandbox(context, Arc::clone(&workers), cached)?;
    let registry = PluginRegistry::new();
    for component in components {
        let builtin::BuiltInComponent { name, bytes, by } = component;
        let sandbox = Arc::clone(&sandbox);
        // Compiling takes a second or so of a core.
        let loaded = workers
            .run(move || sandbox.load(&bytes))
            .await
            .with_context(|| format!("cannot load the plugin {name} from {by}"))?;
        let plugin = loaded.with_context(|| {
            format!(
                "the plugin {name} from {by} is refused; build it again with `cargo xtask plugins`"
            )
        })?;
        registry.add(&plugin).with_context(|| format!("the plugin {name} from {by} is refused"))?;
    }
    Ok(registry)
}

/// Plugins that serve, kept as the catalog says.
pub(crate) struct PluginRuntime {
    reconciler: Arc<PluginReconciler>,
    /// Sandbox in which they run.
    pub(crate) sandbox: Arc<Sandbox>,
    /// Monitor of releases, for the server.
    pub(crate) guard: Arc<ReleaseMonitor>,
    /// Plugins by format and tool, for the server.
    pub(crate) registry: Arc<PluginRegistry>,
}

/// Loads the components of the binary and makes them known to every host that shares the catalogue.
/// The registry is empty until [`PluginRuntime::follow`].
///
/// # Errors
/// Fails when a component is missing or refused, or when catalog or object store fail.
pub(crate) async fn start_runtime(
    context: &CommandContext,
    store: &Arc<Catalog>,
    files: &ObjectStorage,
    workers: Arc<Workers>,
) -> anyhow::Result<PluginRuntime> {
    let components = builtin::components(context.plugins_dir.as_deref())?;
    let sandbox = serving_sandbox(context, workers, true)?;
    let registry = Arc::new(PluginRegistry::new());
    let trust = context.settings.values.plugins.trust.clone();
    let embed = |component: builtin::BuiltInComponent| EmbeddedComponent {
        name: component.name.to_owned(),
        bytes: component.bytes,
        by: component.by,
    };
    let embedded = components.into_iter().map(embed).collect();
    let settings = context.settings.values.plugins.guard;
    let guard = ReleaseMonitor::new(Arc::clone(store), Arc::clone(&sandbox), settings)
        .context("the thread that compares releases cannot start")?;
    let reconciler = PluginReconciler::start(
        Arc::clone(&sandbox),
        files.clone(),
        store,
        Arc::clone(&registry),
        Arc::clone(&guard),
        trust,
        embedded,
    )
    .await?;
    Ok(PluginRuntime { reconciler, sandbox, guard, registry })
}

impl PluginRuntime {
    /// Loads the releases that serve now, and follows the catalog from then on, as long as this
    /// value lives.
    pub(crate) async fn follow(&self, live: &Arc<CatalogCache>) {
        let releases = live.releases();
        let now = Arc::clone(&releases.borrow());
        self.reconciler.apply(&now).await;
        self.reconciler.follow(releases);
        self.guard.follow(live, ReleaseMonitor::TICK_INTERVAL);
    }
}

/// Sandbox with the data directory's compiled components, which writes failure dumps where the
/// settings say; or without either.
fn serving_sandbox(
    context: &CommandContext,
    workers: Arc<Workers>,
    cached: bool,
) -> anyhow::Result<Arc<Sandbox>> {
    let limits = context.settings.values.sandbox.limits;
    new_sandbox(
        if cached {
            SandboxConfig { dump_sink: dump_sink(context)?, ..cached_config(context, limits) }
        } else {
            SandboxConfig { limits, ..SandboxConfig::default() }
        },
        workers,
    )
}

/// The folder for failure dumps, where the settings name one.
pub(crate) fn dump_sink(context: &CommandContext) -> anyhow::Result<Option<Arc<dyn DumpSink>>> {
    let Some(path) = &context.settings.values.plugins.dumps else { return Ok(None) };
    let folder = DumpFolder::open(path).context("the sandbox for plugins cannot start")?;
    Ok(Some(Arc::new(folder)))
}

/// Configuration of a sandbox that keeps compiled components where servers on the same data
/// directory find them.
pub(crate) fn cached_config(context: &CommandContext, limits: Limits) -> SandboxConfig {
    let settings = &context.settings;
    SandboxConfig {
        limits,
        cache: Some(settings.cache_dir()),
        cache_key: Some(settings.cache_key_file()),
        ..SandboxConfig::default()
    }
}

/// Sandbox that compiles in a child process of this program.
pub(crate) fn new_sandbox(
    config: SandboxConfig,
    workers: Arc<Workers>,
) -> anyhow::Result<Arc<Sandbox>> {
    // The program that runs, even where another has been put in its place meanwhile.
    let this = if cfg!(target_os = "linux") {
        "/proc/self/exe".into()
    } else {
        std::env::current_exe().context("this program has no path")?
    };
    Sandbox::new(&SandboxConfig { compiler: Compiler::ChildProcess(this), ..config }, workers)
        .context("the sandbox for plugins cannot start")
}
