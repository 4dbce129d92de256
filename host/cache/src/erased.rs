//! Keys and values without their types. A cache is made for one type of each, so what comes out of
//! it has the type that went in.

use std::any::Any;
use std::borrow::Borrow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// A value.
pub(crate) type Erased = Arc<dyn Any + Send + Sync>;

/// A key that is looked for.
pub(crate) trait CacheKey: Any + Send + Sync {
    fn hash_into(&self, state: &mut dyn Hasher);
    fn equals(&self, other: &dyn CacheKey) -> bool;
}

impl<K: Hash + Eq + Send + Sync + 'static> CacheKey for K {
    fn hash_into(&self, mut state: &mut dyn Hasher) {
        self.hash(&mut state);
    }

    fn equals(&self, other: &dyn CacheKey) -> bool {
        (other as &dyn Any).downcast_ref::<K>().is_some_and(|other| self == other)
    }
}

impl Hash for dyn CacheKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.hash_into(state);
    }
}

impl PartialEq for dyn CacheKey {
    fn eq(&self, other: &Self) -> bool {
        self.equals(other)
    }
}

impl Eq for dyn CacheKey {}

/// A key that is kept.
#[derive(Eq)]
pub(crate) struct OwnedKey(Box<dyn CacheKey>);

// Derived, they would move the key.
impl PartialEq for OwnedKey {
    fn eq(&self, other: &Self) -> bool {
        *self.0 == *other.0
    }
}

impl Hash for OwnedKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl OwnedKey {
    pub(crate) fn new(key: impl CacheKey) -> Self {
        Self(Box::new(key))
    }
}

impl Borrow<dyn CacheKey> for OwnedKey {
    fn borrow(&self) -> &dyn CacheKey {
        &*self.0
    }
}

impl fmt::Debug for OwnedKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("key")
    }
}

pub(crate) fn erase<V: Send + Sync + 'static>(value: V) -> Erased {
    Arc::new(value)
}

pub(crate) fn restore<V: Clone + 'static>(value: Erased) -> V {
    match value.downcast_ref::<V>() {
        Some(value) => value.clone(),
        None => unreachable!("a cache is made for one type of values"),
    }
}

/// Weighs entries as `weigh` does.
pub(crate) fn weigher<K: 'static, V: 'static>(
    weigh: fn(&K, &V) -> u32,
) -> impl Fn(&OwnedKey, &Erased) -> u32 + Send + Sync + 'static {
    move |key, value| match ((&*key.0 as &dyn Any).downcast_ref::<K>(), value.downcast_ref::<V>()) {
        (Some(key), Some(value)) => weigh(key, value),
        _ => unreachable!("a cache is made for one type of keys and values"),
    }
}
