//! `yearbook plugin install`: check, store, record.

use std::path::Path;

use serde_json::json;
use yearbook_catalog::ReleaseState;
use yearbook_domain::PluginKind;
use yearbook_releases::{InstallOptions, InstalledRelease, ReleaseError};

use super::check::render_report;
use super::check_limits;
use super::source::LoadedPlugin;
use crate::arguments::{Actor, PluginSource};
use crate::context::CommandContext;
use crate::output::DetailedError;
use crate::plugin_runtime;

pub(super) async fn run(
    context: &CommandContext,
    plugin: &PluginSource,
    now: bool,
    named: Option<&Path>,
    who: Actor,
) -> anyhow::Result<()> {
    let LoadedPlugin { component, signature, origin } = plugin.load_signed(context, named).await?;
    let store = context.catalog().await?;
    let files = context.files()?;
    // A server on the same data directory finds the compiled component there.
    let sandbox = plugin_runtime::new_sandbox(
        plugin_runtime::cached_config(context, check_limits(context)),
        context.workers(),
    )?;
    let wish = InstallOptions {
        now,
        by: who.name(),
        reason: who.reason,
        signature,
        origin: origin.clone(),
    };
    let trust = &context.settings.values.plugins.trust;
    let installed =
        yearbook_releases::install(&store, &files, &sandbox, trust, component, wish).await;
    store.close().await;
    let installed = installed.map_err(with_report)?;
    let value = json!({
        "name": installed.id.name,
        "kind": installed.id.kind,
        "version": installed.version,
        "digest": installed.id.digest,
        "state": installed.state,
        "unchanged": installed.unchanged,
        "before": installed.before.as_ref().map(|id| &id.digest),
        "pinned": installed.pinned.as_ref().map(|id| &id.digest),
        "budget": installed.report.budget,
        "reference": origin.as_ref().map(|origin| &origin.reference),
        "reference_manifest": origin.as_ref().map(|origin| &origin.manifest),
    });
    context.output.print_result(&value, || summary(&installed, plugin, named))
}

/// `signature`: the file that was named for it.
fn summary(
    installed: &InstalledRelease,
    source: &PluginSource,
    signature: Option<&Path>,
) -> String {
    let InstalledRelease { id, version, state, unchanged, before, pinned, .. } = installed;
    let what = format!("{} {version} ({}, {})", id.name, id.kind, id.digest.short());
    let is_reader = id.kind == PluginKind::Reader;
    // Plugins of several kinds may have one name.
    let name = format!("{}/{}", id.kind, id.name);
    if let Some(pinned) = pinned.as_ref().filter(|pinned| *pinned != id) {
        let done = match state {
            ReleaseState::Promoted if *unchanged => "was promoted already",
            ReleaseState::Promoted => "is installed and promoted",
            _ => "is installed and waits",
        };
        return format!(
            "{what} {done}, but the name is pinned to {}, which serves until `yearbook plugin pin {name} --off`.",
            pinned.digest.short(),
        );
    }
    let before = before.as_ref().filter(|before| *before != id);
    match state {
        ReleaseState::Promoted if *unchanged => {
            format!("{what} was promoted already; nothing has changed.")
        }
        ReleaseState::Promoted => {
            let follows = if is_reader {
                "the next `yearbook publish` or `refresh` reads with it"
            } else {
                "running hosts serve it within 2 seconds"
            };
            let instead = before.map(|before| format!(" instead of {}", before.digest.short()));
            let undo = if before.is_some() { "rollback" } else { "remove" };
            format!(
                "{what} is installed and promoted; {follows}{}, and `yearbook plugin {undo} {name}` takes it back.",
                instead.unwrap_or_default(),
            )
        }
        _ => {
            let signature =
                signature.map_or(String::new(), |file| format!(" --signature {}", file.display()));
            format!(
                "{what} is installed and waits: {} serves. Running hosts compare the two on live responses and promote it, or roll it back; at once: yearbook plugin install {source}{signature} --now",
                before.map_or("nothing", |before| before.digest.short()),
            )
        }
    }
}

/// Error that shows the whole report of a failed check.
fn with_report(problem: ReleaseError) -> anyhow::Error {
    let message = problem.to_string();
    match problem {
        ReleaseError::CheckFailed(report) => {
            let mut members = serde_json::Map::new();
            members.insert("report".to_owned(), serde_json::to_value(&report).unwrap_or_default());
            DetailedError { message, text: format!("\n\n{}", render_report(&report)), members }
                .into()
        }
        problem => problem.into(),
    }
}
