//! Caches with a bound, whose entries are loaded once for all who ask for them meanwhile.
//!
//! moka keeps the entries. It is compiled once, for keys and values without their types: compiled
//! anew for each of our fifteen caches it takes 6 MB of the program (decision 0442).

mod erased;
mod sync;

use std::hash::Hash;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;

use self::erased::{CacheKey, Erased, OwnedKey, erase, restore};
pub use self::sync::BlockingCache;

/// A cache for tasks. Clones share their entries.
#[derive(Debug)]
pub struct Cache<K, V> {
    entries: Entries,
    types: PhantomData<fn(K) -> V>,
}

/// Entries without their types.
#[derive(Clone, Debug)]
struct Entries(moka::future::Cache<OwnedKey, Erased>);

impl<K, V> Clone for Cache<K, V> {
    fn clone(&self) -> Self {
        Self { entries: self.entries.clone(), types: PhantomData }
    }
}

impl<K, V> Cache<K, V>
where
    K: Hash + Eq + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
{
    /// A cache of at most so many `entries`.
    #[must_use]
    pub fn new(entries: u64) -> Self {
        Self::of_moka(moka::future::Cache::builder().max_capacity(entries).build())
    }

    /// A cache of at most so many `entries`, each of which is gone after `ttl`.
    #[must_use]
    pub fn expiring(entries: u64, ttl: Duration) -> Self {
        let builder = moka::future::Cache::builder().max_capacity(entries);
        Self::of_moka(builder.time_to_live(ttl).build())
    }

    /// A cache of entries that `weigh` at most `capacity` together.
    #[must_use]
    pub fn weighted(capacity: u64, weigh: fn(&K, &V) -> u32) -> Self {
        let builder = moka::future::Cache::builder().max_capacity(capacity);
        Self::of_moka(builder.weigher(erased::weigher(weigh)).build())
    }

    /// [`Self::weighted`], where what was used last stays, and not what is used most: for entries
    /// that come and go together.
    #[must_use]
    pub fn weighted_by_recency(capacity: u64, weigh: fn(&K, &V) -> u32) -> Self {
        let builder = moka::future::Cache::builder().max_capacity(capacity);
        let builder = builder.eviction_policy(moka::policy::EvictionPolicy::lru());
        Self::of_moka(builder.weigher(erased::weigher(weigh)).build())
    }

    /// [`Self::weighted`], where each entry is gone after `ttl`.
    #[must_use]
    pub fn weighted_and_expiring(capacity: u64, weigh: fn(&K, &V) -> u32, ttl: Duration) -> Self {
        let builder = moka::future::Cache::builder().max_capacity(capacity);
        Self::of_moka(builder.weigher(erased::weigher(weigh)).time_to_live(ttl).build())
    }

    fn of_moka(entries: moka::future::Cache<OwnedKey, Erased>) -> Self {
        Self { entries: Entries(entries), types: PhantomData }
    }

    /// The value of `key`, if it is here.
    pub async fn get(&self, key: &K) -> Option<V> {
        self.entries.get(key).await.map(restore)
    }

    /// Returns whether a value is here; asking is no use of it.
    #[must_use]
    pub fn contains_key(&self, key: &K) -> bool {
        self.entries.contains_key(key)
    }

    /// Puts a value in the place of the one that is here.
    pub async fn insert(&self, key: K, value: V) {
        self.entries.insert(OwnedKey::new(key), erase(value)).await;
    }

    /// Takes a value out.
    pub async fn invalidate(&self, key: &K) {
        self.entries.invalidate(key).await;
    }

    /// The value of `key`: what `load` returns where it is not here, once for all that ask
    /// meanwhile.
    ///
    /// # Errors
    /// The error of `load`, shared by all who waited for it. It is not kept.
    pub async fn try_get_with<E: Send + Sync + 'static>(
        &self,
        key: K,
        load: impl Future<Output = Result<V, E>> + Send,
    ) -> Result<V, Arc<E>> {
        // Most calls end here, without an allocation.
        if let Some(value) = self.get(&key).await {
            return Ok(value);
        }
        let load = load.map(|loaded| match loaded {
            Ok(value) => Ok(erase(value)),
            Err(error) => Err(erase(Arc::new(error))),
        });
        let loaded = self.entries.try_get_with(OwnedKey::new(key), load.boxed()).await;
        loaded.map(restore).map_err(restore)
    }

    /// Weight of all entries; a moment late.
    #[must_use]
    pub fn weight(&self) -> u64 {
        self.entries.0.weighted_size()
    }

    /// Waits until what does not fit is gone.
    pub async fn settle(&self) {
        self.entries.0.run_pending_tasks().await;
    }
}

