//! `yearbook plugin`: which plugins are registered.

use anyhow::Context as _;
use serde_json::{Value, json};
use yearbook_catalog::PluginRelease;

use crate::arguments::Plugin;
use crate::context::Context;
use crate::output::Table;

/// Characters of a digest that people compare.
const SHORT_DIGEST: usize = 12;

pub(super) async fn run(context: &Context, command: Plugin) -> anyhow::Result<()> {
    match command {
        Plugin::List => list(context).await,
    }
}

async fn list(context: &Context) -> anyhow::Result<()> {
    let releases = context.catalogue().await?.releases().await.context("cannot list plugins")?;
    let values: Vec<Value> = releases.iter().map(describe).collect();
    context.output.result(&values, || {
        let mut table = Table::new(&["name", "kind", "version", "state", "digest", "#bytes", "installed", "by"]);
        for release in &releases {
            table.row([
                release.id.name.clone(),
                release.id.kind.clone(),
                release.version.clone(),
                release.state.as_str().to_owned(),
                release.id.digest.chars().take(SHORT_DIGEST).collect(),
                release.bytes.to_string(),
                release.installed_at.rfc3339(),
                release.by.clone(),
            ]);
        }
        if table.is_empty() {
            "No plugins are registered yet; `yearbook serve` registers the built-in ones.".to_owned()
        } else {
            table.render()
        }
    })
}

fn describe(release: &PluginRelease) -> Value {
    json!({
        "name": release.id.name,
        "kind": release.id.kind,
        "version": release.version,
        "state": release.state,
        "digest": release.id.digest,
        "bytes": release.bytes,
        "installed_at": release.installed_at.rfc3339(),
        "installed_by": release.by,
    })
}
