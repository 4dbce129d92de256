//! `yearbook refresh`: ask sources again, publish what changed, say how each ended (contract-8).

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use serde_json::{Map, Value, json};
use yearbook_refresh::{RefreshOutcome, RefreshReport, Refresher, find_packages};

use super::publish::new_publisher;
use crate::context::CommandContext;
use crate::output::{DetailedError, RefreshProgress, TextTable, pluralize};

/// Refreshes the packages of `paths`, or of the settings where there are none.
pub(super) async fn run(
    context: &CommandContext,
    paths: Vec<PathBuf>,
    due_only: bool,
) -> anyhow::Result<()> {
    let settings = context.settings.values.refresh.clone();
    let paths = if paths.is_empty() { settings.packages.clone() } else { paths };
    if paths.is_empty() {
        bail!(
            "there is nothing to refresh: name data packages, or set `packages` under [refresh] in the settings"
        );
    }
    let packages = find_packages(&paths);
    let catalog = context.catalog().await?;
    let memory = context.settings.values.publish.memory();
    let publisher = new_publisher(context, &catalog, memory)?;
    let refresher = Refresher::new(Arc::clone(&catalog), publisher, settings)
        .context("sources cannot be asked")?;
    let progress = RefreshProgress::new(context.output);
    let reports = Box::pin(refresher.refresh(&packages, due_only, &progress)).await;
    let printed = progress.finish();
    catalog.close().await;
    printed?;
    match explain_failures(&reports) {
        None => Ok(()),
        Some(error) => Err(error.into()),
    }
}

/// The error of a run in which sources failed, with each and its reason; none where none did.
fn explain_failures(reports: &[RefreshReport]) -> Option<DetailedError> {
    let failed: Vec<&RefreshReport> =
        reports.iter().filter(|report| report.outcome == RefreshOutcome::Failed).collect();
    if failed.is_empty() {
        return None;
    }
    let rows = failed
        .iter()
        .map(|report| [report.name.clone(), report.reason.clone().unwrap_or_default()]);
    let table = TextTable::new(&["dataset", "reason"]).with_rows(rows);
    let named: Vec<Value> = failed
        .iter()
        .map(|report| json!({ "name": report.name, "reason": report.reason }))
        .collect();
    let all = pluralize(reports.len() as u64, "package");
    Some(DetailedError {
        message: format!("{} of {all} failed; their datasets are as they were", failed.len()),
        text: format!("\n{}", table.render().trim_end()),
        members: Map::from_iter([("failed".to_owned(), Value::from(named))]),
    })
}