/// Functions without parameters of type: they are compiled here, and so are futures that are boxed.
/// Others are compiled by each crate that awaits them; a hit is worth it.
impl Entries {
    async fn get(&self, key: &dyn CacheKey) -> Option<Erased> {
        self.0.get(key).await
    }

    fn contains_key(&self, key: &dyn CacheKey) -> bool {
        self.0.contains_key(key)
    }

    fn insert(&self, key: OwnedKey, value: Erased) -> BoxFuture<'_, ()> {
        self.0.insert(key, value).boxed()
    }

    fn invalidate<'a>(&'a self, key: &'a dyn CacheKey) -> BoxFuture<'a, ()> {
        self.0.invalidate(key).boxed()
    }

    fn try_get_with<'a>(
        &'a self,
        key: OwnedKey,
        load: BoxFuture<'a, Result<Erased, Erased>>,
    ) -> BoxFuture<'a, Result<Erased, Erased>> {
        let loaded = self.0.try_get_with(key, load);
        loaded.map(|loaded| loaded.map_err(|shared| Erased::clone(&shared))).boxed()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[tokio::test]
    async fn a_value_is_loaded_once_for_all_who_wait_and_an_error_is_not_kept() {
        let cache = Cache::<(String, u8), Arc<str>>::new(8);
        let loads = AtomicUsize::new(0);
        let load = async |value: Result<&'static str, &'static str>| {
            cache
                .try_get_with(("a".to_owned(), 1), async {
                    loads.fetch_add(1, Ordering::Relaxed);
                    tokio::task::yield_now().await;
                    value.map(Arc::from).map_err(str::to_owned)
                })
                .await
        };
        let (first, second) = tokio::join!(load(Err("gone")), load(Ok("late")));
        assert_eq!(first, Err(Arc::new("gone".to_owned())));
        assert_eq!(second, first, "who waited shares the error");
        let (first, second) = tokio::join!(load(Ok("here")), load(Err("gone")));
        assert_eq!((first, second), (Ok(Arc::from("here")), Ok(Arc::from("here"))));
        assert_eq!(loads.into_inner(), 2);
        assert_eq!(cache.get(&("a".to_owned(), 2)).await, None);
        cache.invalidate(&("a".to_owned(), 1)).await;
        assert_eq!(cache.get(&("a".to_owned(), 1)).await, None);
    }

    #[tokio::test]
    async fn entries_beyond_the_weight_go() {
        let cache = Cache::weighted(100, |_: &u32, weight: &u32| *weight);
        for key in 0..50 {
            cache.insert(key, 10).await;
        }
        cache.settle().await;
        assert_eq!(cache.weight(), 100);
        assert_eq!(cache.get(&0).await, Some(10));
    }

    #[tokio::test]
    async fn what_was_used_last_stays_by_recency() {
        let cache = Cache::weighted_by_recency(20, |_: &u32, weight: &u32| *weight);
        cache.insert(0, 10).await;
        for _ in 0..100 {
            assert_eq!(cache.get(&0).await, Some(10));
        }
        for key in 1..3 {
            cache.insert(key, 10).await;
            cache.settle().await;
        }
        assert_eq!((cache.get(&0).await, cache.get(&2).await), (None, Some(10)));
    }

    #[tokio::test]
    async fn entries_end_with_their_time() {
        let brief = Cache::expiring(8, Duration::from_millis(1));
        brief.insert(1, ()).await;
        std::thread::sleep(Duration::from_millis(5));
        assert_eq!(brief.get(&1).await, None);
    }
}
