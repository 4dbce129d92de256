//! `yearbook publish`: check packages, store their snapshots, commit each in one transaction
//! (contract-7-atomic). A running server on the same data directory notices by itself.

mod failure_report;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::bail;
use serde::Serialize;
use yearbook_catalog::{Catalog, ReleaseOutcome, is_near};
use yearbook_domain::{Millis, SnapshotId};
use yearbook_publish::{
    DataPackage, PublishFailure, PublishMemory, Publisher, ReleaseResult, ReleaseTerms,
};

use crate::arguments::ReleaseOptions;
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
    /// `new`, or `unchanged`: the snapshot was current already; or `waiting`.
    status: &'static str,
    /// Number of the release that waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    release: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    release_at: Option<String>,
    /// Number of the release that waited and was withdrawn, since the snapshot is current already.
    #[serde(skip_serializing_if = "Option::is_none")]
    withdrawn: Option<i64>,
}

/// Publishes packages in order and stops at the first that fails: what was committed stays, and
/// publishing all of them again changes nothing about it.
pub(super) async fn run(
    context: &CommandContext,
    paths: &[PathBuf],
    release: &ReleaseOptions,
) -> anyhow::Result<()> {
    let store = context.catalog().await?;
    let terms = match release.release_at {
        Some(at) => Some(check_release(context, &store, at, release).await?),
        None => None,
    };
    let publisher = new_publisher(context, &store, context.settings.values.publish.memory())?;
    let mut done: Vec<PublishSummary> = Vec::new();
    for path in paths {
        match publish_package(context, &publisher, path, terms.as_ref()).await {
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

/// The terms of a release, once it is known that it can wait unseen.
async fn check_release(
    context: &CommandContext,
    catalog: &Catalog,
    at: Millis,
    release: &ReleaseOptions,
) -> anyhow::Result<ReleaseTerms> {
    let now = catalog.database_time().await?;
    if is_near(at, now) {
        bail!(
            "--release-at {} is less than ten seconds ahead of the database's clock, {}; publish without it, or later",
            at.to_rfc3339(),
            now.to_rfc3339()
        );
    }
    if context.waiting_is_readable().await? {
        bail!(
            "share.iceberg_credentials can list or read waiting/ in the object store, so readers of Iceberg would see what waits; take that folder from them, and run `yearbook doctor`"
        );
    }
    let ReleaseOptions { announce, replace, .. } = release.clone();
    Ok(ReleaseTerms { at, announce, replace })
}

/// Publishes one package, at once or on the terms of a release.
pub(super) async fn publish_package(
    context: &CommandContext,
    publisher: &Publisher,
    path: &Path,
    terms: Option<&ReleaseTerms>,
) -> anyhow::Result<PublishSummary> {
    let package = DataPackage::open(path)?;
    let progress = PublishProgress::new(context.output, package.name().as_str());
    let published = match terms {
        None => Box::pin(publisher.publish(&package, &progress)).await.map(|published| {
            let unchanged = published.unchanged;
            let outcome =
                if unchanged { ReleaseOutcome::Unchanged } else { ReleaseOutcome::Visible };
            ReleaseResult { publication: published.publication, outcome }
        }),
        Some(terms) => Box::pin(publisher.release(&package, terms, &progress)).await,
    };
    progress.finish();
    let ReleaseResult { publication, outcome } = published.map_err(|failure| match failure {
        // Its faults are shown in a table.
        PublishFailure::Package(error) => error.into(),
        failure => anyhow::Error::from(failure),
    })?;
    let (status, release, withdrawn) = match outcome {
        ReleaseOutcome::Waits(id) => ("waiting", Some(id), None),
        ReleaseOutcome::Unchanged => ("unchanged", None, None),
        ReleaseOutcome::Withdrawn(other) => ("unchanged", None, Some(other.id)),
        _ => ("new", None, None),
    };
    Ok(PublishSummary {
        dataset: publication.name.to_string(),
        namespace: publication.namespace.to_string(),
        snapshot_id: publication.snapshot.id,
        rows: publication.snapshot.rows,
        status,
        release,
        release_at: release.and(terms).map(|terms| terms.at.to_rfc3339()),
        withdrawn,
    })
}

fn summary_line(published: &PublishSummary) -> String {
    let PublishSummary { dataset, snapshot_id, rows, status, .. } = published;
    if let (Some(release), Some(at)) = (published.release, &published.release_at) {
        return format!("{dataset}: snapshot {snapshot_id} waits until {at} (release {release})");
    }
    let line = format!("{dataset}: snapshot {snapshot_id}, {}, {status}", pluralize(*rows, "row"));
    match published.withdrawn {
        Some(withdrawn) => format!("{line}; release {withdrawn} is withdrawn"),
        None => line,
    }
}
