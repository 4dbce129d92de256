//! Caches that are warm when a release becomes visible (contract-21-releases): what waits is read
//! before its time, as the first reader after it would. No answer depends on it.

use std::collections::HashSet;
use std::sync::{Arc, Weak};
use std::time::Duration;

use yearbook_catalog::CatalogCache;
use yearbook_domain::SnapshotId;
use yearbook_scan::Reader;

/// Interval at which what waits is looked for, in memory.
const INTERVAL: Duration = Duration::from_secs(1);

/// Starts to warm `reader` with what waits in `live`, until that is dropped.
pub(crate) fn follow(live: &Arc<CatalogCache>, reader: Reader) {
    tokio::spawn(warm(Arc::downgrade(live), reader));
}

async fn warm(live: Weak<CatalogCache>, reader: Reader) {
    let mut warm: HashSet<SnapshotId> = HashSet::new();
    loop {
        let Some(waiting) = live.upgrade().map(|live| live.waiting_snapshots()) else { return };
        warm.retain(|id| waiting.iter().any(|snapshot| snapshot.id == *id));
        for snapshot in waiting {
            if warm.insert(snapshot.id)
                && let Err(failure) = reader.statistics(&snapshot).await
            {
                tracing::warn!(%failure, "a release that waits cannot be read");
            }
        }
        tokio::time::sleep(INTERVAL).await;
    }
}
