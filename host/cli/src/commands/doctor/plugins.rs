//! Checks that the plugins that would serve here load, and that this host's settings let them in.

use anyhow::Context as _;
use yearbook_catalog::{Catalog, PluginRelease, lines};
use yearbook_storage::ObjectStorage;

use super::{CheckList, Finding, Status};
use crate::context::CommandContext;
use crate::output::pluralize;
use crate::plugin_runtime;

/// Checks the plugins of the binary.
pub(super) async fn check_built_in(
    context: &CommandContext,
    fresh: bool,
) -> anyhow::Result<Finding> {
    let registry = plugin_runtime::load_built_in(context, context.workers(), !fresh).await?;
    let plugins = registry.current();
    let formats = plugins.encoders().map(|encoder| encoder.description().format.as_str());
    let tools = plugins.generators().map(|generator| generator.description().tool.as_str());
    let transforms = plugins.transforms().map(|transform| transform.description().name.as_str());
    let adapters = plugins.adapters().map(|adapter| adapter.description().name.as_str());
    let names: Vec<_> = formats.chain(tools).chain(transforms).chain(adapters).collect();
    Ok((Status::Ok, format!("{} load", names.join(", "))))
}

/// Every release that may serve and did not come with a binary; each that cannot is a line of its
/// own.
pub(super) async fn releases(
    checks: &mut CheckList,
    context: &CommandContext,
    store: &Catalog,
    files: &ObjectStorage,
) {
    let known = match store.releases().await {
        Ok(known) => known,
        Err(failure) => return checks.add("releases", Err(failure.into())),
    };
    let candidates = lines(&known).into_iter().flat_map(|line| line.candidates);
    let installed: Vec<PluginRelease> = candidates.filter(|release| !release.built_in).collect();
    let (limits, trust) =
        (context.settings.values.sandbox.limits, &context.settings.values.plugins.trust);
    let sandbox = match plugin_runtime::new_sandbox(
        plugin_runtime::cached_config(context, limits),
        context.workers(),
    ) {
        Ok(sandbox) => sandbox,
        Err(error) => return checks.add("releases", Err(error)),
    };
    let mut sound = 0;
    for release in &installed {
        let loaded = yearbook_releases::load_release(files, &sandbox, trust, release).await;
        let loaded = loaded
            .with_context(|| format!("{} {} cannot serve here", release.id.name, release.version));
        match loaded {
            Ok(_) => sound += 1,
            Err(error) => checks.add("releases", Err(error)),
        }
    }
    if sound == installed.len() {
        let all = pluralize(sound as u64, "installed release");
        checks
            .add("releases", Ok((Status::Ok, format!("there, trusted, and able to serve: {all}"))));
    }
}
