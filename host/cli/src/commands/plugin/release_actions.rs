//! `yearbook plugin rollback`, `remove` and `pin`.

use serde_json::json;
use yearbook_domain::{Digest, PluginKind};
use yearbook_releases::ReleaseActionResult;

use crate::arguments::Actor;
use crate::context::CommandContext;

/// Consequence of a reader that nobody installed any more.
const BUILT_IN_READS: &str =
    " the next `yearbook publish` or `refresh` takes the built-in reader, if there is one.";

pub(super) async fn rollback(
    context: &CommandContext,
    name: &str,
    who: Actor,
) -> anyhow::Result<()> {
    let store = context.catalog().await?;
    let outcome = yearbook_releases::rollback(&store, name, &who.name(), who.reason).await;
    store.close().await;
    print_outcome(context, name, "rolled back", &outcome?)
}

pub(super) async fn remove(context: &CommandContext, name: &str, who: Actor) -> anyhow::Result<()> {
    let store = context.catalog().await?;
    let outcome = yearbook_releases::remove(&store, name, &who.name(), who.reason).await;
    store.close().await;
    print_outcome(context, name, "removed", &outcome?)
}

pub(super) async fn pin(
    context: &CommandContext,
    name: &str,
    digest: Option<&str>,
    who: Actor,
) -> anyhow::Result<()> {
    let store = context.catalog().await?;
    let outcome = yearbook_releases::pin(&store, name, digest, &who.name()).await;
    store.close().await;
    print_outcome(context, name, if digest.is_some() { "pinned" } else { "unpinned" }, &outcome?)
}

fn print_outcome(
    context: &CommandContext,
    name: &str,
    done: &str,
    outcome: &ReleaseActionResult,
) -> anyhow::Result<()> {
    let changed: Vec<Digest> = outcome.changed.iter().map(|id| id.digest).collect();
    let serving: Vec<_> = outcome
        .serving
        .iter()
        .map(|(kind, release)| {
            let release = release.as_ref();
            json!({ "kind": kind, "digest": release.map(|release| &release.id.digest), "version": release.map(|release| &release.version) })
        })
        .collect();
    context.output.print_result(&json!({ "name": name, "done": done, "changed": changed, "serving": serving }), || {
        let short: Vec<&str> = changed.iter().map(Digest::short).collect();
        let mut text = format!("{name}: {} {done}.", short.join(", "));
        for (kind, release) in &outcome.serving {
            text.push_str(&match release {
                // No server loads one.
                Some(release) if *kind == PluginKind::Reader => format!(
                    " The next `yearbook publish` or `refresh` reads with {} ({}).",
                    release.version,
                    release.id.digest.short()
                ),
                None if *kind == PluginKind::Reader => {
                    format!(" No release of the reader may be used;{BUILT_IN_READS}")
                }
                Some(release) => format!(
                    " The {kind} {} {} ({}) serves; running hosts follow within 2 seconds.",
                    name,
                    release.version,
                    release.id.digest.short()
                ),
                None => format!(" No release of the {kind} {name} may serve: requests for it are answered 503 until one is promoted."),
            });
        }
        if outcome.serving.is_empty() {
            text.push_str(" Nothing of that name is left;");
            text.push_str(if outcome.changed.iter().all(|id| id.kind == PluginKind::Reader) {
                BUILT_IN_READS
            } else {
                " running hosts forget it within 2 seconds."
            });
        }
        text
    })
}
