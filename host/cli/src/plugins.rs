//! From components to a registry that answers: loads the built-in plugins into a sandbox and makes
//! them known to the catalogue, so that a mixed fleet agrees on what runs.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context as _;
use yearbook_catalog::{PluginRelease, Store};
use yearbook_domain::Millis;
use yearbook_sandbox::{Config, Encoder, Registry, Sandbox};
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
        let loaded =
            workers.run(move || sandbox.load_encoder(&bytes)).await.with_context(|| format!("cannot load the plugin {name} from {by}"))?;
        let encoder =
            loaded.with_context(|| format!("the plugin {name} from {by} is refused; build it again with `cargo xtask plugins`"))?;
        registry.add_encoder(&encoder).with_context(|| format!("the plugin {name} from {by} is refused"))?;
        releases.push(release(&encoder, by));
    }
    Ok((registry, releases))
}

/// Makes `releases` known to every host that shares the catalogue.
///
/// # Errors
/// When the catalogue cannot be written.
pub(crate) async fn register(store: &dyn Store, releases: &[PluginRelease]) -> anyhow::Result<()> {
    for release in releases {
        store.register_release(release).await.with_context(|| format!("cannot register the plugin {}", release.name))?;
    }
    Ok(())
}

fn release(encoder: &Encoder, by: String) -> PluginRelease {
    let description = encoder.description();
    PluginRelease {
        name: description.format.clone(),
        kind: "encoder".to_owned(),
        version: description.version.clone(),
        digest: encoder.digest().to_owned(),
        bytes: encoder.bytes(),
        by,
        installed_at: Millis::now(),
        state: "active".to_owned(),
    }
}
