//! `yearbook publish`: check packages, store their snapshots, commit each in one transaction
//! (contract-7-atomic). A running server on the same data directory notices by itself.

mod failure_report;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;
use yearbook_catalog::Catalog;
use yearbook_domain::SnapshotId;
use yearbook_publish::{DataPackage, PublishFailure, PublishMemory, PublishResult, Publisher};

use crate::context::CommandContext;
use crate::output::{PublishProgress, pluralize};
use crate::readers::Readers;

/// Outcome of one package.
#[derive(Clone, Debug, Serialize)]
pub(super) struct PublishSummary {
    pub(super) dataset: String,
    namespace: String,
    snapshot_id: SnapshotId,
    rows: u64,
    /// `new`, or `unchanged`: the snapshot was current already.
    status: &'static str,
}

/// Publishes packages in order and stops at the first that fails: what was committed stays, and
/// publishing all of them again changes nothing about it.
pub(super) async fn run(context: &CommandContext, paths: &[PathBuf]) -> anyhow::Result<()> {
    let store = context.catalog().await?;
    let publisher = new_publisher(context, &store, context.settings.values.publish.memory())?;
    let mut done: Vec<PublishSummary> = Vec::new();
    for path in paths {
        match publish_package(context, &publisher, path).await {
            Ok(published) => {
                context.output.print_result(&published, || summary_line(&published))?;
                done.push(published);
            }
            Err(error) => {
                store.close().await;
                let names: Vec<String> =
                    done.into_iter().map(|published| published.dataset).collect();
                return Err(failure_report::explain(error, path, &names, paths.len()));
            }
        }
    }
    store.close().await;
    Ok(())
}

/// A publisher into `catalog` with readers for every format, within `memory`.
pub(super) fn new_publisher(
    context: &CommandContext,
    catalog: &Arc<Catalog>,
    memory: PublishMemory,
) -> anyhow::Result<Publisher> {
    let (files, workers) = (context.files()?, context.workers());
    let readers = Readers::new(context, catalog, &files, &workers)?;
    let publisher = context.publisher(catalog, &files, workers)?;
    Ok(publisher.with_readers(readers).with_memory(memory))
}

/// Publishes one package.
pub(super) async fn publish_package(
    context: &CommandContext,
    publisher: &Publisher,
    path: &Path,
) -> anyhow::Result<PublishSummary> {
    let package = DataPackage::open(path)?;
    let progress = PublishProgress::new(context.output, package.name().as_str());
    let published = Box::pin(publisher.publish(&package, &progress)).await;
    progress.finish();
    let PublishResult { publication, unchanged } = published.map_err(|failure| match failure {
        // Its faults are shown in a table.
        PublishFailure::Package(error) => error.into(),
        failure => anyhow::Error::from(failure),
    })?;
    Ok(PublishSummary {
        dataset: publication.name.to_string(),
        namespace: publication.namespace.to_string(),
        snapshot_id: publication.snapshot.id,
        rows: publication.snapshot.rows,
        status: if unchanged { "unchanged" } else { "new" },
    })
}

fn summary_line(published: &PublishSummary) -> String {
    let PublishSummary { dataset, snapshot_id, rows, status, .. } = published;
    format!("{dataset}: snapshot {snapshot_id}, {}, {status}", pluralize(*rows, "row"))
}
