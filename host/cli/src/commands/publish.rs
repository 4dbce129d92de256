//! `yearbook publish`: check packages, store their snapshots, commit each in one transaction
//! (contract 7). A running server on the same data directory notices by itself.

mod refusal;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use serde::Serialize;
use yearbook_catalog::{Committed, Publication, Store};
use yearbook_domain::Millis;
use yearbook_platform::Declarations;
use yearbook_snapshot::{Files, Package, publish};
use yearbook_workers::Workers;

use crate::context::Context;
use crate::output::PublishProgress;

/// What became of one package.
#[derive(Clone, Debug, Serialize)]
struct Published {
    dataset: String,
    namespace: String,
    snapshot_id: String,
    rows: u64,
    /// `new`, or `unchanged`: the snapshot was current already.
    status: &'static str,
}

/// Publishes packages in order and stops at the first that fails: what was committed stays, and
/// publishing all of them again changes nothing about it.
pub(super) async fn run(context: &Context, paths: &[PathBuf]) -> anyhow::Result<()> {
    let store = context.catalogue().await?;
    let files = context.files()?.declaring(Arc::new(Declarations(Arc::clone(&store))));
    let workers = context.workers();
    let mut done: Vec<Published> = Vec::new();
    for path in paths {
        match one(context, &*store, &files, &workers, path).await {
            Ok(published) => {
                context.output.result(&published, || line(&published))?;
                done.push(published);
            }
            Err(error) => {
                store.close().await;
                let names: Vec<String> = done.into_iter().map(|published| published.dataset).collect();
                return Err(refusal::explain(error, path, &names, paths.len()));
            }
        }
    }
    store.close().await;
    Ok(())
}

async fn one(context: &Context, store: &dyn Store, files: &Files, workers: &Arc<Workers>, path: &Path) -> anyhow::Result<Published> {
    let package = Package::open(path)?;
    let progress = PublishProgress::new(context.output, package.name().as_str());
    let current = store.dataset(package.name()).await.context("cannot read what is published")?.map(|dataset| dataset.current);
    let draft = publish(files, workers, &package, current.as_deref(), &progress).await?;
    progress.finish();
    let publication = Publication {
        name: draft.name,
        namespace: draft.namespace,
        snapshot: draft.snapshot,
        checked_at: Millis::now(),
        changes: draft.changes,
    };
    let committed = store.commit(&publication, context.settings.retention()).await.with_context(|| {
        format!("{} is stored but not committed, so nothing has changed for clients; publish it again", publication.name)
    })?;
    Ok(Published {
        dataset: publication.name.to_string(),
        namespace: publication.namespace.to_string(),
        snapshot_id: publication.snapshot.id,
        rows: publication.snapshot.rows,
        status: match committed {
            Committed::New => "new",
            Committed::Unchanged => "unchanged",
        },
    })
}

fn line(published: &Published) -> String {
    let Published { dataset, snapshot_id, rows, status, .. } = published;
    let noun = if *rows == 1 { "row" } else { "rows" };
    format!("{dataset}: snapshot {snapshot_id}, {rows} {noun}, {status}")
}
