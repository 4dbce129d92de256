//! From components to a registry that answers: loads the built-in plugins into a sandbox and makes
//! them known to the catalogue, so that a mixed fleet agrees on what runs.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context as _;
use yearbook_catalog::{PluginRelease, ReleaseId, ReleaseState, Store};
use yearbook_domain::Millis;
use yearbook_sandbox::{Config, Plugin, Registry, Sandbox};
use yearbook_workers::Workers;

use crate::builtin;
use crate::context::Context;

/// Loads every built-in plugin. `cache`: folder of compiled components; none: compile them now.
///
/// # Errors
/// When a component is missing or the sandbox refuses it.
pub(crate) async fn load(
    context: &Context,
    workers: Arc<Workers>,
    cache: Option<PathBuf>,
) -> anyhow::Result<(Registry, Vec<PluginRelease>)> {
    let components = builtin::components(context.plugins_dir.as_deref())?;
    let config = Config { limits: context.settings.values.sandbox.limits, cache };
    let sandbox = Sandbox::new(&config, Arc::clone(&workers)).context("the sandbox for plugins cannot start")?;
    let registry = Registry::new();
    let mut releases = Vec::new();
    for component in components {
        let builtin::Component { name, bytes, by } = component;
        let sandbox = Arc::clone(&sandbox);
        // Compiling takes a second or so of a core.
        let loaded = workers.run(move || sandbox.load(&bytes)).await.with_context(|| format!("cannot load the plugin {name} from {by}"))?;
        let plugin =
            loaded.with_context(|| format!("the plugin {name} from {by} is refused; build it again with `cargo xtask plugins`"))?;
        registry.add(&plugin).with_context(|| format!("the plugin {name} from {by} is refused"))?;
        releases.push(release(&plugin, by));
    }
    Ok((registry, releases))
}

/// Makes `releases` known to every host that shares the catalogue.
///
/// # Errors
/// When the catalogue cannot be written.
pub(crate) async fn register(store: &dyn Store, releases: &[PluginRelease]) -> anyhow::Result<()> {
    for release in releases {
        store.register_release(release).await.with_context(|| format!("cannot register the plugin {}", release.id.name))?;
    }
    Ok(())
}

fn release(plugin: &Plugin, by: String) -> PluginRelease {
    PluginRelease {
        id: ReleaseId { kind: plugin.kind().to_owned(), name: plugin.name().to_owned(), digest: plugin.digest().to_owned() },
        version: plugin.version().to_owned(),
        bytes: plugin.bytes(),
        by,
        installed_at: Millis::now(),
        built_in: true,
        state: ReleaseState::Promoted,
        promotion: 0,
        pinned: false,
        reason: None,
    }
}
