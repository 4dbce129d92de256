//! `yearbook gc`: removes snapshots and objects that are no longer needed, and lists them with the
//! reason.

use anyhow::Context as _;
use serde::Serialize;
use yearbook_catalog::UnreferencedObject;
use yearbook_publish::{GcSettings, GcSummary, collect_garbage, finish_releases};
use yearbook_storage::StaleUpload;

use crate::context::CommandContext;
use crate::output::TextTable;

/// Object that is removed, or will be.
#[derive(Debug, Serialize)]
struct GcItem {
    what: &'static str,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
    why: String,
}

/// All of them.
#[derive(Debug, Serialize)]
struct GcReport {
    dry_run: bool,
    removed: Vec<GcItem>,
    /// Not needed by anything, and still too young to go.
    later: Vec<GcItem>,
    /// In the hands of another `gc`.
    being_removed: usize,
}

pub(super) async fn run(context: &CommandContext, dry_run: bool) -> anyhow::Result<()> {
    let store = context.catalog().await?;
    let files = context.files()?;
    let settings = GcSettings {
        retention: context.settings.retention(),
        unnamed_for: context.settings.orphan_grace_period(),
        dry_run,
    };
    let mut finished = Ok(());
    if !dry_run {
        let iceberg = context.iceberg_writer(&store, &files, &context.workers())?;
        finished = Box::pin(finish_releases(&store, &files, iceberg.as_ref())).await.map(drop);
    }
    let collected = collect_garbage(&store, &files, settings).await;
    store.close().await;
    let said = build_report(collected?, settings);
    context.output.print_result(&said, || render(&said))?;
    finished.context(
        "the rest is collected, but files of released versions stay where they waited, or are not \
         described",
    )
}

fn build_report(collected: GcSummary, settings: GcSettings) -> GcReport {
    let GcSummary { dropped, removed, later, being_removed, leftovers } = collected;
    let unnamed =
        |what, (UnreferencedObject { stored, since }, bytes): (UnreferencedObject, u64)| GcItem {
            what,
            name: stored.to_string(),
            bytes: Some(bytes),
            why: format!("nothing names it since {}", since.to_rfc3339()),
        };
    let hours = settings.unnamed_for.as_secs_f64() / 3600.0;
    let dropped = dropped.into_iter().map(|dropped| GcItem {
        what: "snapshot",
        name: format!("{} {}", dropped.dataset, dropped.id),
        bytes: None,
        why: format!(
            "published {}, and kept by none of the rules on retention",
            dropped.created_at.to_rfc3339()
        ),
    });
    let leftovers = leftovers.into_iter().map(|StaleUpload { path, bytes }| GcItem {
        what: "upload",
        name: path.display().to_string(),
        bytes: Some(bytes),
        why: format!("nobody has written to it for {hours:.1} h"),
    });
    GcReport {
        dry_run: settings.dry_run,
        removed: dropped
            .chain(removed.into_iter().map(|item| unnamed("file", item)))
            .chain(leftovers)
            .collect(),
        later: later.into_iter().map(|item| unnamed("file", item)).collect(),
        being_removed,
    }
}

fn render(said: &GcReport) -> String {
    let mut text = String::new();
    if !said.removed.is_empty() {
        let rows = said.removed.iter().map(|GcItem { what, name, bytes, why }| {
            let bytes = bytes.map_or_else(String::new, |bytes| bytes.to_string());
            [(*what).to_owned(), name.clone(), bytes, why.clone()]
        });
        text = TextTable::new(&["what", "name", "#bytes", "why"]).with_rows(rows).render();
    }
    let done = if said.dry_run { "would go" } else { "went" };
    text += &format!(
        "{} {done}; {} more that nothing names are too young to go.",
        said.removed.len(),
        said.later.len()
    );
    if said.being_removed > 0 {
        text += &format!(
            " {} are in the hands of another gc; if that was killed, the next run after ten minutes takes them.",
            said.being_removed
        );
    }
    text
}
