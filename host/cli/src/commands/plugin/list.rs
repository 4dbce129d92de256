//! `yearbook plugin list`: which releases there are, which serve, and how that came about.

use std::collections::{HashMap, HashSet};

use anyhow::Context as _;
use serde_json::{Value, json};
use yearbook_catalog::{PluginRelease, ReleaseId, lines};

use super::short;
use crate::context::Context;
use crate::output::Table;

pub(super) async fn run(context: &Context) -> anyhow::Result<()> {
    let store = context.catalogue().await?;
    let releases = store.releases().await.context("cannot list plugins")?;
    let used = store.release_use().await.context("cannot list the use of plugins")?;
    let used: HashMap<ReleaseId, (u64, u64)> = used.into_iter().map(|used| (used.id, (used.responses, used.failures))).collect();
    let used = |release: &PluginRelease| used.get(&release.id).copied().unwrap_or_default();
    let first = |line: yearbook_catalog::Line| line.candidates.into_iter().next().map(|release| release.id);
    let serving: HashSet<ReleaseId> = lines(&releases).into_iter().filter_map(first).collect();
    let values: Vec<Value> = releases.iter().map(|release| describe(release, serving.contains(&release.id), used(release))).collect();
    context.output.result(&values, || {
        let columns =
            ["name", "kind", "version", "state", "serves", "digest", "#bytes", "#responses", "#failures", "installed", "by", "reason"];
        let mut table = Table::new(&columns);
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
                used(release).0.to_string(),
                used(release).1.to_string(),
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

fn describe(release: &PluginRelease, serves: bool, (responses, failures): (u64, u64)) -> Value {
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
        "responses": responses,
        "failures": failures,
        "installed_at": release.installed_at.rfc3339(),
        "installed_by": release.by,
        "reason": release.reason,
    })
}
