//! A cache that holds for one revision of the catalog. When the revision moves, a new and empty
//! cache takes its place; an answer that was being fetched meanwhile lands in the old one, which is
//! not read any more. So nothing stale outlives the revision that it was read under.

use std::sync::Arc;

use arc_swap::ArcSwap;
use yearbook_cache::Cache;

/// The cache of the present revision.
pub(crate) struct RevisionedCache<K, V> {
    present: ArcSwap<RevisionEntry<K, V>>,
    make: fn() -> Cache<K, V>,
}

struct RevisionEntry<K, V> {
    revision: i64,
    /// A clone of a cache itself counts its every part, which all cores would do in the same place.
    cache: Arc<Cache<K, V>>,
}

impl<K, V> RevisionedCache<K, V> {
    /// Creates caches with `make`, which gives them their bound.
    pub(crate) fn new(revision: i64, make: fn() -> Cache<K, V>) -> Self {
        let cache = Arc::new(make());
        Self { present: ArcSwap::from_pointee(RevisionEntry { revision, cache }), make }
    }

    /// Returns the cache to use under `revision`. Call it before the database is read: what is read
    /// afterwards is at least as new as the cache that it goes into.
    pub(crate) fn for_revision(&self, revision: i64) -> Arc<Cache<K, V>> {
        let present = self.present.load();
        if present.revision == revision {
            return Arc::clone(&present.cache);
        }
        let cache = Arc::new((self.make)());
        self.present.store(Arc::new(RevisionEntry { revision, cache: Arc::clone(&cache) }));
        cache
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_was_read_under_one_revision_is_not_seen_under_the_next() {
        let generations = RevisionedCache::new(1, || Cache::new(8));
        let first = generations.for_revision(1);
        first.insert("key", "old").await;
        assert_eq!(generations.for_revision(1).get(&"key").await, Some("old"));
        assert_eq!(generations.for_revision(2).get(&"key").await, None);
        // A reader that was slow writes into the generation it began with.
        first.insert("key", "slow").await;
        assert_eq!(generations.for_revision(2).get(&"key").await, None);
    }
}
