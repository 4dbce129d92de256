//! The cache for threads that may wait.

use std::convert::Infallible;
use std::hash::Hash;
use std::marker::PhantomData;
use std::sync::Arc;

use super::erased::{CacheKey, Erased, OwnedKey, erase, restore, weigher};

/// A cache for threads.
#[derive(Debug)]
pub struct BlockingCache<K, V> {
    entries: Entries,
    types: PhantomData<fn(K) -> V>,
}

/// Entries without their types.
#[derive(Debug)]
struct Entries(moka::sync::Cache<OwnedKey, Erased>);

impl<K, V> BlockingCache<K, V>
where
    K: Hash + Eq + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
{
    /// A cache of entries that `weigh` at most `capacity` together.
    #[must_use]
    pub fn weighted(capacity: u64, weigh: fn(&K, &V) -> u32) -> Self {
        let builder = moka::sync::Cache::builder().max_capacity(capacity);
        let entries = Entries(builder.weigher(weigher(weigh)).build());
        Self { entries, types: PhantomData }
    }

    /// [`Self::weighted`], where what was used last stays, and not what is used most.
    #[must_use]
    pub fn weighted_by_recency(capacity: u64, weigh: fn(&K, &V) -> u32) -> Self {
        let builder = moka::sync::Cache::builder().max_capacity(capacity);
        let builder = builder.eviction_policy(moka::policy::EvictionPolicy::lru());
        let entries = Entries(builder.weigher(weigher(weigh)).build());
        Self { entries, types: PhantomData }
    }

    /// The value of `key`, if it is here.
    #[must_use]
    pub fn get(&self, key: &K) -> Option<V> {
        self.entries.get(key).map(restore)
    }

    /// Puts a value in the place of the one that is here.
    pub fn insert(&self, key: K, value: V) {
        self.entries.insert(OwnedKey::new(key), erase(value));
    }

    /// The value of `key`: what `load` returns where it is not here, once for all that ask
    /// meanwhile.
    ///
    /// # Errors
    /// The error of `load`, shared by all who waited for it. It is not kept.
    pub fn try_get_with<E: Send + Sync + 'static>(
        &self,
        key: K,
        load: impl FnOnce() -> Result<V, E>,
    ) -> Result<V, Arc<E>> {
        if let Some(value) = self.get(&key) {
            return Ok(value);
        }
        let mut load = Some(load);
        let loaded = self.entries.try_get_with(OwnedKey::new(key), &mut || match load.take() {
            Some(load) => load().map(erase).map_err(|error| erase(Arc::new(error))),
            None => unreachable!("a value is loaded once"),
        });
        loaded.map(restore).map_err(restore)
    }

    /// [`Self::try_get_with`], where `make` always has a value.
    pub fn get_with(&self, key: K, make: impl FnOnce() -> V) -> V {
        match self.try_get_with(key, || Ok::<_, Infallible>(make())) {
            Ok(value) => value,
            Err(never) => match *never {},
        }
    }

    /// Waits until what does not fit is gone.
    pub fn settle(&self) {
        self.entries.0.run_pending_tasks();
    }

    /// Weight of all entries; a moment late.
    #[must_use]
    pub fn weight(&self) -> u64 {
        self.entries.0.weighted_size()
    }
}

/// Functions without parameters of type: they are compiled here.
impl Entries {
    fn get(&self, key: &dyn CacheKey) -> Option<Erased> {
        self.0.get(key)
    }

    fn insert(&self, key: OwnedKey, value: Erased) {
        self.0.insert(key, value);
    }

    fn try_get_with(
        &self,
        key: OwnedKey,
        load: &mut dyn FnMut() -> Result<Erased, Erased>,
    ) -> Result<Erased, Erased> {
        self.0.try_get_with(key, load).map_err(|shared| Erased::clone(&shared))
    }
}
