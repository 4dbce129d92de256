//! Token buckets, one for each key that is asked with. A bucket is the time at which it is full
//! again (the generic cell rate algorithm), so that a token is taken or given back by moving that
//! time. Buckets that are full are forgotten.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, RandomState};
use std::num::NonZeroU32;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Parts of the table with a lock each, so that requests of different keys rarely meet.
const SHARDS: usize = 64;

/// Time at which each bucket that is not full will be.
type FullAt<K> = HashMap<K, Instant>;

/// The buckets.
pub(super) struct TokenBuckets<K> {
    shards: [Mutex<FullAt<K>>; SHARDS],
    hasher: RandomState,
    /// Time in which a bucket earns a token.
    per_token: Duration,
    /// Time in which an empty bucket fills.
    capacity: Duration,
}

impl<K: Hash + Eq + Clone> TokenBuckets<K> {
    /// Creates buckets of `size` tokens that earn `per_second`.
    pub(super) fn new(per_second: NonZeroU32, size: NonZeroU32) -> Self {
        let per_token = Duration::from_secs(1) / per_second.get();
        Self {
            shards: std::array::from_fn(|_| Mutex::default()),
            hasher: RandomState::new(),
            per_token,
            capacity: per_token * size.get(),
        }
    }

    /// Takes a token of the bucket of `key`. Returns the time until there is one when it is empty.
    pub(super) fn take(&self, key: &K) -> Option<Duration> {
        self.take_at(key, Instant::now())
    }

    /// Gives back a token to the bucket of `key`.
    pub(super) fn give_back(&self, key: &K) {
        self.give_back_at(key, Instant::now());
    }

    fn take_at(&self, key: &K, now: Instant) -> Option<Duration> {
        let mut shard = self.shard(key);
        let known = shard.get_mut(key);
        let begun = known.as_deref().map_or(now, |full_at| (*full_at).max(now));
        let full_at = begun + self.per_token;
        let wait = full_at.saturating_duration_since(now + self.capacity);
        if !wait.is_zero() {
            return Some(wait);
        }
        if let Some(known) = known {
            *known = full_at;
            return None;
        }
        // Before the table grows.
        if shard.len() == shard.capacity() {
            shard.retain(|_, full_at| *full_at > now);
        }
        shard.insert(key.clone(), full_at);
        None
    }

    fn give_back_at(&self, key: &K, now: Instant) {
        let mut shard = self.shard(key);
        if let Some(full_at) = shard.get_mut(key) {
            match full_at.checked_sub(self.per_token) {
                Some(earlier) if earlier > now => *full_at = earlier,
                _ => drop(shard.remove(key)),
            }
        }
    }

    /// Nothing under the lock can fail half-way.
    fn shard(&self, key: &K) -> MutexGuard<'_, FullAt<K>> {
        let shards = SHARDS as u64;
        let index = usize::try_from(self.hasher.hash_one(key) % shards).unwrap_or_default();
        self.shards[index].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn buckets(per_second: u32, size: u32) -> TokenBuckets<u32> {
        TokenBuckets::new(per_second.try_into().unwrap(), size.try_into().unwrap())
    }

    #[test]
    fn a_bucket_is_emptied_at_once_and_fills_at_its_rate_contract_5() {
        let (buckets, now) = (buckets(2, 3), Instant::now());
        assert_eq!([(); 3].map(|()| buckets.take_at(&1, now)), [None; 3]);
        assert_eq!(buckets.take_at(&1, now), Some(SECOND / 2), "the wait for the next token");
        assert_eq!(buckets.take_at(&2, now), None, "another key has its own bucket");
        let later = now + SECOND;
        assert_eq!([(); 2].map(|()| buckets.take_at(&1, later)), [None; 2]);
        assert_eq!(buckets.take_at(&1, later), Some(SECOND / 2));
        assert_eq!(
            [(); 4].map(|()| buckets.take_at(&1, now + 3_600 * SECOND).is_none()),
            [true, true, true, false],
            "a bucket holds no more than its size"
        );
    }

    #[test]
    fn a_token_that_is_given_back_is_taken_once_contract_5() {
        let (buckets, now) = (buckets(1, 3), Instant::now());
        for _ in 0..3 {
            buckets.take_at(&1, now);
        }
        (0..2).for_each(|_| buckets.give_back_at(&1, now));
        assert_eq!(
            [(); 3].map(|()| buckets.take_at(&1, now).is_none()),
            [true, true, false],
            "two were given back"
        );
        (0..9).for_each(|_| buckets.give_back_at(&1, now));
        buckets.give_back_at(&2, now);
        assert_eq!(
            [(); 4].map(|()| buckets.take_at(&1, now).is_none()),
            [true, true, true, false],
            "a bucket holds no more than its size"
        );
    }

    #[test]
    fn buckets_that_are_full_again_take_no_memory_contract_5() {
        let (buckets, now) = (buckets(1, 1), Instant::now());
        for key in 0..100_000 {
            assert_eq!(buckets.take_at(&key, now + SECOND * (key / 100)), None);
        }
        let held: usize = buckets.shards.iter().map(|shard| shard.lock().unwrap().capacity()).sum();
        assert!(held < 2_000, "{held}");
    }
}
