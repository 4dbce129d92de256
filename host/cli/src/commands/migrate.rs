//! `yearbook migrate`: brings the database up to date as a step of its own (contract-6-fresh), and
//! describes versions for readers of Iceberg that were published while that was off
//! (contract-12-iceberg-files).

use std::sync::Arc;

use serde_json::json;
use yearbook_publish::IcebergWriter;

use crate::context::{CommandContext, redact_password};
use crate::output::pluralize;

pub(super) async fn run(context: &CommandContext) -> anyhow::Result<()> {
    let catalog = context.catalog().await?;
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
    let report = json!({
        "database": url,
        "migrated": true,
        "described_for_iceberg": described,
    });
    context.output.print_result(&report, || {
        let mut text = format!("The catalog {url} is up to date.");
        if described > 0 {
            let snapshots = pluralize(described, "snapshot");
            text += &format!(" Described for readers of Iceberg: {snapshots}.");
        }
        text
    })
}
