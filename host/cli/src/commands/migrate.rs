//! `yearbook migrate`: brings the database up to date as a step of its own (contract-6-fresh), and
//! computes what older versions did not: preview facts and counts of changes (contract-9-facts),
//! and descriptions for readers of Iceberg (contract-12-iceberg-files).

use std::sync::Arc;

use serde_json::json;
use yearbook_publish::{BackfillSummary, IcebergWriter, MissingFacts, backfill_facts};

use crate::context::{CommandContext, redact_password};
use crate::output::{PublishProgress, pluralize};

pub(super) async fn run(context: &CommandContext) -> anyhow::Result<()> {
    let catalog = context.catalog().await?;
    let missing = MissingFacts::find(&catalog).await?;
    let done = if missing.is_empty() {
        BackfillSummary::default()
    } else {
        let (files, workers) = (context.files()?, context.workers());
        let progress = PublishProgress::new(context.output, "migrate");
        let done = backfill_facts(&catalog, &files, &workers, &missing, &progress).await;
        progress.finish();
        done?
    };
    let mut described = 0;
    if context.settings.values.share.iceberg {
        let writer =
            IcebergWriter::new(Arc::clone(&catalog), &context.files()?, context.workers())?;
        for dataset in catalog.datasets().await? {
            described += writer.describe_retained(&dataset.name).await?;
        }
    }
    catalog.close().await;
    let url = redact_password(&context.settings.database_url());
    let BackfillSummary { snapshots, changes, unreadable } = done;
    let report = json!({
        "database": url,
        "migrated": true,
        "facts_computed": snapshots,
        "changes_counted": changes,
        "unreadable": unreadable,
        "described_for_iceberg": described,
    });
    context.output.print_result(&report, || describe(&url, done, described))
}

fn describe(url: &str, done: BackfillSummary, described: u64) -> String {
    let BackfillSummary { snapshots, changes, unreadable } = done;
    let mut text = format!("The catalog {url} is up to date.");
    if snapshots + changes > 0 {
        text += &format!(
            " Preview facts of {} and {} were computed.",
            pluralize(snapshots, "snapshot"),
            pluralize(changes, "change count"),
        );
    }
    if described > 0 {
        let snapshots = pluralize(described, "snapshot");
        text += &format!(" Described for readers of Iceberg: {snapshots}.");
    }
    if unreadable > 0 {
        text += &format!(
            " Not readable: {}; `yearbook doctor --deep` names what is lost.",
            pluralize(unreadable, "stored file")
        );
    }
    text
}
