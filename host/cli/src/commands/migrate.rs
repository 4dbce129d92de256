//! `yearbook migrate`: brings the database up to date as a step of its own (contract-6-fresh),
//! describes versions for readers of Iceberg that were published while that was off
//! (contract-12-iceberg-files), and stores bounds of rows for snapshots that were published without
//! (contract-15-box-bounds).

use std::sync::Arc;

use anyhow::Context as _;
use serde_json::json;
use yearbook_catalog::Catalog;
use yearbook_iceberg::{IcebergFailure, IcebergWriter};
use yearbook_publish::{finish_releases, store_missing_bounds};

use crate::context::{CommandContext, redact_password};
use crate::output::pluralize;

pub(super) async fn run(context: &CommandContext) -> anyhow::Result<()> {
    let catalog = context.catalog().await?;
    let mut described = 0;
    if context.settings.values.share.iceberg {
        let files = context.files()?;
        let writer = IcebergWriter::new(Arc::clone(&catalog), &files, context.workers())?;
        // They are described where they are to lie.
        if let Err(failure) = Box::pin(finish_releases(&catalog, &files, None)).await {
            tracing::warn!(%failure, "files of released versions stay where they waited");
        }
        for dataset in catalog.datasets().await? {
            match writer.describe_retained(&dataset.name).await {
                Ok(versions) => described += versions,
                Err(IcebergFailure::Storage(failure)) if failure.is_of_one_snapshot() => {
                    tracing::warn!(name = %dataset.name, %failure, "the table is not described");
                }
                Err(failure) => return Err(failure.into()),
            }
        }
    }
    let bounded = store_bounds(context, &catalog).await;
    catalog.close().await;
    let bounded = bounded.context("the catalog is up to date, bounds of rows are not")?;
    let url = redact_password(&context.settings.database_url());
    let report = json!({
        "database": url,
        "migrated": true,
        "described_for_iceberg": described,
        "bounded": bounded,
    });
    context.output.print_result(&report, || {
        let mut text = format!("The catalog {url} is up to date.");
        if described > 0 {
            let snapshots = pluralize(described, "snapshot");
            text += &format!(" Described for readers of Iceberg: {snapshots}.");
        }
        if bounded > 0 {
            text += &format!(" Stored bounds of rows: {}.", pluralize(bounded, "snapshot"));
        }
        text
    })
}

/// Stores bounds of rows for every retained snapshot that lacks them; returns their number. One
/// whose file is lost is left alone.
async fn store_bounds(context: &CommandContext, catalog: &Catalog) -> anyhow::Result<u64> {
    let datasets = catalog.datasets().await?;
    if datasets.is_empty() {
        return Ok(0);
    }
    let (files, workers) = (context.files()?, context.workers());
    let mut stored = 0;
    for dataset in datasets {
        for version in catalog.retained_versions(&dataset.name).await? {
            match store_missing_bounds(&files, &workers, &version.snapshot).await {
                Ok(was_missing) => stored += u64::from(was_missing),
                Err(failure) if failure.is_of_one_snapshot() => {
                    tracing::warn!(%failure, "no bounds of its rows are stored");
                }
                Err(failure) => return Err(failure.into()),
            }
        }
    }
    Ok(stored)
}
