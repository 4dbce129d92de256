//! `yearbook plugin list`: which releases there are, which serve, and how that came about.

use std::collections::HashSet;

use anyhow::Context as _;
use serde_json::{Value, json};
use yearbook_catalog::{PluginRelease, ReleaseId, lines};

use super::short;
use crate::context::Context;
use crate::output::Table;

pub(super) async fn run(context: &Context) -> anyhow::Result<()> {
    let releases = context.catalogue().await?.releases().await.context("cannot list plugins")?;
    let first = |line: yearbook_catalog::Line| line.candidates.into_iter().next().map(|release| release.id);
    let serving: HashSet<ReleaseId> = lines(&releases).into_iter().filter_map(first).collect();
    let values: Vec<Value> = releases.iter().map(|release| describe(release, serving.contains(&release.id))).collect();
    context.output.result(&values, || {
        let mut table = Table::new(&["name", "kind", "version", "state", "serves", "digest", "#bytes", "installed", "by", "reason"]);
        for release in &releases {
            let serves = match (serving.contains(&release.id), release.pinned) {
                (true, true) => "pinned",
                (true, false) => "yes",
                _ => "",
            };
            table.row([
                release.id.name.clone(),
                release.id.kind.clone(),
                release.version.clone(),
                release.state.as_str().to_owned(),
                serves.to_owned(),
                short(&release.id.digest).to_owned(),
                release.bytes.to_string(),
                release.installed_at.rfc3339(),
                release.by.clone(),
                release.reason.clone().unwrap_or_default(),
            ]);
        }
        if table.is_empty() {
            "No plugins are registered yet; `yearbook serve` registers the built-in ones.".to_owned()
        } else {
            table.render()
        }
    })
}

pub(super) async fn history(context: &Context) -> anyhow::Result<()> {
    let events = context.catalogue().await?.release_events().await.context("cannot list what happened to plugins")?;
    context.output.result(&events, || {
        let mut table = Table::new(&["when", "name", "kind", "digest", "what", "by", "reason"]);
        for event in &events {
            table.row([
                event.at.rfc3339(),
                event.id.name.clone(),
                event.id.kind.clone(),
                short(&event.id.digest).to_owned(),
                event.what.clone(),
                event.by.clone(),
                event.reason.clone().unwrap_or_default(),
            ]);
        }
        if table.is_empty() { "Nothing has happened to plugins yet.".to_owned() } else { table.render() }
    })
}

fn describe(release: &PluginRelease, serves: bool) -> Value {
    json!({
        "name": release.id.name,
        "kind": release.id.kind,
        "version": release.version,
        "state": release.state,
        "serves": serves,
        "pinned": release.pinned,
        "built_in": release.built_in,
        "digest": release.id.digest,
        "bytes": release.bytes,
        "installed_at": release.installed_at.rfc3339(),
        "installed_by": release.by,
        "reason": release.reason,
    })
}
