//! The search index of a running server (contract-9-search-index): built beside the requests
//! whenever the catalog's revision moves what is indexed, and swapped in whole. Never touches a
//! query.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use tokio::sync::watch;
use tokio::task::spawn_blocking;
use yearbook_catalog::CatalogCache;
use yearbook_domain::Dataset;
use yearbook_search::{IndexSender, NewestIndex, SearchDocument, SearchIndex};

/// Pauses between two builds as a multiple of the time that the last one took, so that a thousand
/// publishes in a row take at most a third of one core.
const PAUSE_FACTOR: u32 = 2;

/// Shortest and longest pause.
const PAUSES: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(5));

/// Time before a release from which the index that follows it is built.
const AHEAD: Duration = Duration::from_secs(20);

type Datasets = Arc<[Arc<Dataset>]>;

/// Starts to follow `live`, until that is dropped.
pub(crate) fn follow(live: &Arc<CatalogCache>) -> NewestIndex {
    let (sender, newest) = NewestIndex::channel();
    tokio::spawn(rebuild(Arc::downgrade(live), live.revision_changes(), sender));
    newest
}

async fn rebuild(
    live: Weak<CatalogCache>,
    mut revisions: watch::Receiver<i64>,
    indexes: IndexSender,
) {
    let mut indexed: Option<Datasets> = None;
    // Built for what a release makes of the datasets.
    let mut ahead: Option<(Datasets, SearchIndex)> = None;
    loop {
        revisions.mark_unchanged();
        // Before the datasets, which are at least as new.
        let seen = live.upgrade().map(|live| (live.revision(), live.datasets()));
        let Some((revision, datasets)) = seen else { return };
        if !indexed.as_ref().is_some_and(|indexed| are_alike(indexed, &datasets)) {
            let begun = Instant::now();
            let built = match ahead.take() {
                Some((foreseen, index)) if are_alike(&foreseen, &datasets) => Some(index),
                _ => build(Arc::clone(&datasets)).await,
            };
            match built {
                Some(index) => {
                    tracing::debug!(datasets = index.len(), took = ?begun.elapsed(), "built the search index");
                    indexes.send(index, revision);
                    indexed = Some(datasets);
                }
                // Logged where it happened; tried again after the longest pause.
                None => {
                    tokio::time::sleep(PAUSES.1).await;
                    continue;
                }
            }
            tokio::time::sleep((begun.elapsed() * PAUSE_FACTOR).clamp(PAUSES.0, PAUSES.1)).await;
        } else {
            indexes.confirm(revision);
        }
        tokio::select! {
            changed = revisions.changed() => match changed {
                Ok(()) => {}
                Err(_) => return,
            },
            () = tokio::time::sleep(AHEAD / 2) => {}
        }
        let Some(live) = live.upgrade() else { return };
        let next = live.datasets_after_next_release(AHEAD);
        drop(live);
        let foreseen = ahead.as_ref().map(|(datasets, _)| datasets);
        ahead = match next {
            None => None,
            Some(next) if foreseen.is_some_and(|known| are_alike(known, &next)) => ahead,
            Some(next) => build(Arc::clone(&next)).await.map(|index| (next, index)),
        };
    }
}

/// Returns true when both lists have the same snapshots: everything that is indexed is part of the
/// id of a snapshot. A dataset that was only checked again is as it was.
fn are_alike(left: &Datasets, right: &Datasets) -> bool {
    let same = |(left, right): (&Arc<Dataset>, &Arc<Dataset>)| {
        Arc::ptr_eq(left, right) || (left.name == right.name && left.current.id == right.current.id)
    };
    left.len() == right.len() && left.iter().zip(right.iter()).all(same)
}

async fn build(datasets: Datasets) -> Option<SearchIndex> {
    let job = move || {
        SearchIndex::build(
            datasets.iter().map(|dataset| SearchDocument::from(&**dataset)).collect(),
        )
    };
    match spawn_blocking(job).await {
        Ok(Ok(index)) => Some(index),
        Ok(Err(failure)) => {
            tracing::error!(%failure, "cannot build the search index");
            None
        }
        Err(panic) => {
            tracing::error!(%panic, "cannot build the search index");
            None
        }
    }
}
