//! The search index of a running server (contract-9-search-index): built beside the requests
//! whenever the catalog's revision moves what is indexed, and swapped in whole. Never touches a
//! query.

use std::pin::pin;
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
    let mut ahead: Option<Foreseen> = None;
    loop {
        revisions.mark_unchanged();
        // Before the datasets, which are at least as new.
        let seen = live.upgrade().map(|live| (live.revision(), live.datasets()));
        let Some((revision, datasets)) = seen else { return };
        let mut pause = None;
        if indexed.as_ref().is_some_and(|indexed| are_alike(indexed, &datasets)) {
            indexes.confirm(revision);
        } else {
            let begun = Instant::now();
            let built = match ahead.take_if(|(foreseen, _)| are_alike(foreseen, &datasets)) {
                Some((_, index)) => Some(index),
                None => build(Arc::clone(&datasets)).await,
            };
            let Some(index) = built else {
                // Logged where it happened; tried again after the longest pause.
                tokio::time::sleep(PAUSES.1).await;
                continue;
            };
            tracing::debug!(datasets = index.len(), took = ?begun.elapsed(), "built the search index");
            indexes.send(index, revision);
            indexed = Some(datasets);
            pause = Some((begun.elapsed() * PAUSE_FACTOR).clamp(PAUSES.0, PAUSES.1));
        }
        ahead = look_ahead(&live, ahead).await;
        if let Some(pause) = pause
            && pause_until_foreseen(pause, &live, &mut revisions, ahead.as_ref()).await
        {
            continue;
        }
        tokio::select! {
            changed = revisions.changed() => match changed {
                Ok(()) => {}
                Err(_) => return,
            },
            () = tokio::time::sleep(AHEAD / 2) => {}
        }
    }
}

/// Datasets as a release will make them, and their index.
type Foreseen = (Datasets, SearchIndex);

/// Waits for `pause`, or until the datasets are those that were foreseen: a release is searched for
/// at its time. Returns true if the catalog has moved meanwhile.
async fn pause_until_foreseen(
    pause: Duration,
    live: &Weak<CatalogCache>,
    revisions: &mut watch::Receiver<i64>,
    ahead: Option<&Foreseen>,
) -> bool {
    let mut has_moved = false;
    let mut end = pin!(tokio::time::sleep(pause));
    loop {
        tokio::select! {
            () = &mut end => return has_moved,
            changed = revisions.changed() => {
                has_moved = true;
                let now = live.upgrade().map(|live| live.datasets());
                let (Ok(()), Some(now)) = (changed, now) else { return true };
                if ahead.is_some_and(|(foreseen, _)| are_alike(foreseen, &now)) {
                    return true;
                }
            }
        }
    }
}

/// Returns the index of what the next release makes of the datasets, if that is near; `known` is
/// that of the last look.
async fn look_ahead(live: &Weak<CatalogCache>, known: Option<Foreseen>) -> Option<Foreseen> {
    let next = live.upgrade()?.datasets_after_next_release(AHEAD)?;
    match known {
        Some(known) if are_alike(&known.0, &next) => Some(known),
        _ => build(Arc::clone(&next)).await.map(|index| (next, index)),
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
